"""The scores as tables for a person, as JSON for a program, as Markdown for a release."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from rich.table import Table
from rich.text import Text

from services.cli.evaluate.gate import GateVerdict
from services.cli.evaluate.score import Counts, Score
from services.cli.output import out

COLUMNS = ("precision", "recall", "F1", "right", "wrong", "missed")


def show(scores: dict[str, Score], verdicts: list[GateVerdict], misses: int) -> None:
    """One table a set, then its first misses, then the gate."""
    for name, score in scores.items():
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
        table.add_column(f"{name} ({score.samples})")
        for column in COLUMNS:
            table.add_column(column, justify="right")
        for group, counts in _rows(score):
            table.add_row(group, *_cells(counts))
        out.print(table)
        for miss in score.misses[:misses]:
            out.print(Text(f"  {miss.text}", "default"))
            out.print(Text(f"    wanted {miss.wanted or 'nothing more'} | got {miss.got or 'nothing'}", "dim"))
        out.print()
    for verdict in verdicts:
        passed = "pass" if verdict.passed else "FAIL"
        style = "green" if verdict.passed else "red"
        out.print(Text(f"gate {verdict.name} {verdict.measured:.3f} >= {verdict.floor:.2f}: {passed}", style))


def as_json(scores: dict[str, Score], verdicts: list[GateVerdict], about: dict[str, Any]) -> dict[str, Any]:
    """All figures; `about` says what was measured with what."""
    return {
        **about,
        "sets": {
            name: {
                "samples": score.samples,
                **{group: _figures(counts) for group, counts in _rows(score)},
            }
            for name, score in scores.items()
        },
        "gate": [
            {"name": v.name, "measured": round(v.measured, 4), "floor": v.floor, "passed": v.passed} for v in verdicts
        ],
    }


def write(path: Path, scores: dict[str, Score], verdicts: list[GateVerdict], about: dict[str, Any]) -> None:
    """The report as JSON where the path ends so, as Markdown elsewhere."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".json":
        path.write_bytes(orjson.dumps(as_json(scores, verdicts, about), option=orjson.OPT_INDENT_2) + b"\n")
    else:
        path.write_text(_markdown(scores, verdicts, about), "utf-8")


def _markdown(scores: dict[str, Score], verdicts: list[GateVerdict], about: dict[str, Any]) -> str:
    lines = ["# Labelled sets", "", *(f"- {name}: {value}" for name, value in about.items()), ""]
    for name, score in scores.items():
        lines += [f"## {name} ({score.samples} messages)", "", f"| | {' | '.join(COLUMNS)} |", "|---|" + "---|" * 6]
        lines += [f"| {group} | {' | '.join(_cells(counts))} |" for group, counts in _rows(score)]
        lines.append("")
    if verdicts:
        lines += ["## Gate", "", "| | measured | floor | |", "|---|---|---|---|"]
        lines += [f"| {v.name} | {v.measured:.3f} | {v.floor} | {'pass' if v.passed else 'FAIL'} |" for v in verdicts]
    return "\n".join(lines) + "\n"


def about(part: str, detector: str, policy_version: str) -> dict[str, Any]:
    """What a report says of itself."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return {"at": at, "part": part, "detector": detector, "policy_version": policy_version}


def _rows(score: Score) -> list[tuple[str, Counts]]:
    return [("all", score.overall), *sorted((g, c) for g, c in score.groups.items() if c.anything)]


def _cells(counts: Counts) -> tuple[str, ...]:
    shares = (f"{counts.precision:.3f}", f"{counts.recall:.3f}", f"{counts.f1:.3f}")
    return (*shares, str(counts.right), str(counts.wrong), str(counts.missed))


def _figures(counts: Counts) -> dict[str, float]:
    return {
        "precision": round(counts.precision, 4),
        "recall": round(counts.recall, 4),
        "f1": round(counts.f1, 4),
        "right": counts.right,
        "wrong": counts.wrong,
        "missed": counts.missed,
    }
