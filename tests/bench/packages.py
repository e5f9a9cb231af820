"""Packages on cases of what they must and must not contain: statements and answers are committed,
then questions asked.
"""

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import structlog

from schemas.context_package import ContextPackage
from services.cli.supervisor import Supervisor
from shared.runtime import Runtime
from tests.bench import store
from tests.bench.cases import FILE, Case, Verdict, figures, judge, read
from tests.bench.store import Committed


async def verdicts(rt: Runtime, cases: Sequence[Case]) -> list[Verdict]:
    """The evaluation of the package of each case, in order."""
    await store.commit(rt, [line for case in cases for line in case.lines], Committed())
    await store.embed_all(rt)

    async def ask(case: Case) -> Verdict:
        with store.at(case.ask_at):
            return judge(case, texts(await store.package(rt, case.id, case.ask)))

    return await store.each_of(cases, ask)


def texts(package: ContextPackage) -> list[str]:
    """The memories in the package: its evidence and its core memory, separately."""
    core = [block.text for block in package.system_blocks if block.source.memory_item_id is not None]
    return [*core, *(each.snippet for each in package.evidence)]


def report(judged: Sequence[Verdict]) -> dict[str, Any]:
    """The figures of all cases, of each language, and of each kind."""
    groups = {"all": list(judged)}
    for verdict in judged:
        for name in (verdict.case.language, verdict.case.kind):
            groups.setdefault(name, []).append(verdict)
    return {name: figures(each) for name, each in groups.items()}


def show(found: dict[str, Any], judged: Sequence[Verdict], *, failures: bool) -> None:
    """The figures as a table, and what was missing or forbidden in each case."""
    heads = ("precision", "recall", "clean", "forbidden", "cases")
    print(f"{'':<12}" + "".join(f"{head:>11}" for head in heads))
    for name, row in found.items():
        print(f"{name:<12}" + "".join(f"{row[head]:>11.3f}" if head in row else f"{'':>11}" for head in heads))
    for each in judged if failures else ():
        if not each.clean:
            print(f"{each.case.id}: {each.case.ask}")
            lacking, wrong = ", ".join(each.missing), ", ".join(each.forbidden)
            print(f"  missing {lacking or 'nothing'}; shown wrongly {wrong or 'nothing'}")


async def _run(on: Supervisor, cases: Sequence[Case], encoders: str | None) -> list[Verdict]:
    async with store.runtime(on, encoders) as rt:
        return await verdicts(rt, cases)


def main() -> int:
    """Prints a table and the faults of the cases of `dev`; those of `held` are only measured."""
    parser = argparse.ArgumentParser("python -m tests.bench.packages", description=__doc__)
    parser.add_argument("--file", type=Path, default=FILE, help="cases, one a line")
    parser.add_argument("--part", choices=["dev", "held", "all"], default="dev", help="which cases; default dev")
    parser.add_argument("--embedding-model", metavar="DIRS", help="as SMARTBRAIN_EMBEDDING_DIR")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    cases = [case for case in read(options.file) if options.part in (case.part, "all")]
    with store.system() as on:
        judged = asyncio.run(_run(on, cases, options.embedding_model))
    found = report(judged)
    show(found, judged, failures=options.part == "dev")
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
