"""`smartbrain rebuild`: derives a user's memories again from the log and compares them with the live ones."""

import asyncio
from typing import Annotated, Any

import orjson
import typer
from rich.table import Table
from rich.text import Text

from services.cli import data_folder
from services.cli.names import By, Tenant, Why, check_id
from services.cli.output import AsJson, emit, out
from services.cli.progress import show_progress
from services.cli.reach import find_operator
from services.cli.rebuild.run import RebuildReport
from services.cli.rebuild.run import rebuild as derive
from shared import settings
from shared.domain.subjects import Subject
from shared.policy import Policy
from shared.policy_file import load_policy
from shared.settings import Settings
from shared.store.operator_acts import Operator
from shared.telemetry import configure_logs

SHOWN = 60
CELL = 48


def rebuild(
    user: Annotated[str, typer.Option("--user", "-u", help="Whose memories.", callback=check_id)],
    tenant: Tenant = "default",
    verify: Annotated[bool, typer.Option("--verify", help="Exit with 1 if anything differs.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Replace the live memories by the derived ones.")] = False,
    reason: Why = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Derive all memories of a user again from the log, without calling a model, and show differences to the live
    ones."""
    config = settings.load()
    configure_logs("warning")
    policy = load_policy(config.policy)
    dsn = data_folder.database(config)
    subject = Subject(tenant, user)
    operator = find_operator(by, reason)
    report = asyncio.run(rebuild_with_bar(dsn, config, policy, subject, operator, apply=apply, quiet=as_json))
    if as_json:
        emit(to_json(report))
    else:
        _show(report, policy)
    if verify and report.differences and not report.applied:
        raise typer.Exit(1)


async def rebuild_with_bar(
    dsn: str, config: Settings, policy: Policy, subject: Subject, by: Operator, *, apply: bool, quiet: bool
) -> RebuildReport:
    """As `run.rebuild`, with a bar on standard error."""
    with show_progress("rebuilding", quiet=quiet) as say:
        return await derive(dsn, config, policy, subject, apply=apply, say=say, by=by)


def to_json(report: RebuildReport) -> dict[str, Any]:
    figures = {name: value for name, value in vars(report).items() if name != "differences"}
    rows = [
        {"memory_id": each.memory_id, "field": each.field, "live": each.live, "rebuilt": each.rebuilt}
        for each in report.differences
    ]
    return {**figures, "took_s": round(report.took_s, 3), "differences": rows}


def _show(report: RebuildReport, policy: Policy) -> None:
    if report.differences:
        out.print(_table(report))
    if len(report.differences) > SHOWN:
        out.print(f"  {len(report.differences) - SHOWN} more with --json", markup=False)
    for line in notes(report, policy.version):
        out.print(Text(f"  {line}", "yellow"))
    verdict = "no difference" if not report.differences else f"{len(report.differences)} differences"
    verdict += f" in {len({each.memory_id for each in report.differences})} memories" if report.differences else ""
    done = "; the live memories were replaced" if report.applied else ""
    pace = report.turns / max(report.took_s, 0.001)
    out.print(
        f"{report.turns} turns, {report.observations} observations and {report.upkeep} rounds of upkeep made"
        f" {report.memories} memories in {report.took_s:.1f} s ({pace:.0f} turns/s): {verdict}{done}",
        markup=False,
    )


def notes(report: RebuildReport, version: str) -> list[str]:
    """What a reader must know beside the verdict."""
    lines: list[str] = []
    if report.open_turns:
        lines.append(f"{report.open_turns} turns are still open and were left out")
    if report.lost_turns:
        lines.append(f"{report.lost_turns} turns are in quarantine and were left out")
    if report.other_policy:
        lines.append(f"{report.other_policy} turns were committed under a policy other than the current {version}")
    lines += [
        f"{n} answers to `{name}` were never stored: only the rules were used there"
        for name, n in report.missed.items()
    ]
    return lines


def _table(report: RebuildReport) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("memory", "field", "live", "rebuilt"):
        table.add_column(name, overflow="fold", no_wrap=name in ("memory", "field"))
    for each in report.differences[:SHOWN]:
        cells = (str(each.memory_id), each.field, _cell(each.live), _cell(each.rebuilt))
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    told = value if isinstance(value, str) else orjson.dumps(value).decode()
    return told if len(told) <= CELL else told[: CELL - 1] + "…"
