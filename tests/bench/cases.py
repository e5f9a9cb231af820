"""Cases of what a package must and must not contain, and their evaluation. Pure."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.bench.dialogues import Line
from tests.bench.figures import Figures

FILE = Path(__file__).parents[1] / "eval" / "packages.jsonl"


@dataclass(frozen=True)
class Case:
    """Statements, a later question, and the needs of its answer; each need has one or more wordings.

    `may` is helpful but not needed. `must_not` are wordings of text that is false, about another person, or irrelevant
    to the question; none of them occurs in a line that the answer needs.
    """

    id: str
    language: str
    part: str
    kind: str
    lines: tuple[Line, ...]
    ask: str
    ask_at: datetime
    must: tuple[str, ...]
    may: tuple[str, ...]
    must_not: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """The evaluation of a package for a case: how many texts were shown, how many helped, what was
    missing or forbidden.
    """

    case: Case
    shown: int
    helpful: int
    missing: tuple[str, ...]
    forbidden: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Whether the package contains all needs and nothing forbidden."""
        return not (self.missing or self.forbidden)


def read(path: Path = FILE) -> list[Case]:
    """All cases in the file's order."""
    return [_case(json.loads(line)) for line in path.read_text().splitlines()]


def _case(row: dict[str, Any]) -> Case:
    lines: list[Line] = []
    for n, (said_at, user, assistant) in enumerate(row["said"], 1):
        moment, session = _moment(said_at), said_at.split()[0]
        lines.append(Line(row["id"], session, f"{n}", "", user, moment))
        lines.append(Line(row["id"], session, f"{n}a", "", assistant, moment, "assistant"))
    wordings = (tuple(row.get(name, ())) for name in ("must", "may", "must_not"))
    labels = (row["id"], row["language"], row["part"], row["kind"])
    return Case(*labels, tuple(lines), row["ask"], _moment(row["ask_at"]), *wordings)


def _moment(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


def judge(case: Case, shown: Sequence[str]) -> Verdict:
    """The evaluation of a package with these texts as evidence or core memory."""
    texts = [text.casefold() for text in shown]
    helpful = sum(any(_says(text, need) for need in (*case.must, *case.may)) for text in texts)
    missing = tuple(need for need in case.must if not any(_says(text, need) for text in texts))
    forbidden = tuple(word for word in case.must_not if any(word.casefold() in text for text in texts))
    return Verdict(case, len(shown), helpful, missing, forbidden)


def _says(text: str, need: str) -> bool:
    return any(wording.casefold() in text for wording in need.split("|"))


def figures(verdicts: Iterable[Verdict]) -> Figures:
    """The share of shown texts that helped, of needs that were met, and of cases without any fault.

    `forbidden` is the share of forbidden texts that were shown. Zero texts or needs have no share.
    """
    judged = list(verdicts)
    shown, needs = sum(each.shown for each in judged), sum(len(each.case.must) for each in judged)
    wrong = sum(len(each.case.must_not) for each in judged)
    found: Figures = {}
    if shown:
        found["precision"] = sum(each.helpful for each in judged) / shown
    if needs:
        found["recall"] = 1 - sum(len(each.missing) for each in judged) / needs
    found["clean"] = sum(each.clean for each in judged) / len(judged)
    if wrong:
        found["forbidden"] = sum(len(each.forbidden) for each in judged) / wrong
    return {**{name: round(value, 4) for name, value in found.items()}, "cases": float(len(judged))}
