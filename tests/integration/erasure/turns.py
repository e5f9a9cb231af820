"""Turns and answered packages of the user of a race, as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas import topics
from schemas.events import DecisionEvent
from schemas.turn_events import Message, ToolCall, TurnEvents, TurnRef
from shared import clock
from shared.domain.subjects import Subject
from shared.store import outbox
from tests.integration.erasure.words import Sentence


@dataclass(frozen=True)
class Said:
    """A committed turn and its made-up words."""

    turn_id: UUID
    session_id: str
    words: tuple[str, ...]
    sentences: tuple[str, ...]
    aside: str = ""
    speaker: str = ""
    """Its speaker; a statement of one speaker is not one of another."""

    @classmethod
    def of(cls, plan: "Plan", turn_id: UUID) -> "Said":
        """The plan, once committed."""
        words, texts = zip(*((each.word, each.text) for each in plan.sentences), strict=True)
        speaker = plan.aside if plan.more == "named" else ""
        return cls(turn_id, plan.session_id, words, texts, plan.aside, speaker)

    @property
    def all_words(self) -> frozenset[str]:
        """The words of the sentences and of the other parts."""
        return frozenset(each for each in (*self.words, self.aside) if each)


@dataclass(frozen=True)
class Plan:
    """A turn to be committed."""

    session_id: str
    sentences: tuple[Sentence, ...]
    more: str = ""
    aside: str = ""
    """A word of the additional parts."""
    sent_at: datetime | None = None


def turn_of(plan: Plan, subject: Subject) -> TurnEvents:
    """The turn with additional parts: a name, a reply, a tool call or a reference that contains `aside`."""
    named = plan.aside if plan.more == "named" else None
    messages = [Message(role="user", content=" ".join(each.text for each in plan.sentences), name=named)]
    if plan.more == "reply":
        messages.append(Message(role="assistant", content=f"Noted: {plan.aside}. 好的，{plan.aside}。"))
    tools, refs = (), ()
    if plan.more == "tool":
        body = f"# {plan.aside}\n" + f"All about {plan.aside}. " * 12
        tools = (ToolCall(name="write_file", args={"path": f"{plan.aside}.md", "content": body}, result="ok"),)
    if plan.more == "file":
        refs = (TurnRef(ref_type="url", ref_uri=f"https://example.org/{plan.aside}", title=plan.aside),)
    return TurnEvents(
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        session_id=plan.session_id,
        messages=tuple(messages),
        tool_calls=tools,
        refs=refs,
        end_session=plan.more == "end",
    )


def package_of(subject: Subject, epoch: int, session: str, found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The package of these memories while it waits to be recorded."""
    context = clock.uuid7()
    ids, words = [str(row["memory_id"]) for row in found], [row["content_text"] for row in found]
    decision = DecisionEvent(context_id=context, request_id="r", latency_ms=1.0)
    told = outbox.event(decision, subject, context, trace_id="t", policy_version="")
    return {
        **subject._asdict(),
        "epoch": epoch,
        "context_id": str(context),
        "session_id": session,
        "request_id": "r",
        "core_ids": ids[:1],
        "evidence_ids": ids[1:],
        "degraded": False,
        "policy_version": "",
        "fingerprints": [1],
        "pieces": [1],
        "schema_version": 1,
        "retrieval": {"candidates": [{"id": f"memory:{each}"} for each in ids], "latency_ms": 1.0},
        "injection": {"decisions": [{"id": each, "decision": "injected"} for each in ids]},
        "plan": {"asked": words},
        "package": {"evidence": words},
        "event": outbox.as_row(topics.RECEIPT_RECORDED, told),
        "age_s": 0.0,
    }
