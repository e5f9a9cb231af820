"""`make test-faults`: each fault is applied to a running system, and its figures are printed.

`python -m tests.faults` applies each fault once or twice; `--long` or SMARTBRAIN_TEST_LONG as often as a long run may
take. Names of scenarios select them. Exit code 1 if a turn was lost or duplicated or recovery took too long.
"""

import argparse
import asyncio
import logging
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.disk import enter_own_mounts

if TYPE_CHECKING:
    from tests.faults.judge import Figures, Reference
    from tests.faults.rig import Rig
    from tests.faults.scenarios import Scenario

HEADER = f"{'scenario':<18} {'accepted':>8} {'derived':>8} {'lost':>5} {'doubled':>8} {'recovered':>10}"


def row(figures: "Figures") -> str:
    """The figures as a line of the table."""
    recovered = "never" if figures.recovered_s is None else f"{figures.recovered_s:.1f} s"
    counts = f"{figures.accepted:>8} {figures.derived:>8} {figures.lost:>5} {figures.doubled:>8}"
    return f"{figures.name:<18} {counts} {recovered:>10}  {'ok' if figures.well else 'MISSED'}"


async def run(rig: "Rig", scenario: "Scenario", reference: "Reference", dice: random.Random) -> "Figures":
    """The result of the scenario."""
    from tests.faults.judge import Figures, come_to_rest, judge, time_to_recover
    from tests.faults.load import Load

    figures = Figures(scenario.name)
    tellers = max(4, 2 * len(scenario.codecs))
    load = Load(rig, tellers=tellers, codecs=scenario.codecs, over_kafka=scenario.over_kafka)
    await load.reach(6)
    try:
        check = await scenario.fault(rig, load, dice)
        figures.recovered_s = await time_to_recover(rig, load)
        await load.stop()
        figures.problems += await come_to_rest(rig)
        if check:
            await check(figures)
    except Exception as error:  # noqa: BLE001 # the other scenarios run anyway
        figures.problems.append(repr(error))
        await load.give_up()
        for twin in [*rig.supervisor.twins]:
            await rig.dismiss(twin)
    judge(rig, load, reference, figures)
    figures.problems += [f"`smartbrain up` would have ended: {error}" for error in rig.ended_by]
    rig.ended_by.clear()
    return figures


async def main(names: list[str], seed: int) -> bool:
    """Whether every scenario passed."""
    from shared.telemetry import configure_logs
    from tests.faults.judge import Reference, come_to_rest
    from tests.faults.load import STORIES, Load
    from tests.faults.rig import rigged
    from tests.faults.scenarios import SCENARIOS

    configure_logs("critical")
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # the scenario is the absence of a server
    known = {each.name: each for each in SCENARIOS}
    if unknown := [name for name in names if name not in known]:
        print(f"no such scenario: {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return False
    print(f"seed {seed}", flush=True)
    table: list[Figures] = []
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        async with rigged(Path(folder)) as rig:
            undisturbed = Load(rig, tellers=STORIES)
            await undisturbed.reach(STORIES + 1)
            await undisturbed.stop()
            if open_work := await come_to_rest(rig):
                raise RuntimeError(f"undisturbed: {open_work}")
            reference = Reference(rig, undisturbed)
            print(*(*reference.unsteady, HEADER), sep="\n", flush=True)
            for scenario in [known[name] for name in names] or SCENARIOS:
                if scenario.name == "full-disk" and rig.supervisor.disk_problem:
                    print(f"{scenario.name:<18} SKIPPED: {rig.supervisor.disk_problem}", flush=True)
                    continue
                began = time.monotonic()
                figures = await run(rig, scenario, reference, random.Random(f"{seed} {scenario.name}"))
                table.append(figures)
                print(f"{row(figures)} ({time.monotonic() - began:.0f} s)", flush=True)
                for problem in figures.problems:
                    print(f"    {problem}", flush=True)
    print("\n" + "\n".join([HEADER, *map(row, table)]), flush=True)
    return all(each.well for each in table) and not reference.unsteady


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="scenario")
    parser.add_argument("--long", action="store_true", help="as often as a run by hand may take")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    asked = parser.parse_args()
    if asked.long:
        os.environ["SMARTBRAIN_TEST_LONG"] = "1"
    enter_own_mounts()
    sys.exit(not asyncio.run(main(asked.names, asked.seed)))
