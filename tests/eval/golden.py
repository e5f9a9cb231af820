"""The golden set of retrieval: conversations and questions, read and put to the product."""

import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from schemas.envelope import Envelope
from schemas.events import TurnCommitted
from schemas.retrieve import RetrieveRequest
from schemas.turn_events import TurnEvents
from services.compose.commit import commit_turn
from services.compose.context import retrieve
from services.observer.handler import observe_turns
from shared.bus.delivery import Delivered
from shared.db import Subject
from shared.runtime import Runtime

FILE = Path(__file__).with_name("golden_zh.jsonl")
TENANT = "golden"


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
    """What one side said; `id` is session:place."""

    id: str
    who: str
    text: str


def read() -> tuple[list[dict[str, Any]], list[Question]]:
    """The sessions in order, and the questions."""
    rows = [json.loads(line) for line in FILE.read_text().splitlines()]
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


async def ingest(rt: Runtime) -> dict[tuple[str, int], str]:
    """Every conversation committed and observed; the message id of each turn id and ordinal."""
    sessions, _ = read()
    named: dict[tuple[str, int], str] = {}
    waiting: dict[str, list[Delivered]] = defaultdict(list)
    for session in sessions:
        at = datetime.fromisoformat(session["at"])
        for n, turn in enumerate(turns(session)):
            messages = [_message(each) for each in turn]
            body = {"tenant_id": TENANT, "user_id": session["talk"], "session_id": session["session"]}
            said = {"created_at": at + timedelta(minutes=n), "messages": messages}
            done = await commit_turn(TurnEvents.model_validate({**body, **said}), rt, transport="test")
            named |= {(str(done.result.turn_id), n): each.id for n, each in enumerate(turn)}
            waiting[session["talk"]].append(await event(rt, str(done.result.outbox_event_id)))
    for talk, events in waiting.items():
        await observe_turns(rt, Subject(TENANT, talk), events)
    return named


def _message(said: Message) -> dict[str, Any]:
    if said.who in ("user", "assistant"):
        return {"role": said.who, "content": said.text}
    return {"role": "user", "name": said.who, "content": said.text}


async def event(rt: Runtime, event_id: str) -> Delivered:
    """The outbox's event as the relay would publish it."""
    async with rt.db.system() as conn:
        row = await (await conn.execute("SELECT payload FROM event_outbox WHERE id = %s", (event_id,))).fetchone()
    assert row
    envelope = Envelope.model_validate(row["payload"])
    return Delivered(envelope, TurnCommitted.model_validate(envelope.payload), None)  # pyright: ignore[reportArgumentType] # no record


async def ask(rt: Runtime, question: Question, named: dict[tuple[str, int], str], top_k: int = 20) -> list[str]:
    """The ids of the messages found, best first."""
    asked = {
        "version": "0.1",
        "tenant_id": TENANT,
        "user_id": question.talk,
        "queries": [{"text": question.ask}],
        "budget": {"top_k": top_k},
    }
    pack = await retrieve(RetrieveRequest.model_validate(asked), rt)
    found = [named.get((each.ref.turn_id or "", each.ref.message or 0)) for each in pack.evidences]
    return list(dict.fromkeys(each for each in found if each))


def recall(found: list[str], evidence: frozenset[str], k: int) -> float:
    """Which share of the evidence is among the first k."""
    return len(evidence & set(found[:k])) / len(evidence)
