"""Runs Apache Kafka for one command: `python -m tests.kafka.apache_kafka run -- pytest tests/acceptance`.

Fetches the server's jars from Maven Central once (pom.xml names the version), starts a single KRaft broker on a free
port in a temporary folder, sets SMARTBRAIN_KAFKA_BOOTSTRAP, runs the command, stops the broker and exits with the
command's exit code. Requires `java` 17 or newer and, for the first run, `mvn`. The jars are kept in
SMARTBRAIN_KAFKA_CACHE, by default ~/.cache/smartbrain/kafka-<version>. Besides the plain listener the broker has those
of `tests.kafka.secure`; SMARTBRAIN_TEST_KAFKA_SECURE names the file that describes them.
"""

import argparse
import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from shared.embedded.process import Child, spawn
from tests.kafka import secure

POM = Path(__file__).with_name("pom.xml")
START_SECONDS = 240.0
MEMORY = ["-Xmx512m", "-Xms128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
QUIET = ["-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dkafka.logs.dir=."]
PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},SASL://{sasl},MUTUAL://{mutual},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker},SASL://{sasl},MUTUAL://{mutual}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL:SASL_SSL,MUTUAL:SSL,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs={logs}
auto.create.topics.enable=true
num.partitions=1
group.initial.rebalance.delay.ms=0
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.cleaner.dedupe.buffer.size=2097152
"""


class ApacheKafkaError(RuntimeError):
    """Apache Kafka is unavailable or cannot start; the message gives the reason."""


def main() -> int:
    """The command's exit code, or 2 with a message if Apache Kafka could not start."""
    command = _parser().parse_args().command
    command = command[1:] if command[:1] == ["--"] else command
    if not command:
        sys.stderr.write("nothing to run: give a command after --\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with run_kafka() as (bootstrap, doors):
            told = {"SMARTBRAIN_KAFKA_BOOTSTRAP": bootstrap, secure.VARIABLE: f"{doors.folder}/doors.json"}
            return subprocess.run(command, env={**os.environ, **told}).returncode
    except ApacheKafkaError as error:
        sys.stderr.write(f"Apache Kafka: {error}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.kafka.apache_kafka", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    run = actions.add_parser("run", help="run a command beside a broker")
    run.add_argument("command", nargs=argparse.REMAINDER)
    return parser


@contextmanager
def run_kafka() -> Generator[tuple[str, secure.Doors]]:
    """host:port of a new broker and its secured listeners; stopped and deleted at the end."""
    jars = fetched_jars()
    with tempfile.TemporaryDirectory(prefix="smartbrain-kafka-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        ports = free_ports(4)
        doors = secure.make_doors(home, ports[2], ports[3])
        config = home / "server.properties"
        config.write_text(
            PROPERTIES.format(
                broker=ports[0], controller=ports[1], sasl=doors.sasl, mutual=doors.mutual, logs=home / "logs"
            )
            + secure.properties_of(doors)
        )
        java = [tool("java"), *MEMORY, *QUIET, "-cp", f"{jars}/*"]
        _format(java, config, secure.list_scram(doors))
        with (home / "broker.log").open("ab") as log:
            env = dict(os.environ)
            broker = spawn([*java, "kafka.Kafka", config], death_signal=signal.SIGKILL, env=env, log=log, cwd=home)
        try:
            _await_answer(broker, f"127.0.0.1:{ports[0]}", home / "broker.log")
            yield f"127.0.0.1:{ports[0]}", doors
        finally:
            _stop(broker)


def fetched_jars() -> Path:
    """The folder of Apache Kafka's jars, fetched by Maven the first time."""
    version, jars = _read_version()
    if _complete(jars, version):
        return jars
    jars.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jars.parent, prefix="fetch-", ignore_cleanup_errors=True) as folder:
        fresh = Path(folder) / "jars"
        command = [
            tool("mvn"),
            "-q",
            "-B",
            "-f",
            str(POM),
            "dependency:copy-dependencies",
            f"-DoutputDirectory={fresh}",
        ]
        result = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        if result.returncode or not _complete(fresh, version):
            raise ApacheKafkaError(
                f"Maven could not fetch version {version}:\n{(result.stdout + result.stderr)[-2000:]}"
            )
        shutil.rmtree(jars, ignore_errors=True)
        fresh.rename(jars)
    return jars


def jars_at_hand() -> Path | None:
    """The folder of the jars, if they have been fetched before."""
    version, jars = _read_version()
    return jars if _complete(jars, version) else None


def _read_version() -> tuple[str, Path]:
    match = re.search(r"<kafka.version>(.+)</kafka.version>", POM.read_text())
    version = match.group(1) if match else "unknown"
    cache = os.environ.get("SMARTBRAIN_KAFKA_CACHE")
    return version, Path(cache) if cache else Path.home() / ".cache" / "smartbrain" / f"kafka-{version}"


def _complete(jars: Path, version: str) -> bool:
    return all((jars / f"{name}-{version}.jar").exists() for name in ("kafka_2.13", "kafka-tools"))


def tool(name: str) -> str:
    """The path of a program on this machine; raises ApacheKafkaError if it is missing."""
    path = shutil.which(name)
    if path is None:
        raise ApacheKafkaError(f"{name} is not installed (Debian: openjdk-17-jre-headless, maven)")
    return path


def free_ports(count: int) -> list[int]:
    """Different free TCP ports."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(probe.getsockname()[1]) for probe in sockets]
    for probe in sockets:
        probe.close()
    return ports


def _format(java: list[str], config: Path, users: list[str]) -> None:
    cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    command = [*java, "kafka.tools.StorageTool", "format", "--cluster-id", f"x{cluster[1:]}", "--config", str(config)]
    command += users
    result = subprocess.run(command, capture_output=True, text=True, cwd=config.parent)
    if result.returncode:
        raise ApacheKafkaError(f"formatting its storage failed:\n{(result.stdout + result.stderr)[-2000:]}")


def _await_answer(broker: Child, bootstrap: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and broker.poll() is None:
        if asyncio.run(_answers(bootstrap)):
            return
        time.sleep(0.2)
    raise ApacheKafkaError(f"no answer from {bootstrap}:\n{log.read_text(errors='replace')[-3000:]}")


async def _answers(bootstrap: str) -> bool:
    host, _, port = bootstrap.partition(":")
    with socket.socket() as probe:
        if probe.connect_ex((host, int(port))):
            return False
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap, request_timeout_ms=5000)
    try:
        await admin.start()
        await admin.list_topics()
    except (KafkaError, OSError, TimeoutError):
        return False
    finally:
        await admin.close()
    return True


def _stop(broker: Child) -> None:
    broker.terminate()
    try:
        broker.wait(20)
    except subprocess.TimeoutExpired:
        broker.kill()
        broker.wait()


if __name__ == "__main__":
    sys.exit(main())
