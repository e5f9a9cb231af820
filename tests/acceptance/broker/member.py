"""A group member in its own process, which a test can kill. It prints each value, then commits."""

import asyncio
import sys

from tests.acceptance.broker.clients import consuming


async def main(bootstrap: str, topic: str, group: str) -> None:
    """Reads until the process is killed."""
    async with consuming(
        bootstrap, topic, group_id=group, session_timeout_ms=6000, heartbeat_interval_ms=500
    ) as member:
        async for record in member:
            sys.stdout.write((record.value or b"").decode() + "\n")
            sys.stdout.flush()
            await member.commit()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
