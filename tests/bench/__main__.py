"""Runs benches, prints their tables, and exits 1 when a target is missed."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from shared import settings
from tests.bench.kit import Options, Report, Row, quiet_logs

BENCHES = {
    "commit": "commit_turn beside the same rows in bare SQL",
    "relay": "outbox to Kafka beside bare produce and bare SELECT + DELETE",
    "compose": "compose_package on 10,000 memories of one user among 200,000, beside its own statements alone",
    "meaning": "packages of users with 10,000 memories and 10,000 messages, by words and with static vectors",
    "isolation": "compose with row-level security beside compose without it; a small user beside all the others",
    "pipeline": "committed turns through observer, analyzer and evolver; CPU of each stage",
    "latency": "an idle system: commit to outcome, correction to superseded",
    "rebuild": "memories of one user derived anew from 10,000 turns, beside the workers' own pace",
    "memory": "resident memory of each service after a pipeline run",
    "invariants": "10,000 turns with 5% corrections: no double, no fork, no correction lost",
    "erasure": "a user with 100,000 rows erased, beside the packages of others",
    "keys": "telling who asks over HTTP, by a key and by a token",
    "fairness": "turns of one tenant beside a flood of another's, against alone",
    "mcp": "recall over MCP beside /v1/retrieve, and how soon the tools are listed",
    "console": "every page for somebody with 10,000 memories and 100,000 turns",
    "calibration": "stated confidence against observed correctness on the labelled sets, before and after calibration",
}
_CALM = ("SMARTBRAIN_OLLAMA_URL", "SMARTBRAIN_EMBEDDING_DIR", "SMARTBRAIN_POLICY", "SMARTBRAIN_DATABASE_URL")


def main() -> int:
    """0 when every target is met."""
    args = _parser().parse_args()
    chosen = list(BENCHES) if "all" in args.bench else args.bench
    encoder = args.embedding_model or settings.load().embedding_dir
    options = Options(args.quick, encoder, args.turns, args.plot, args.size)
    for name in (*_CALM, "SMARTBRAIN_KAFKA_BOOTSTRAP"):
        os.environ.pop(name, None)
    quiet_logs("warning")
    reports: list[Report] = []
    for name in chosen:
        bench: Callable[[Options], Report] = import_module(f"tests.bench.{name}").run
        began = time.perf_counter()
        report = bench(options)
        report.took_s = time.perf_counter() - began
        show(report)
        reports.append(report)
    if args.json:
        args.json.write_text(json.dumps([_to_json(report) for report in reports], indent=2) + "\n")
    missed = [f"{report.name}: {row.what}" for report in reports for row in report.rows if row.passed is False]
    print(f"{len(missed)} targets missed" + "".join(f"\n  {each}" for each in missed))
    return 1 if missed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.bench", description=__doc__)
    parser.add_argument("bench", nargs="*", choices=[*BENCHES, "all"], default="all", help="which; default all")
    parser.add_argument("--quick", action="store_true", help="less data: for a look, not for a claim")
    parser.add_argument("--turns", type=int, metavar="N", help="so many turns in the bench of invariants")
    parser.add_argument("--size", type=int, metavar="N", help="so much is remembered in the bench of meaning")
    parser.add_argument("--embedding-model", metavar="DIR", help="the encoder of the rows with vectors")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write calibration's reliability diagram as SVG")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure as JSON")
    return parser


def show(report: Report) -> None:
    """The report as a table."""
    table = Table(title=f"{report.name}: {BENCHES[report.name]} ({report.took_s:.0f} s)", title_justify="left")
    table.add_column("what", overflow="fold")
    for column in ("ours", "bare", "ours/bare", "target", ""):
        table.add_column(column, justify="right", no_wrap=True)
    for row in report.rows:
        table.add_row(*_cells(row))
    console = Console(width=None if sys.stdout.isatty() else 130)
    console.print(table)
    for note in report.notes:
        console.print(f"  {note}", highlight=False, markup=False)


def _cells(row: Row) -> tuple[str, ...]:
    verdict = {True: "[green]PASS[/]", False: "[red]FAIL[/]", None: ""}[row.passed]
    bare = "" if row.bare is None else _number(row.bare)
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    target = "" if row.limit is None else f"{row.kind} {_number(row.limit)}"
    return row.what, f"{_number(row.ours)} {row.unit}", bare, ratio, target, verdict


def _number(value: float) -> str:
    places = 0 if abs(value) >= 100 or value == 0 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{places}f}"


def _to_json(report: Report) -> dict[str, object]:
    rows = [{**vars(row), "ratio": row.ratio, "passed": row.passed} for row in report.rows]
    return {"bench": report.name, "took_s": round(report.took_s, 1), "rows": rows, "notes": report.notes}


if __name__ == "__main__":
    sys.exit(main())
