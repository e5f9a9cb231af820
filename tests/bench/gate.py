"""Figures on independent conversations, compared with the limits in tests/eval/floors.json."""

import argparse
import asyncio
import json
import logging
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog

from services.cli.supervisor import Supervisor
from tests.bench import cases, endings, packages, retrieval, store, verbatim
from tests.bench.dialogues import read
from tests.bench.floors import FILE, Floors, verdicts
from tests.bench.floors import read as read_floors
from tests.eval import golden_set

TALKS = {
    "locomo_dev": ("conv-26", "conv-30"),
    "lifebench_zh_dev": ("lifebench-leimingxuan", "lifebench-yuxiaowei"),
    "golden_zh": None,
}
"""The conversations with questions, few enough for every run of continuous integration."""
ENCODERS = {"locomo_dev": ("minilm-l6-v2-int8",), "lifebench_zh_dev": ("bge-small-zh-v15-int8",)}
"""The encoder folders with which a file's questions are asked, besides the default configuration."""
TOLD = ("locomo_dev", "realmem_dev")
"""The conversations in which messages that end or change a memory are counted."""
VERBATIM = ("natural_zh.jsonl", "natural_en.jsonl")
SAMPLE = 300
HELD_TO = {
    "overall": ("R@10", "R@50", "nDCG@10"),
    "packages": ("recall", "precision"),
}
"""The figures of a conversation that have limits; `make bench-retrieval` prints the others."""


def measure(data: Path, models: Path) -> dict[str, float]:
    """Every figure by its name."""
    found: dict[str, float] = {}
    with store.system() as on:
        for name in TALKS:
            folders = [str(models / each) for each in ENCODERS.get(name, ()) if (models / each).exists()]
            found |= _collect_times(name, asyncio.run(_talk(on, data, name, folders)))
        found |= _collect_times("packages", asyncio.run(_packages(on)))
        for name in VERBATIM:
            found |= _collect_times(name, asyncio.run(_verbatim(on, data / name)))
    found |= _collect_times("endings", _endings(data))
    return found | _collect_times("eval natural", _natural(data))


_began = time.monotonic()


def _collect_times(what: str, found: dict[str, float]) -> dict[str, float]:
    print(f"[{time.monotonic() - _began:.0f} s] {what}: {len(found)} figures", flush=True)
    return found


async def _talk(on: Supervisor, data: Path, name: str, folders: Sequence[str]) -> dict[str, float]:
    path = golden_set.FILE if name == "golden_zh" else data / f"{name}.json"
    options = argparse.Namespace(ask_at_time=False, parts=False)
    ways = await retrieval.measure(on, read(path).part(TALKS[name]), folders, options)
    found: dict[str, float] = {}
    for way, report in ways.items():
        for part, figures in HELD_TO.items():
            found |= {f"{name}, {way}: {part} {each}": report[part][each] for each in figures if part in report}
        for category, figures in report["by_category"].items() if name == "golden_zh" else ():
            found[f"{name}, {way}: {category} R@5"] = figures["R@5"]
    return {each: value for each, value in found.items() if f", {retrieval.BM25}: " not in each}


async def _packages(on: Supervisor) -> dict[str, float]:
    async with store.runtime(on) as rt:
        judged = await packages.verdicts(rt, cases.read())
    found = cases.figures(judged)
    return {
        f"cases, {retrieval.NOTHING}: {name}": found[name] for name in ("precision", "recall", "clean", "forbidden")
    }


async def _verbatim(on: Supervisor, path: Path) -> dict[str, float]:
    lines, sought = verbatim.read(path, SAMPLE)
    async with store.runtime(on) as rt:
        lost = await verbatim.look(rt, lines, sought)
    return {f"{path.stem}: texts not found by their own words": lost.share}


def _endings(data: Path) -> dict[str, float]:
    return {f"{name}: {endings.FIGURE}": endings.count_endings(data / f"{name}.json").share for name in TOLD}


def _natural(data: Path) -> dict[str, float]:
    """The rates of `smartbrain eval natural`; empty without that command."""
    command = [
        sys.executable,
        "-m",
        "services.cli",
        "eval",
        "natural",
        *(str(data / name) for name in VERBATIM),
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"smartbrain eval natural: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
        return {}
    return {f"eval natural: {name}": value for name, value in _flat(json.loads(done.stdout)).items()}


def _flat(rates: Any, prefix: str = "") -> dict[str, float]:
    """Every number in nested objects, by its path."""
    if isinstance(rates, bool) or not isinstance(rates, (dict, int, float)):
        return {}
    if not isinstance(rates, dict):
        return {prefix: float(rates)}
    inner: dict[str, Any] = rates  # pyright: ignore[reportUnknownVariableType] # raw JSON
    return {k: v for name, each in inner.items() for k, v in _flat(each, f"{prefix} {name}".strip()).items()}


def main() -> int:
    """0 when every figure meets its limit; `--update` writes today's figures to the file instead."""
    parser = argparse.ArgumentParser("python -m tests.bench.gate", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the conversations")
    parser.add_argument("--models", type=Path, default=Path("../shared/models"), help="folder of encoders' folders")
    parser.add_argument("--floors", type=Path, default=FILE)
    parser.add_argument("--update", action="store_true", help="write today's figures; raises floors, lowers none")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    measured = measure(options.data, options.models)
    floors = read_floors(options.floors)
    if options.update:
        options.floors.write_text(floors.updated(measured, datetime.now(UTC).date()).written())
        return 0
    return tell(floors, measured, options.floors)


def tell(floors: Floors, measured: dict[str, float], path: Path) -> int:
    """Prints every figure with its limit; 1 if one fails."""
    judged = verdicts(floors, measured)
    print(f"\n{'':<6}{'today':>8}{'floor':>8}{'then':>8}  figure ({path})")
    for each in judged:
        today = "absent" if each.today is None else f"{each.today:.3f}"
        held = f"{each.floor.sign}{each.floor.bound:>6.3f}{each.floor.measured:>8.3f}"
        print(f"{'ok' if each.holds else 'FAIL':<6}{today:>8}{held}  {each.name}")
    failed = [each for each in judged if not each.holds]
    for each in failed:
        print(
            f"{each.name} is {each.today}, {each.floor.sign} {each.floor.bound} is required by {path}", file=sys.stderr
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
