"""Commands that run SmartBrain: up (everything on this machine), serve (one service), migrate."""

import asyncio
import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from services.cli import data_folder
from services.cli.output import AsJson, emit, out
from services.cli.supervisor import Supervisor
from shared import settings
from shared.errors import ConfigurationError
from shared.telemetry import configure_logs

NO_KEY = "No key is needed until `smartbrain keys create` creates one; before that, only this machine has access."


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
    mcp = "mcp"
    console = "console"


def up(
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="HTTP port of compose; 0 picks a free one.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", file_okay=False, help="Data folder of the embedded PostgreSQL and broker.")
    ] = None,
) -> None:
    """Run everything on this machine until Ctrl-C: embedded PostgreSQL and broker unless others are set."""
    found = settings.load()
    chosen = found.model_copy(update={k: v for k, v in {"http_port": port, "data": data}.items() if v is not None})
    configure_logs(chosen.log_level, human=True)
    with Supervisor(chosen) as machine:
        running = machine.start(say=lambda line: out.print(line, markup=False))
        out.print(f"SmartBrain is up. Look at it in a browser: {running.services['console']}", markup=False)
        out.print(
            f"HTTP for programs: {running.http}  (API: {running.http}/docs, Kafka: {running.kafka})", markup=False
        )
        out.print(f"Agents reach it over MCP: {running.services['mcp']}/mcp, or `smartbrain mcp`", markup=False)
        if not machine.needs_key:
            out.print(NO_KEY, markup=False)
        out.print("Ctrl-C stops it.", markup=False)
        machine.watch()
        out.print("stopping ...", markup=False)


def serve(
    names: Annotated[list[Name], typer.Argument(metavar="name...", help="The services to run in this process.")],
    from_stdin: Annotated[
        bool, typer.Option("--told", hidden=True, help="Read the addresses from standard input.")
    ] = False,
) -> None:
    """Run one service, or several together, in this process until SIGTERM."""
    chosen = [*dict.fromkeys(name.value for name in names)]
    if not set(chosen).isdisjoint(settings.FRONTS):
        _serve_front(chosen, from_stdin=from_stdin)
        return
    from services.cli import served  # a process loads the code of its own services, and what serves it

    builds = served.load_builders(chosen)
    if from_stdin and not _hear_addresses():
        return
    config = settings.load()
    configure_logs(config.log_level)
    served.run(builds, config)


def _serve_front(chosen: list[str], *, from_stdin: bool) -> None:
    from services.cli import fronts

    if len(chosen) > 1:
        raise ConfigurationError(f"{chosen[0]} has its own port: serve it in its own process")
    fronts.load(chosen[0])
    if from_stdin and not _hear_addresses():
        return
    config = settings.load()
    configure_logs(config.log_level)
    fronts.run(chosen[0], config)


def _hear_addresses() -> bool:
    """Whether the parent process has sent the addresses; False if it has ended."""
    line = sys.stdin.readline()
    if line:
        os.environ.update(json.loads(line))
    return bool(line)


def migrate(
    post: Annotated[
        bool,
        typer.Option(
            "--post", help="Also apply scripts that older versions do not tolerate; stop older processes first."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the database's schema and Kafka's topics up to date."""
    config = data_folder.complete(settings.load())
    configure_logs(config.log_level)
    if config.database_url is None:
        raise ConfigurationError(
            "SMARTBRAIN_DATABASE_URL is not set and no SmartBrain runs here; `smartbrain up` migrates by itself"
        )
    dsn = config.database_url.get_secret_value()
    applied, waiting = asyncio.run(_migrate(dsn, post=post))
    created = asyncio.run(_topics(config, dsn)) if config.kafka_bootstrap else []
    if as_json:
        emit({"applied": applied, "waiting": waiting, "topics": created})
        return
    out.print(f"migrations applied: {', '.join(applied) or 'none, up to date'}", markup=False)
    if waiting:
        out.print(f"{', '.join(waiting)}: `smartbrain migrate --post` once no older process is left", markup=False)
    out.print(f"topics created: {len(created)}", markup=False)


async def _migrate(dsn: str, *, post: bool) -> tuple[list[str], list[str]]:
    """The scripts that were applied, and those that wait."""
    from shared.store import schema

    applied = await schema.migrate(dsn, wanted=schema.every if post else schema.before_start)
    return applied, await schema.list_waiting(dsn)


async def _topics(config: settings.Settings, dsn: str) -> list[str]:
    """The names of the topics that had to be made."""
    from services.cli.broker_topics import make_topics, note_topics

    made = await make_topics(config, "migrate")
    await note_topics(dsn, made)
    return made
