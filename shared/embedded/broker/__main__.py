"""`python -m shared.embedded.broker --dir D --address-file F`: one broker as a process, until SIGTERM."""

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path

import uvloop

from shared.embedded.broker import Broker, BrokerError, BrokerSettings
from shared.embedded.broker.files import replace_file


def main() -> int:
    """The exit code: 0 after SIGTERM or SIGINT, 1 with a message if the broker could not start."""
    arguments = _parser().parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    settings = BrokerSettings(
        directory=arguments.dir.absolute(), port=arguments.port, auto_create_topics=not arguments.no_auto_create
    )
    try:
        uvloop.run(_serve(settings, arguments.address_file))
    except BrokerError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m shared.embedded.broker", description=__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="folder of the data")
    parser.add_argument("--address-file", type=Path, help="gets host:port once clients are served")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--no-auto-create", action="store_true", help="unknown topics stay unknown")
    return parser


async def _serve(settings: BrokerSettings, address_file: Path | None) -> None:
    asked_to_stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, asked_to_stop.set)
    broker = Broker(settings)
    await broker.start()
    if address_file is not None:
        replace_file(address_file, broker.bootstrap.encode())
    await asked_to_stop.wait()
    await broker.stop()


if __name__ == "__main__":
    sys.exit(main())
