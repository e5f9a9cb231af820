"""Users' settings are read together with other rows: no package and no step of a worker needs another round trip."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from schemas.compose import ComposeRequest
from schemas.retrieval_plan import RetrieveRequest
from services.analyzer.handler import propose
from services.observer.handler import observe_again, observe_turns
from shared.domain.subjects import Subject
from shared.runtime import Runtime, UserSettings
from tests.system.composing import compose_package, retrieve
from tests.system.person import Person

pytestmark = pytest.mark.usefixtures("system")
ASKED: ContextVar[list[str] | None] = ContextVar("asked", default=None)
"""The database requests of this test and its calls, without those of other parts of the process."""


async def compose(rt: Runtime, owner: Subject) -> None:
    """Composes a package."""
    named = {"tenant_id": owner.tenant_id, "user_id": owner.user_id, "session_id": "s2", "deadline_ms": 20_000}
    await compose_package(ComposeRequest.model_validate({**named, "user_message": "Where do I live? 我住哪儿？"}), rt)


async def execute_plan(rt: Runtime, owner: Subject) -> None:
    """Executes a caller's plan."""
    query = {"query_id": "q", "text": "Oslo", "retrieval_mode": "exact"}
    named = {"tenant_id": owner.tenant_id, "user_id": owner.user_id}
    await retrieve(RetrieveRequest.model_validate({**named, "version": "0.1", "queries": [query]}), rt)


STEPS: Mapping[str, Callable[[Runtime, Subject], Awaitable[None]]] = {
    "a package": compose,
    "a plan": execute_plan,
    "observing": lambda rt, owner: observe_turns(rt, owner, []),
    "observing again": lambda rt, owner: observe_again(rt, owner, []),
    "analyzing": lambda rt, owner: propose(rt, owner, []),
}


@contextmanager
def count_trips() -> Iterator[list[str]]:
    """Each single statement and each pipeline while the block lasts."""
    execute, pipeline = psycopg.AsyncConnection.execute, psycopg.AsyncConnection.pipeline

    async def note_execute(self: psycopg.AsyncConnection, query: Any, *params: Any, **options: Any) -> Any:
        asked = ASKED.get()
        if asked is not None and self.info.pipeline_status == psycopg.pq.PipelineStatus.OFF:
            asked.append(str(query))
        return await execute(self, query, *params, **options)

    def note_pipeline(self: psycopg.AsyncConnection) -> Any:
        asked = ASKED.get()
        if asked is not None:
            asked.append("pipeline")
        return pipeline(self)

    asked: list[str] = []
    token = ASKED.set(asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.AsyncConnection, "execute", note_execute)
        patch.setattr(psycopg.AsyncConnection, "pipeline", note_pipeline)
        yield asked
    ASKED.reset(token)


@pytest.mark.parametrize("step", STEPS)
async def test_settings_cost_no_round_trip(person: Person, step: str) -> None:
    await person.say("I live in Oslo. 我喜欢喝龙井茶。")
    rt, owner = person.system["compose"].rt, Subject(person.tenant_id, person.user_id)
    known, unknown = UserSettings(rt.db, keep_s=600), UserSettings(rt.db, keep_s=0)
    await known.find(owner)
    await STEPS[step](rt, owner)
    trips: list[int] = []
    for settings in (known, unknown):
        with count_trips() as asked:
            await STEPS[step](replace(rt, user_settings=settings), owner)
        trips.append(len(asked))
    assert unknown.find_kept(owner) is None
    assert trips[0] == trips[1] > 0


async def test_settings_read_with_other_rows_take_effect_and_are_cached(person: Person) -> None:
    answer = await person.system.http.patch("/v1/settings", params=person.whose, json={"inject_limit": 0})
    assert answer.status_code == 200
    rt, owner = person.system["compose"].rt, Subject(person.tenant_id, person.user_id)
    fresh = replace(rt, user_settings=UserSettings(rt.db, keep_s=600))
    owned, *_ = await fresh.read_of(owner)
    assert owned.policy.compose.inject_limit == 0
    async with replace(rt, user_settings=UserSettings(rt.db, keep_s=600)).transaction_of(owner) as (also, conn):
        assert also.policy.compose.inject_limit == 0
        row = await (await conn.execute("SELECT current_setting('app.user') AS owner")).fetchone()
    assert row == {"owner": person.user_id}
    assert fresh.user_settings
    kept = fresh.user_settings.find_kept(owner)
    assert kept
    assert kept.user == {"inject_limit": 0}
