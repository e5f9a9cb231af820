"""Natural conversations, whose lines have known labels without annotation."""

import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.screening import sanitize

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Line:
    """A message and its language."""

    text: str
    language: str


def lines() -> Iterator[Line]:
    """Those of the corpus; and if SMARTBRAIN_NATURAL names a folder, half of its dialogues.

    The other half is for evaluation.
    """
    for path in _files(CORPUS):
        yield from (Line(each["text"], _language(path)) for each in _read(path))
    if folder := os.environ.get("SMARTBRAIN_NATURAL"):
        for path in _files(Path(folder)):
            for each in _read(path):
                if each["may_fit"] and is_for_fitting(each["session"]):
                    yield Line(each["text"], _language(path))


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("natural_*.jsonl"))


def _language(path: Path) -> str:
    return path.stem.removeprefix("natural_")


def _read(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text("utf-8").splitlines())


def sentences() -> Iterator[str]:
    """Single sentences of that folder (`sentences_*.txt`), except those of evaluation dialogues."""
    folder = os.environ.get("SMARTBRAIN_NATURAL")
    if not folder:
        return
    kept_back: set[str] = set()
    for path in _files(Path(folder)):
        for each in _read(path):
            if not is_for_fitting(each["session"]):
                kept_back.update(map(str.strip, sanitize.sentences(each["text"])), [each["text"].strip()])
    for path in sorted(Path(folder).glob("sentences_*.txt")):
        yield from (text for text in path.read_text("utf-8").splitlines() if text.strip() not in kept_back)


def is_for_fitting(session: str) -> bool:
    """Whether this dialogue may be used for fitting: every second one, by its name."""
    return zlib.crc32(session.encode()) % 2 == 0
