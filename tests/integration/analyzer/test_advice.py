"""Vectors and a model add to the analyzer's rules; if they fail, the result of the rules stays."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, cast, get_args
from uuid import UUID

import pytest

from schemas.topics import ANALYSIS_PROPOSED, OBSERVATION_RECORDED
from services.analyzer import handler as analyzer
from services.evolver import embed
from services.evolver import handler as evolver
from shared.bus.access import KafkaAccess
from shared.bus.delivery import Delivered
from shared.db import Database
from shared.domain.observations import ObservationRow
from shared.domain.statements import candidate_id, input_hash
from shared.domain.subjects import Subject
from shared.models.errors import ModelUnavailable
from shared.models.factory import make_models
from shared.policy import Policy
from shared.runtime import Runtime
from shared.settings import Settings
from tests.integration.evolver.delivery import observe, published
from tests.integration.evolver.scenes import BEGAN, Turn
from tests.ollama.server import CHAT, EMBEDDING, Mode, ScriptedOllama
from tests.system.databases import Databases, change, rows

WHO = Subject("t", "lin")
SAID = {
    "zh": ("每周三晚上打羽毛球", "膝盖做完手术以后什么运动都停了"),
    "en": ("rides to work", "The bicycle has gone to the charity shop"),
}
AGAIN = {
    "zh": ("阳台上的花每周浇三次水", "我阳台上的花每周浇三次水"),
    "en": (
        "waters the plants on the balcony three times a week",
        "I water the plants on the balcony three times a week",
    ),
}
LANGUAGES = pytest.mark.parametrize("language", SAID)


@dataclass
class Bench:
    """A worker's runtime with models; its handlers are called by hand, one event after the other."""

    rt: Runtime
    dsn: str
    said: int = 0

    async def say(self, text: str, **more: Any) -> UUID:
        """The id of a statement without a key, observed alone in a turn."""
        self.said += 1
        at = BEGAN + timedelta(days=self.said)
        turn_id = UUID(int=(int(at.timestamp() * 1000) << 80) | 0x7 << 76 | 0x2 << 62 | self.said)
        row = replace(_row(turn_id, text), said_at=at, **more)
        await observe(self.rt, WHO, Turn(turn_id, "s1", at, (row,)))
        return row.observation_id

    async def events(self, topic: str) -> list[Delivered]:
        """The events in the outbox for this topic."""
        return [event for name, event in await published(self.rt, WHO) if name == topic]

    async def analyze(self) -> None:
        """Passes the latest event to the analyzer."""
        await analyzer.propose(self.rt, WHO, (await self.events(OBSERVATION_RECORDED.name))[-1:])

    async def learn(self, text: str, **more: Any) -> UUID:
        """The id of a statement that was observed, analyzed and applied."""
        seen = await self.say(text, **more)
        await self.analyze()
        await evolver.apply_proposals(self.rt, WHO, (await self.events(ANALYSIS_PROPOSED.name))[-1:])
        return seen

    def proposal(self, seen: UUID) -> dict[str, Any]:
        """The proposal for the statement."""
        return rows(self.dsn, "SELECT * FROM proposals WHERE observation_id = %(o)s", o=seen)[0]

    def memories(self) -> dict[str, str]:
        """The status of each memory, by its text."""
        return {row["content_text"]: row["status"] for row in rows(self.dsn, "SELECT * FROM memory_items")}


def _row(turn_id: UUID, text: str) -> ObservationRow:
    said = input_hash(turn_id, text)
    return ObservationRow(
        observation_id=candidate_id(turn_id, said),
        turn_id=turn_id,
        session_id="s1",
        ordinal=0,
        priority="normal",
        kind="pattern",
        key=None,
        value={"quote": text},
        text=text,
        assertion="declared",
        epistemic="fact",
        polarity=0,
        confidence=0.5,
        detector="learned",
        pattern="test",
        language="en" if text.isascii() else "zh",
        retracts=False,
        old_value=None,
        flags=(),
        valid_until=None,
        said_at=BEGAN,
        input_hash=said,
    )


Opened = Callable[..., Any]


@pytest.fixture
def bench(databases: Databases, server: ScriptedOllama) -> Opened:
    """A runtime with these values in its analysis policy; it has the chat model, and with `vectors` also an encoder."""

    @asynccontextmanager
    async def opened(*, vectors: bool = False, **analysis: Any) -> AsyncGenerator[Bench]:
        policy = Policy()
        asks = policy.analysis.model_copy(update={"doubt_low": 0.0, **analysis})
        policy = policy.model_copy(update={"analysis": asks})
        models = make_models(server.url, CHAT, EMBEDDING if vectors else None, None, 64, time.monotonic)
        dsn = databases.fresh()
        db = Database(dsn, size=4)
        await db.open()
        try:
            yield Bench(
                Runtime(Settings(), db, cast("Any", None), models, policy, KafkaAccess(""), policy.version), dsn
            )
        finally:
            await models.close()
            await db.close()

    return opened


def make_verdicts(*verdicts: str) -> str:
    """The model's answer, for m1, m2 and so on."""
    return json.dumps({"verdicts": [{"id": f"m{n}", "verdict": each} for n, each in enumerate(verdicts, 1)]})


@LANGUAGES
@pytest.mark.parametrize(
    ("verdict", "action", "left"),
    [
        ("ends", "supersede", ("superseded", "active")),
        ("same", "confirm", ("active", None)),
        ("both", "create", ("active", "active")),
        ("apart", "create", ("active", "active")),
    ],
)
async def test_in_doubt_the_model_is_asked_once_and_followed(
    bench: Opened, server: ScriptedOllama, language: str, verdict: str, action: str, left: tuple[str, str | None]
) -> None:
    old, new = SAID[language]
    server.answer = make_verdicts(verdict)
    async with bench() as b:
        known = await b.learn(old)
        assert server.asked("/api/chat") == []
        seen = await b.learn(new)
        (asked,) = server.asked("/api/chat")
        assert all(part in asked["messages"][-1]["content"] for part in (old, new))
        assert str(known) not in json.dumps(asked)
        found = b.proposal(seen)
        assert (found["action"], found["state"]) == (action, "applied")
        assert found["evidence"]["advice"] == [{"memory_id": str(known), "verdict": verdict, "by": "model"}]
        assert (found["evidence"]["model"], found["evidence"]["prompt"]) == (CHAT, "analysis-1")
        assert (b.memories()[old], b.memories().get(new)) == left
        (used,) = rows(b.dsn, "SELECT * FROM model_usage")
        assert (used["purpose"], used["calls"], used["malformed"]) == ("analysis", 1, 0)


@LANGUAGES
async def test_an_answered_question_is_not_asked_again(bench: Opened, server: ScriptedOllama, language: str) -> None:
    old, new = SAID[language]
    server.answer = make_verdicts("ends")
    async with bench() as b:
        await b.learn(old)
        seen = await b.say(new)
        await change(b.dsn, "ALTER TABLE proposals RENAME TO elsewhere")
        with pytest.raises(Exception, match="schema lacks"):
            await b.analyze()
        await change(b.dsn, "ALTER TABLE elsewhere RENAME TO proposals")
        for _ in range(3):
            await b.analyze()
        assert len(server.asked("/api/chat")) == 1
        assert [row["calls"] for row in rows(b.dsn, "SELECT * FROM model_usage")] == [1]
        assert len(await b.events(ANALYSIS_PROPOSED.name)) == 2
        assert b.proposal(seen)["action"] == "supersede"


@LANGUAGES
@pytest.mark.parametrize("mode", [mode for mode in get_args(Mode) if mode not in ("well", "think_tags")])
async def test_the_rules_decide_in_every_other_mode(
    bench: Opened, server: ScriptedOllama, language: str, mode: Mode
) -> None:
    old, new = SAID[language]
    server.answer = make_verdicts("ends")
    server.script(mode)
    away = mode in ("http_500", "slow")
    async with bench(deadline_s=0.5 if away else 10.0) as b:
        await b.learn(old)
        seen = await b.learn(new)
        found = b.proposal(seen)
        assert found["action"] == "create"
        assert found["evidence"]["without"] == ["model_unavailable" if away else "model_answer_malformed"]
        assert "advice" not in found["evidence"]
        assert b.memories() == {old: "active", new: "active"}
        assert len(rows(b.dsn, "SELECT * FROM model_answers WHERE prompt = 'analysis'")) == (not away)


@pytest.mark.parametrize(
    "answer",
    [
        make_verdicts(),
        json.dumps({"verdicts": [{"id": "m2", "verdict": "ends"}, {"id": "m0", "verdict": "ends"}]}),
        json.dumps({"verdicts": [{"id": "m1", "verdict": "ends"}, {"id": "m1", "verdict": "apart"}]}),
    ],
    ids=["nothing", "ids that were not shown", "both ways"],
)
async def test_invented_model_output_is_ignored(bench: Opened, server: ScriptedOllama, answer: str) -> None:
    old, new = SAID["en"]
    server.answer = answer
    async with bench() as b:
        await b.learn(old)
        seen = await b.learn(new)
        assert b.proposal(seen)["action"] == "create"
        assert b.memories() == {old: "active", new: "active"}


@LANGUAGES
async def test_a_contradiction_of_a_confirmed_memory_becomes_an_open_conflict(
    bench: Opened, server: ScriptedOllama, language: str
) -> None:
    old, new = SAID[language]
    server.answer = make_verdicts("ends")
    async with bench() as b:
        known = await b.learn(old, assertion="directive", confidence=0.9)
        seen = await b.learn(new)
        assert b.proposal(seen)["action"] == "ask"
        assert b.memories() == {old: "active"}
        (held,) = rows(b.dsn, "SELECT memory_id, observation_id FROM conflicts")
        assert (held["memory_id"], held["observation_id"]) == (known, seen)


async def test_the_model_is_not_asked_for_self_serving_or_certain_statements_or_against_policy(
    bench: Opened, server: ScriptedOllama
) -> None:
    old, new = SAID["en"]
    server.answer = make_verdicts("ends")
    async with bench() as b:
        await b.learn(old)
        await b.learn(new, flags=("self_benefit",))
        await b.learn(old)
        assert b.memories() == {old: "active", new: "active"}
    async with bench(use_model=False) as b:
        await b.learn(old)
        await b.learn(new)
    async with bench(doubt_low=0.8) as b:
        await b.learn(old)
        await b.learn(new)
    assert server.asked("/api/chat") == []


async def test_an_exhausted_daily_share_leaves_the_rules(bench: Opened, server: ScriptedOllama) -> None:
    old, new = SAID["en"]
    server.answer = make_verdicts("ends")
    async with bench() as b:
        await b.learn(old)
        limit = b.rt.policy.observer.model_tokens_per_day
        await change(
            b.dsn,
            "INSERT INTO model_usage (tenant_id, user_id, day, purpose, calls, tokens_in, tokens_out, seconds,"
            " malformed) VALUES ('t', 'lin', current_date, 'extract', 1, %(n)s, 0, 1, 0)",
            n=limit,
        )
        seen = await b.learn(new)
        assert b.proposal(seen)["evidence"]["without"] == ["model_budget_used_up"]
        assert server.asked("/api/chat") == []


@LANGUAGES
async def test_an_urgent_correction_takes_no_advice_and_late_advice_is_dropped(
    bench: Opened, server: ScriptedOllama, language: str
) -> None:
    old, new = SAID[language]
    server.answer = make_verdicts("ends")
    server.script("slow")
    server.slow_s = 3.0
    async with bench() as b:
        await b.learn(old)
        seen = await b.say(new)
        (event,) = (await b.events(OBSERVATION_RECORDED.name))[-1:]
        late = asyncio.create_task(analyzer.propose(b.rt, WHO, [event]))
        await server.slow_began.wait()
        await evolver.apply_corrections(b.rt, WHO, [event])
        await late
        assert b.memories() == {old: "active", new: "active"}
        assert rows(b.dsn, "SELECT * FROM proposals WHERE observation_id = %(o)s", o=seen) == []


@LANGUAGES
async def test_similar_vectors_replace_the_model(bench: Opened, server: ScriptedOllama, language: str) -> None:
    old, new = AGAIN[language]
    async with bench(vectors=True, similarity=0.8) as b:
        # the statistical weights must not find it first
        known = await b.learn(old)
        await change(b.dsn, "UPDATE memory_items SET content_text = '…', value = '{}'")
        assert await embed.embed_some(b.rt) == 1
        seen = await b.learn(new)
        found = b.proposal(seen)
        assert (found["action"], found["target_memory_id"]) == ("confirm", known)
        assert found["evidence"]["advice"] == [{"memory_id": str(known), "verdict": "same", "by": "vector"}]
        assert server.asked("/api/chat") == []
        (memory,) = rows(b.dsn, "SELECT source_turns FROM memory_items")
        assert len(memory["source_turns"]) == 2


@pytest.mark.parametrize("fault", ["http_500", "slow", "cut_off", "gone"])
async def test_without_vectors_the_rules_decide_and_the_lack_is_reported(
    bench: Opened, server: ScriptedOllama, fault: Any
) -> None:
    old, new = AGAIN["en"]
    async with bench(vectors=True, use_model=False, deadline_s=0.5) as b:
        await b.learn(old)
        await change(b.dsn, "UPDATE memory_items SET content_text = '…', value = '{}'")
        await embed.embed_some(b.rt)
        if fault == "gone":
            await change(b.dsn, "ALTER TABLE memory_chunks DROP COLUMN embedding")
        else:
            server.script(fault, at="/api/embed")
        seen = await b.learn(new)
        found = b.proposal(seen)
        reason = "vectors_unavailable" if fault == "gone" else "embedding_unavailable"
        assert (found["action"], found["evidence"]["without"]) == ("create", [reason])


async def test_a_text_that_the_model_never_accepts_delays_no_other(bench: Opened, server: ScriptedOllama) -> None:
    async with bench(vectors=True, use_model=False) as b:
        for text in ("I drink oolong tea.", "I play the cello."):
            await b.learn(text)
        server.without_numbers = "oolong"
        assert await embed.embed_some(b.rt) == 2
        found = rows(b.dsn, "SELECT embedding IS NULL AS without FROM memory_chunks ORDER BY text LIKE '%%oolong%%'")
        assert [row["without"] for row in found] == [False, True]
        asked = len(server.asked("/api/embed"))
        assert await embed.embed_some(b.rt) == 0
        assert len(server.asked("/api/embed")) == asked


async def test_a_model_that_accepts_no_text_leaves_every_chunk_waiting(bench: Opened, server: ScriptedOllama) -> None:
    async with bench(vectors=True, use_model=False) as b:
        await b.learn("I drink oolong tea.")
        server.capabilities[EMBEDDING] = ("completion",)
        with pytest.raises(ModelUnavailable):
            await embed.embed_some(b.rt)
        server.reset()
        assert await embed.embed_some(b.rt) == 1
