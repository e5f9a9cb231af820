"""`smartbrain backup` and `smartbrain restore` as an operator calls them."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from services.cli.backup import dump
from services.cli.backup.restore import RestoreReport, RestoreRequest
from services.cli.backup.restore import restore as bring_back
from services.cli.names import By, Why
from services.cli.output import AsJson, emit, fail, out, refuse
from services.cli.progress import show_progress
from services.cli.reach import find_operator, reach_servers
from shared import settings
from shared.telemetry import configure_logs

SHOWN = ("turns", "conversation_events", "memory_items", "sessions")
LEFT = 20
"""Maximum of uncompleted erasures that are listed."""


def backup(
    file: Annotated[
        Path, typer.Argument(dir_okay=False, help="File to write; it is replaced completely or not at all.")
    ],
    erasures_only: Annotated[
        bool, typer.Option("--erasures-only", help="Write only the erasures, one per line, for `restore --erasures`.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a consistent copy of the whole database to a file while everything runs."""
    config = settings.load()
    configure_logs("warning")
    path = file.absolute()
    if not path.parent.is_dir():
        raise refuse(f"{path.parent}: no such folder")
    with reach_servers(config, broker=False) as (dsn, _), show_progress("backing up", quiet=as_json) as say:
        if erasures_only:
            report: dict[str, Any] = {"file": str(path), "erasures": asyncio.run(dump.export(dsn, path))}
        else:
            report = asyncio.run(dump.backup(dsn, path, say))
    if as_json:
        emit(report)
    elif erasures_only:
        out.print(f"{path}: {report['erasures']} erasures", markup=False)
    else:
        rows, erasures = report["rows"], report["erasures"]
        held = ", ".join(f"{rows[name]} {name.replace('_', ' ')}" for name in SHOWN)
        out.print(f"{path}: {report['bytes']} bytes in {report['took_s']:.1f} s", markup=False)
        out.print(f"  {report['users']} users, {held}", markup=False)
        out.print(f"  {erasures['asked']} erasures, {erasures['completed']} of them completed", markup=False)


def restore(
    file: Annotated[
        Path | None, typer.Argument(exists=True, dir_okay=False, help="A file from `smartbrain backup`.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the database even if it has rows.")] = False,
    erasures: Annotated[
        Path | None,
        typer.Option(
            "--erasures",
            exists=True,
            dir_okay=False,
            help="Exported erasures, in addition to those of database and topic.",
        ),
    ] = None,
    without_ledger: Annotated[
        bool, typer.Option("--without-ledger", help="Restore even if erasures after the backup are unknown.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted restore.")] = False,
    reason: Why = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Replace the database by a backup; nothing is served until every later erasure has been repeated in it."""
    if (file is None) != resume:
        raise typer.BadParameter("name a file, or continue with --resume")
    config = settings.load()
    configure_logs("warning")
    path, operator = file.absolute() if file else None, find_operator(by, reason)
    request = RestoreRequest(path, erasures, replace, without_ledger, resume, operator)
    with reach_servers(config, broker=True) as (dsn, bootstrap), show_progress("restoring", quiet=as_json) as say:
        report = asyncio.run(bring_back(config, dsn, bootstrap, request, say))
    if as_json:
        emit(
            {
                "file": report.file,
                "sources": report.sources,
                "replayed": report.replayed,
                "rows_erased": report.rows_erased,
                "migrations": report.applied,
                "took_s": round(report.took_s, 3),
                "serving": report.serving,
                "left": [dict(each) for each in report.left],
            }
        )
    else:
        _show(report)
    if not report.serving:
        fail(f"{len(report.left)} erasures are not completed: the database stays closed; fix the cause, then --resume")
        raise typer.Exit(1)


def _show(report: RestoreReport) -> None:
    told = ", ".join(f"{count} from {name}" for name, count in report.sources.items()) or "none known"
    out.print(f"{report.file}: restored in {report.took_s:.1f} s", markup=False)
    out.print(f"  erasures: {told}; {report.replayed} replayed, {report.rows_erased} rows", markup=False)
    if "topic" not in report.sources:
        out.print("  the topic of erasures was not read: erasures that only it lists are not replayed", markup=False)
    for each in report.left[:LEFT]:
        line = f"  {each['tenant_id']} {each['user_id']} {each['tombstone_id']}: {each['status']} {each['error'] or ''}"
        out.print(line, markup=False)
    if report.serving:
        out.print("  the database is open", markup=False)
