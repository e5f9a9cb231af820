"""Runs the golden set of retrieval."""

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any

from schemas.envelope import Envelope
from schemas.events import TurnCommitted
from schemas.retrieval_plan import RetrieveRequest
from schemas.turn_events import TurnEvents
from services.compose.intake.commit import commit_turn
from services.observer.handler import observe_turns
from shared.bus.delivery import Delivered
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from tests.eval.golden_set import Message, Question, read, turns
from tests.system.composing import retrieve

TENANT = "golden"


async def ingest(rt: Runtime) -> dict[tuple[str, int], str]:
    """Commits and observes every conversation; the message id of each turn id and ordinal."""
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
    """The ids of the found messages, best first."""
    asked = {
        "version": "0.1",
        "tenant_id": TENANT,
        "user_id": question.talk,
        "queries": [{"text": question.ask}],
        "budget": {"top_k": top_k},
        "ranking": {"min_score": 0},
    }
    pack = await retrieve(RetrieveRequest.model_validate(asked), rt)
    found = [named.get((each.ref.turn_id or "", each.ref.message or 0)) for each in pack.evidences]
    return list(dict.fromkeys(each for each in found if each))


def recall(found: list[str], evidence: frozenset[str], k: int) -> float:
    """The share of the evidence among the first k."""
    return len(evidence & set(found[:k])) / len(evidence)
