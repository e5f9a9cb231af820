"""Commands that run SmartBrain: up (everything on this machine), serve (one service), migrate."""

import asyncio
import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from services.cli import place
from services.cli.output import AsJson, emit, out
from services.cli.supervisor import Supervisor
from shared import runtime, service, settings
from shared.errors import ConfigurationError
from shared.settings import Settings
from shared.store import schema
from shared.telemetry import configure_logs

WITH_MODELS = frozenset({"compose", "observer", "analyzer", "evolver"})


class Name(StrEnum):
    """The services."""

    compose = "compose"
    relay = "relay"
    observer = "observer"
    analyzer = "analyzer"
    evolver = "evolver"
    librarian = "librarian"
    erasure = "erasure"
    governor = "governor"


def up(
    port: Annotated[int | None, typer.Option("--port", help="HTTP port of compose; 0 picks a free one.")] = None,
    data: Annotated[Path | None, typer.Option("--data", help="Folder of the embedded defaults.")] = None,
) -> None:
    """Run everything on this machine until Ctrl-C: embedded PostgreSQL and broker unless others are set."""
    found = settings.load()
    chosen = found.model_copy(update={k: v for k, v in {"http_port": port, "data": data}.items() if v is not None})
    configure_logs(chosen.log_level, human=True)
    with Supervisor(chosen) as machine:
        running = machine.start(say=lambda line: out.print(line, markup=False))
        out.print(f"SmartBrain is up: {running.http}  (API: {running.http}/docs, Kafka: {running.kafka})", markup=False)
        out.print("Ctrl-C stops it.", markup=False)
        machine.watch()
        out.print("stopping ...", markup=False)


def serve(name: Annotated[Name, typer.Argument(help="Which service.")]) -> None:
    """Run one service in this process until SIGTERM."""
    found = settings.load()
    configure_logs(found.log_level)
    uvloop.run(_serve(name.value, found))


async def _serve(name: str, found: Settings) -> None:
    pool = 16 if name == "compose" else 6
    async with runtime.open_runtime(found, name, pool=pool, models=name in WITH_MODELS) as rt:
        host = found.http_host
        port = found.http_port if name == "compose" else found.metrics_port
        await service.serve(_build(name, rt), host=host, port=port, announce=_announce)


def _build(name: str, rt: runtime.Runtime) -> service.Service:
    # each process loads the code of its own service alone
    match name:
        case "compose":
            from services.compose.app import build
        case "relay":
            from services.relay.app import build
        case "observer":
            from services.observer.app import build
        case "analyzer":
            from services.analyzer.app import build
        case "evolver":
            from services.evolver.app import build
        case "librarian":
            from services.librarian.app import build
        case "erasure":
            from services.erasure.app import build
        case "governor":
            from services.governor.app import build
        case _:
            raise ConfigurationError(f"no such service: {name}")
    return build(rt)


def _announce(port: int) -> None:
    where = os.environ.get("SMARTBRAIN_PORT_FILE")
    if where:
        temporary = Path(f"{where}.new")
        temporary.write_text(str(port))
        temporary.replace(where)


def migrate(as_json: AsJson = False) -> None:
    """Bring the database's schema and Kafka's topics up to date."""
    found = settings.load()
    configure_logs(found.log_level)
    running = place.find(found.data)
    dsn = found.database_url.get_secret_value() if found.database_url else running.database if running else None
    bootstrap = found.kafka_bootstrap or (running.kafka if running else None)
    if dsn is None:
        raise ConfigurationError(
            "SMARTBRAIN_DATABASE_URL is not set and nothing runs here; `smartbrain up` migrates itself"
        )
    applied = asyncio.run(schema.migrate(dsn))
    created = asyncio.run(_topics(bootstrap)) if bootstrap else []
    if as_json:
        emit({"applied": applied, "topics": created})
    else:
        out.print(f"migrations applied: {', '.join(applied) or 'none, up to date'}", markup=False)
        out.print(f"topics created: {len(created)}", markup=False)


async def _topics(bootstrap: str) -> list[str]:
    from shared.bus.topics import ensure_topics

    return await ensure_topics(bootstrap)
