"""Rounds of upkeep on a real PostgreSQL: each job has its effect once, completely or not at all."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from services.evolver import receptions, rounds
from services.evolver.rules import merge
from services.evolver.upkeep import apply
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.runtime import Runtime
from shared.store import keeping, user_state
from shared.store import upkeep as journal
from tests.integration.evolver.memories import (
    LIN,
    evolver,
    figure,
    found_by_words,
    jobs,
    known,
    reception,
    round_of,
    row,
    stand,
    told,
    version,
)
from tests.system.databases import Databases, change, rows

TEXTS = pytest.mark.parametrize("text", ["喜欢喝龙井茶", "Likes jasmine tea"], ids=["zh", "en"])
SAME = {
    "zh": ("我周末喜欢去西湖边散步", "周末我喜欢去西湖边散步", "我很喜欢周末去西湖边散步"),
    "en": (
        "I like walking along the river at dawn",
        "At dawn I like walking along the river",
        "I really love walking along the river at dawn",
    ),
}


def journal_of(dsn: str) -> list[journal.Upkeep]:
    """The rows of the journal, in order."""
    written = rows(dsn, "SELECT upkeep_id, job, memory_ids, detail, at FROM upkeep ORDER BY at, upkeep_id")
    return [journal.Upkeep(**each) for each in written]


@pytest.fixture
async def rt(dsn: str) -> AsyncGenerator[Runtime]:
    """An evolver on a new database."""
    async with evolver(dsn) as found:
        yield found


CASES: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "expiry",
        "valid_until = '2026-11-02'",
        {"status": "expired", "invalid_at": "2026-11-02 00:00:00+00:00"},
        "expired",
    ),
    ("misses", "miss_count = 20, injection_count = 20", {"status": "expired"}, "expired"),
    ("calibration", "injection_count = 5, correction_count = 2", {"confidence": 0.3, "status": "active"}, "calibrated"),
    (
        "calibration",
        "injection_count = 5, correction_count = 2, confidence = 0.35",
        {"confidence": 0.15, "status": "candidate_evict"},
        "calibrated",
    ),
    (
        "calibration",
        "injection_count = 10, positive_count = 5, provenance_class = 'analysis', confidence = 0.75",
        {"confidence": 0.8},
        "calibrated",
    ),
    ("fuse", "correction_count = 3", {"confidence": 0.1, "fused_from": 0.5, "status": "active"}, "fused"),
    (
        "outdated",
        "last_validated_at = now() - interval '200 days'",
        {"epistemic_type": "outdated", "epistemic_prev": "preference"},
        "outdated",
    ),
    (
        "refreshed",
        "epistemic_type = 'outdated', epistemic_prev = 'fact'",
        {"epistemic_type": "fact", "epistemic_prev": None},
        "confirmed",
    ),
]


@TEXTS
@pytest.mark.parametrize(("job", "figures", "after", "change"), CASES)
async def test_a_job_has_its_effect_once(
    rt: Runtime, dsn: str, text: str, job: str, figures: str, after: dict[str, Any], change: str
) -> None:
    (memory_id,) = await stand(rt, version(text))
    figure(dsn, memory_id, figures)
    await round_of(rt)
    found = row(dsn, memory_id)
    assert {name: str(found[name]) for name in after} == {name: str(value) for name, value in after.items()}
    assert (found["status"] == "active") == (found["invalid_at"] is None)
    assert jobs(dsn) == [job]
    assert told(dsn) == [(change, str(memory_id))]
    assert found_by_words(dsn, memory_id) == (found["status"] == "active" and found["fused_at"] is None)
    before = known(dsn)
    assert await round_of(rt) == []
    assert known(dsn) == before
    assert len(told(dsn)) == 1


@TEXTS
async def test_memories_without_need_are_left_alone(rt: Runtime, dsn: str, text: str) -> None:
    await stand(rt, version(text), version(text + "!", 1, provenance_class="confirmed_by_user", confidence=0.9))
    before = known(dsn)
    assert await round_of(rt) == []
    assert known(dsn) == before


@pytest.mark.parametrize("texts", SAME.values(), ids=SAME)
async def test_three_equal_memories_are_merged(rt: Runtime, dsn: str, texts: tuple[str, ...]) -> None:
    three = [version(text, n) for n, text in enumerate(texts)]
    ids = (await stand(rt, *three, version("会弹钢琴 plays the piano", 9)))[:3]
    await round_of(rt)
    (one,) = rows(dsn, "SELECT * FROM memory_items WHERE status = 'active' AND supersedes <> '{}'")
    assert one["supersedes"] == ids
    assert (one["root_id"], one["version"]) == (ids[0], 2)
    assert (one["provenance_class"], one["assertion"], round(one["confidence"], 4)) == ("analysis", "behaviour", 0.8)
    assert one["source_sessions"] == ["s0", "s1", "s2"]
    assert one["source_turns"] == ids
    assert one["content_text"] in texts
    for old in (row(dsn, each) for each in ids):
        assert (old["status"], old["superseded_by"]) == ("merged", one["memory_id"])
        assert old["invalid_at"] == one["valid_at"]
        assert not found_by_words(dsn, old["memory_id"])
    assert found_by_words(dsn, one["memory_id"])
    assert told(dsn) == [*(("merged", str(each)) for each in ids), ("created", str(one["memory_id"]))]
    assert jobs(dsn) == ["consolidation"]
    before = known(dsn)
    assert await round_of(rt) == []
    assert known(dsn) == before


async def test_the_merged_memory_continues_the_oldest_with_a_new_version_number(rt: Runtime, dsn: str) -> None:
    old = version("I walk along the river", 0, status="superseded", invalid_at=version("x").valid_at)
    later = version(SAME["en"][0], 1, root_id=old.root_id, version=2)
    ids = await stand(rt, old, later, version(SAME["en"][1], 2), version(SAME["en"][2], 3))
    await round_of(rt)
    (one,) = rows(dsn, "SELECT root_id, version FROM memory_items WHERE supersedes <> '{}'")
    assert (one["root_id"], one["version"]) == (ids[0], 3)


async def test_a_confirmed_memory_loses_nothing_in_a_merge_with_weaker_ones(rt: Runtime, dsn: str) -> None:
    strong: dict[str, Any] = {"provenance_class": "confirmed_by_user", "assertion": "directive", "confidence": 0.9}
    more = SAME["en"][0] + " with music"
    await stand(rt, version(SAME["en"][0], 0, **strong), version(SAME["en"][1], 1), version(more, 2))
    await round_of(rt)
    (one,) = rows(dsn, "SELECT * FROM memory_items WHERE supersedes <> '{}'")
    assert (one["provenance_class"], one["assertion"]) == ("confirmed_by_user", "directive")
    assert one["content_text"] == SAME["en"][0]
    assert one["confidence"] == pytest.approx(0.975)


@pytest.mark.parametrize(
    "odd",
    [
        {"flags": ("self_benefit",)},
        {"type": "preference"},
        {"key": "note:x:y"},
        {"polarity": -1},
        {"valid_until": version("x").valid_at + timedelta(days=999)},
        {"value": {"speaker": "Marta"}},
    ],
)
async def test_memories_of_different_kinds_are_not_merged(rt: Runtime, dsn: str, odd: dict[str, Any]) -> None:
    texts = SAME["zh"]
    await stand(rt, version(texts[0], 0), version(texts[1], 1), version(texts[2], 2, **odd))
    await round_of(rt)
    assert jobs(dsn) == []


def vectors(dsn: str, ids: list[UUID], *values: str, model: str = "m") -> None:
    """Sets these vectors of the memories' chunks."""
    for memory_id, value in zip(ids, values, strict=True):
        statement = "UPDATE memory_chunks SET embedding = %(v)s::halfvec, embedding_model_id = %(m)s"
        rows(dsn, statement + " WHERE memory_id = %(id)s", v=value, m=model, id=memory_id)


async def test_vectors_decide_where_they_exist(rt: Runtime, dsn: str) -> None:
    texts = ("I adore jogging through parks at dawn", "Dawn runs between trees make me glad", "Sunrise laps past oaks")
    ids = await stand(rt, *(version(text, n) for n, text in enumerate(texts)))
    vectors(dsn, ids, "[1,0,0]", "[1,0,0.1]", "[0,1,0]")
    await round_of(rt)
    assert jobs(dsn) == []
    vectors(dsn, ids, "[1,0,0]", "[1,0,0.1]", "[1,0.1,0]")
    await round_of(rt)
    assert jobs(dsn) == ["consolidation"]


async def test_an_interrupted_round_has_no_effect_and_the_next_does_everything(rt: Runtime, dsn: str) -> None:
    ids = await stand(rt, *(version(text, n) for n, text in enumerate(SAME["en"])), version("Likes tea", 7))
    figure(dsn, ids[3], "correction_count = 3")
    before = known(dsn)
    await change(dsn, "ALTER TABLE event_outbox RENAME TO elsewhere")
    with pytest.raises(TransientError):
        await round_of(rt)
    await change(dsn, "ALTER TABLE elsewhere RENAME TO event_outbox")
    assert known(dsn) == before
    await round_of(rt)
    assert jobs(dsn) == ["fuse", "consolidation"]


async def test_two_evolvers_run_one_round_for_each_user(rt: Runtime, dsn: str) -> None:
    users = [Subject("t", f"u{n}") for n in range(12)]
    for subject in users:
        (memory_id,) = await stand(rt, version(f"Likes tea {subject.user_id}"), subject=subject)
        figure(dsn, memory_id, "correction_count = 3")
    async with evolver(dsn) as twin:
        # both have listed the same waiting users
        done = await asyncio.gather(*(rounds.keep(each, subject, None) for subject in users for each in (rt, twin)))
    assert sum(changes is not None for changes in done) == len(users)
    assert jobs(dsn) == ["fuse"] * len(users)


async def test_waiting_users_are_queried_once_per_round(rt: Runtime, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await stand(rt, version("Likes tea"))
    await change(
        dsn,
        "INSERT INTO memory_items (tenant_id, user_id, memory_id, root_id, version, type, content_text, content_hash,"
        " status, confidence, provenance_class, assertion, valid_at) SELECT tenant_id, 'u' || n, memory_id, root_id,"
        " version, type, content_text, content_hash, status, confidence, provenance_class, assertion, valid_at"
        " FROM memory_items, generate_series(1, 220) AS n",
    )
    asked: list[int] = []
    waiting = journal.load_waiting

    async def counted(*given: Any) -> list[journal.Waiting]:
        found = await waiting(*given)
        asked.append(len(found))
        return found

    monkeypatch.setattr(journal, "load_waiting", counted)
    assert await rounds.keep_all(rt) == 221
    assert asked == [221]


async def test_other_work_continues_while_memories_are_compared(
    rt: Runtime, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare, threads = merge.groups, list[threading.Thread]()

    def seen(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return compare(*given)

    monkeypatch.setattr(merge, "groups", seen)
    await stand(rt, *(version(text, n) for n, text in enumerate(SAME["en"])))
    await round_of(rt)
    assert jobs(dsn) == ["consolidation"]
    assert threading.main_thread() not in threads


async def test_a_failing_user_does_not_delay_the_others(rt: Runtime, dsn: str) -> None:
    for user in ("bad", "good"):
        (memory_id,) = await stand(rt, version(f"Likes tea {user}"), subject=Subject("t", user))
        figure(dsn, memory_id, "correction_count = 3")
    await change(dsn, "ALTER TABLE upkeep ADD CONSTRAINT no CHECK (user_id <> 'bad')")
    await change(dsn, "UPDATE memory_items SET updated_at = now() - interval '1 hour'")
    await rounds.keep_all(rt)
    assert [each["user_id"] for each in rows(dsn, "SELECT user_id FROM upkeep")] == ["good"]
    await change(dsn, "UPDATE memory_items SET updated_at = now() - interval '1 hour'")
    assert await rounds.keep_all(rt) == 0, "who is in trouble waits for news"


async def test_a_user_without_changes_is_checked_once_a_day(rt: Runtime, dsn: str) -> None:
    (memory_id,) = await stand(rt, version("Likes tea"))
    old = "UPDATE memory_items SET updated_at = now() - interval '1 hour'"
    await change(dsn, old)
    assert await rounds.keep_all(rt) == 1
    assert await rounds.keep_all(rt) == 0
    assert await rounds.keep_now(rt, LIN, forced=False) is None
    figure(dsn, memory_id, "updated_at = now()")
    assert await rounds.keep_all(rt) == 1
    await change(dsn, old)
    figure(dsn, memory_id, "valid_until = now()")
    assert await rounds.keep_all(rt) == 1
    assert row(dsn, memory_id)["status"] == "expired"
    await stand(rt, version("Likes coffee", 1))
    await change(dsn, old)
    assert await rounds.keep_all(rt) == 0
    await change(dsn, "UPDATE upkeep_rounds SET at = at - interval '25 hours'")
    assert await rounds.keep_all(rt) == 1


async def test_three_rejections_suspend_a_memory_and_the_users_statement_restores_it(rt: Runtime, dsn: str) -> None:
    (bad, good) = await stand(rt, version("Likes jasmine tea", confidence=0.6), version("喜欢喝龙井茶", 1))
    await receptions.apply_feedback(rt, LIN, [reception([bad, good]), reception([bad])])
    assert found_by_words(dsn, bad)
    await receptions.apply_feedback(rt, LIN, [reception([bad])])
    hidden = row(dsn, bad)
    assert hidden["confidence"] == pytest.approx(0.1)
    assert hidden["fused_from"] == pytest.approx(0.45)
    assert not found_by_words(dsn, bad)
    assert found_by_words(dsn, good)
    assert jobs(dsn) == ["feedback", "feedback", "feedback", "fuse"]
    assert [change for change, _ in told(dsn)] == ["calibrated"] * 4 + ["fused"]
    async with rt.db.transaction(LIN) as conn:
        assert await user_state.core(LIN, 10).on(conn) == []
    assert await round_of(rt) == []


async def test_a_reception_in_a_degraded_turn_does_not_count(rt: Runtime, dsn: str) -> None:
    (memory_id,) = await stand(rt, version("Likes jasmine tea"))
    before = known(dsn)
    await receptions.apply_feedback(rt, LIN, [reception([memory_id], degraded=True) for _ in range(5)])
    assert known(dsn) == before


async def test_a_repeated_event_is_one_row_of_the_journal(rt: Runtime, dsn: str) -> None:
    (memory_id,) = await stand(rt, version("Likes jasmine tea"))
    event = reception([memory_id], signal="positive_confirm")
    await receptions.apply_feedback(rt, LIN, [event, event])
    await receptions.apply_feedback(rt, LIN, [event])
    assert jobs(dsn) == ["feedback"]
    assert row(dsn, memory_id)["positive_count"] == 1


async def test_replaying_the_journal_gives_the_same_memories(rt: Runtime, dsn: str, databases: Databases) -> None:
    walks = [version(text, n) for n, text in enumerate((*SAME["zh"], *SAME["en"]))]
    others = [version(f"Likes number {n}", 10 + n) for n in range(4)]
    again = databases.fresh()
    figures = {1: "valid_until = '2026-11-02'", 2: "last_validated_at = now() - interval '200 days'"}
    ids = await stand(rt, *walks, *others)
    async with evolver(again) as other:
        await stand(other, *walks, *others)
        for n, figures_ in figures.items():
            for database in (dsn, again):
                figure(database, others[n].memory_id, figures_)
        await change(again, "UPDATE memory_items SET last_validated_at = '2026-11-05', created_at = '2026-11-05'")
        await change(dsn, "UPDATE memory_items SET last_validated_at = '2026-11-05', created_at = '2026-11-05'")
        await receptions.apply_feedback(rt, LIN, [reception([ids[6], ids[9]]) for _ in range(2)])
        await receptions.apply_feedback(rt, LIN, [reception([ids[6]]), reception([ids[9]], signal="positive_confirm")])
        await change(dsn, "UPDATE memory_items SET injection_count = 5")
        await change(again, "UPDATE memory_items SET injection_count = 5")
        await round_of(rt)
        done = journal_of(dsn)
        assert {r.job for r in done} == {"feedback", "fuse", "expiry", "calibration", "consolidation"}
        for record in done:
            async with other.db.transaction(LIN) as conn:
                await apply(conn, LIN, [record], other.policy)
    memories = "SELECT to_jsonb(m) - 'created_at' - 'updated_at' AS row FROM memory_items m ORDER BY memory_id"
    assert rows(again, memories) == rows(dsn, memories)
    visible = "SELECT memory_id, chunk_id, active, text FROM memory_chunks ORDER BY memory_id"
    assert rows(again, visible) == rows(dsn, visible)


async def test_inactive_memories_are_left_alone(rt: Runtime, dsn: str) -> None:
    ids = await stand(rt, *(version(text, n) for n, text in enumerate(SAME["en"])))
    await round_of(rt)
    done, before = journal_of(dsn), known(dsn)
    async with rt.db.transaction(LIN) as conn:
        assert await apply(conn, LIN, done, rt.policy) == []
        assert await keeping.active(conn, LIN, ids) == []
    assert known(dsn) == before
