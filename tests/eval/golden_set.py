"""The file of the golden set of retrieval: conversations in sessions, and questions with their evidence."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("golden_zh.jsonl")


@dataclass(frozen=True)
class Question:
    """One question; `shares` says that it has a word in common with its evidence."""

    talk: str
    ask: str
    kind: str
    shares: bool
    evidence: frozenset[str]


@dataclass(frozen=True)
class Message:
    """One message; `id` is session:position."""

    id: str
    who: str
    text: str


def read(path: Path = FILE) -> tuple[list[dict[str, Any]], list[Question]]:
    """The sessions in order, and the questions."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    questions = [
        Question(row["talk"], row["ask"], row["kind"], row["shares"], frozenset(row["evidence"]))
        for row in rows
        if "ask" in row
    ]
    return [row for row in rows if "said" in row], questions


def turns(session: dict[str, Any]) -> list[list[Message]]:
    """The session's turns: an assistant's answer belongs to the user's message before it."""
    made: list[list[Message]] = []
    for place, (who, text) in enumerate(session["said"], 1):
        message = Message(f"{session['session']}:{place}", who, text)
        if who == "assistant":
            made[-1].append(message)
        else:
            made.append([message])
    return made
