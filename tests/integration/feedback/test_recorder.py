"""The recorder of injections is bounded, delays nothing, isolates invalid packages, and deletes old rows."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from prometheus_client import REGISTRY

from schemas.compose import ComposeRequest, IncomingMessage
from schemas.context_package import Constraints, ContextPackage, TokenBudget, UserMessage
from services.compose.context.stages import (
    NOTHING_TO_REPORT,
    Composition,
    MemoryState,
    PlanningResult,
    RankingResult,
    ResolutionResult,
    SearchRequest,
    SearchResult,
)
from services.compose.receipts import recorder as recording
from services.compose.receipts.recorder import Recorder
from services.compose.rules.packing.draft import Allocation, BudgetSignals, PackagedContext
from services.compose.rules.pending.pending_changes import NOTHING
from services.compose.rules.planning.plan import PlanPolicy, execute_composed, plan_search
from services.compose.rules.ranking.fuse import FusePolicy, FusionResult
from shared import clock
from shared.db import Database
from shared.domain.subjects import Subject
from shared.knowledge.port import Scope
from shared.policy import FeedbackPolicy, PersonalDataPolicy, Policy
from shared.store import contexts
from tests.system.databases import change, number, rows
from tests.system.wait import wait_for


@pytest.fixture
async def db(dsn: str) -> AsyncGenerator[Database]:
    """The pools on a new database."""
    found = Database(dsn, size=2)
    await found.open()
    yield found
    await found.close()


def make_request(user: str = "u", session: str = "s") -> ComposeRequest:
    """A request of this user."""
    return ComposeRequest(user_id=user, session_id=session, user_message=IncomingMessage(content="?"))


def make_composition(user: str = "u", session: str = "s", *degraded: str) -> Composition:
    """An empty package as composed for this user."""
    package = ContextPackage(
        context_id=str(uuid4()),
        session_id=session,
        created_at=clock.now(),
        user_message=UserMessage(content="?"),
        constraints=Constraints(token_budget=TokenBudget(limit=8192, used_estimate=1)),
        degraded_reason=list(degraded),
    )
    planned = plan_search("?", (), clock.now(), PlanPolicy())
    shares = Allocation(8192, 410, "8k", "static", "fixed_priority", BudgetSignals(), {})
    fused = FusionResult((), (), 0)
    return Composition(
        request=make_request(user, session),
        package=package,
        planning=PlanningResult(planned),
        wanted=SearchRequest(execute_composed(planned.plan, ()), MemoryState(NOTHING, Scope("t", "", "", user), 0, 0)),
        search=SearchResult(),
        ranking=RankingResult(FusePolicy(), fused),
        resolution=ResolutionResult(fused),
        packaged=PackagedContext(package, (), (), (), shares, budget_exceeded=False),
        report=NOTHING_TO_REPORT,
        took_ms=1.0,
        epoch=0,
        ended=(0.0,) * 7,
        personal=PersonalDataPolicy(),
    )


def recorder_on(db: Database, waiting_max: int = 100) -> Recorder:
    """A recorder with this capacity."""
    return Recorder(db, Policy(feedback=FeedbackPolicy(injections_waiting_max=waiting_max)), "v")


def count_dropped(reason: str) -> float:
    """The number of packages dropped for this reason."""
    return REGISTRY.get_sample_value("smartbrain_injections_dropped_total", {"reason": reason}) or 0.0


COUNT = "SELECT count(*) FROM injections"


async def test_packages_of_many_users_are_in_their_own_rows(db: Database, dsn: str) -> None:
    async with recorder_on(db, 1000) as recorder:
        for n in range(300):
            await recorder.note(make_composition(f"u{n % 7}"))
    assert number(dsn, COUNT) == 300
    assert number(dsn, "SELECT count(DISTINCT user_id) FROM injections") == 7


async def test_packages_beyond_the_capacity_wait_and_are_written(db: Database, dsn: str) -> None:
    before = count_dropped("waiting")
    async with recorder_on(db, 2) as recorder:
        await asyncio.gather(*(recorder.note(make_composition()) for _ in range(100)))
    assert (count_dropped("waiting"), number(dsn, COUNT)) == (before, 100)


async def test_packages_without_any_room_are_counted_and_the_rest_is_written(
    db: Database, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "PLACE_S", 0.05)
    before, recorder = count_dropped("waiting"), recorder_on(db, 10)
    await asyncio.gather(*(recorder.note(make_composition()) for _ in range(15)))
    assert count_dropped("waiting") - before == 5
    async with recorder:
        await wait_for(lambda: number(dsn, COUNT) == 10, "what waited is written")


async def test_a_package_that_the_table_refuses_does_not_affect_others(db: Database, dsn: str) -> None:
    await change(dsn, "ALTER TABLE injections ADD CONSTRAINT no CHECK (session_id <> 'bad')")
    before = count_dropped("refused")
    async with recorder_on(db) as recorder:
        for session in ("a", "bad", "b"):
            await recorder.note(make_composition(session=session))
        await wait_for(lambda: number(dsn, COUNT) == 2, "the others are written")
    assert count_dropped("refused") - before == 1


async def test_an_answered_package_is_open_until_it_is_written_or_dropped(
    db: Database, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "PLACE_S", 0.05)
    await change(dsn, "ALTER TABLE injections ADD CONSTRAINT no CHECK (session_id <> 'bad')")
    recorder = recorder_on(db, 3)
    for session in ("a", "bad", "b", "no place"):
        await recorder.note(make_composition(session=session))
    assert recorder.open == 3
    async with recorder:
        await wait_for(lambda: not recorder.open, "nothing is open")
        assert number(dsn, COUNT) == 2


async def test_an_unreadable_package_is_counted_without_an_error(db: Database, dsn: str) -> None:
    before, whole = count_dropped("refused"), make_composition()
    bad = replace(whole, package=whole.package.model_copy(update={"context_id": "no uuid"}))
    async with recorder_on(db) as recorder:
        await recorder.note(bad)
        await recorder.note(whole)
        await recorder.wait_until_recorded(Subject("default", "u"), "s")
    assert count_dropped("refused") - before == 1
    assert number(dsn, COUNT) == 1


async def test_a_stop_waits_for_a_missing_table_up_to_its_limit(
    db: Database, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "WRITE_S", 0.3)
    await change(dsn, "ALTER TABLE injections RENAME TO elsewhere")
    before = count_dropped("stopped")
    async with asyncio.timeout(60), recorder_on(db) as recorder:
        for _ in range(3):
            await recorder.note(make_composition())
    assert count_dropped("stopped") - before == 3


async def test_a_permanently_missing_part_is_not_a_degraded_turn(db: Database, dsn: str) -> None:
    async with recorder_on(db) as recorder:
        await recorder.note(make_composition("u", "whole", "content_type_unsupported"))
        await recorder.note(make_composition("u", "late", "content_type_unsupported", "text_timeout"))
    assert {r["session_id"]: r["degraded"] for r in rows(dsn, "SELECT session_id, degraded FROM injections")} == {
        "whole": False,
        "late": True,
    }


async def test_old_injections_receipts_and_packages_are_deleted(db: Database, dsn: str) -> None:
    async with recorder_on(db) as recorder:
        for session in ("old", "new"):
            await recorder.note(make_composition(session=session))
    tables = ("injections", "memory_receipts", "context_packages")
    for table in tables:
        await change(dsn, f"UPDATE {table} SET created_at = now() - interval '31 days' WHERE session_id = 'old'")  # noqa: S608
    async with db.system() as conn:
        assert await contexts.prune_injections(conn, timedelta(days=30), 100) == 1
        assert await contexts.prune(conn, timedelta(days=30), timedelta(days=7), 100) == 3
    for table in tables:
        assert {r["session_id"] for r in rows(dsn, f"SELECT session_id FROM {table}")} == {"new"}  # noqa: S608
