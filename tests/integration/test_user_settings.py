"""Settings cached by a process: read once, and again after a notified change or a short time."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from shared.db import Database
from shared.domain.subjects import Subject
from shared.runtime import UserSettings
from shared.store import user_settings
from shared.store.operator_acts import Operator
from tests.system.databases import Databases
from tests.system.wait import wait_for

ANNA, TENANT = Subject("t", "anna"), Subject("t", user_settings.OF_TENANT)


@pytest.fixture
async def db(databases: Databases) -> AsyncGenerator[Database]:
    """The pools on a new database."""
    found = Database(databases.fresh(), size=2)
    await found.open()
    yield found
    await found.close()


async def choose(db: Database, owner: Subject, **changes: object) -> None:
    """Stores these settings."""
    async with db.transaction(owner) as conn:
        await user_settings.change(conn, owner, changes, Operator("test"))


async def test_another_process_is_notified_of_a_change_at_once(db: Database) -> None:
    known = UserSettings(db, keep_s=600)
    listening = asyncio.create_task(known.listen())
    try:
        await wait_for(lambda: known.hears, "it listens")
        assert (await known.find(ANNA)).user == {}
        await choose(db, ANNA, learning=False)

        async def heard() -> bool:
            return (await known.find(ANNA)).user == {"learning": False}

        await wait_for(heard, "the change is heard of")
        await choose(db, TENANT, language="zh", inject_limit=3)

        async def heard_of_tenant() -> bool:
            return (await known.find(ANNA)).tenant == {"language": "zh", "inject_limit": 3}

        await wait_for(heard_of_tenant, "the change of the tenant is heard of")
        await choose(db, TENANT, language=None)

        async def back() -> bool:
            return (await known.find(ANNA)).tenant == {"inject_limit": 3}

        await wait_for(back, "what is not chosen any more is gone")
    finally:
        listening.cancel()


async def test_without_notifications_cached_settings_are_used_for_a_short_time_only(db: Database) -> None:
    now = 0.0
    known = UserSettings(db, keep_s=2, monotonic=lambda: now)
    assert (await known.find(ANNA)).user == {}
    await choose(db, ANNA, learning=False)
    now = 1.9
    assert (await known.find(ANNA)).user == {}
    now = 2.1
    assert (await known.find(ANNA)).user == {"learning": False}


async def test_losing_notifications_clears_the_cache(db: Database) -> None:
    known = UserSettings(db, keep_s=600)
    known.note_change(None)
    assert (await known.find(ANNA)).user == {}
    known.note_deaf()
    await choose(db, ANNA, learning=False)
    assert (await known.find(ANNA)).user == {"learning": False}
    await choose(db, ANNA, learning=None)
    assert (await known.find(ANNA)).user == {}
