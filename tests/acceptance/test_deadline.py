"""A package arrives within its deadline and names its missing parts."""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from shared.db import Read
from shared.store import search, turns, user_state
from tests.system.databases import Databases
from tests.system.person import Person, shown
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import IN_TIME_S


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service; a plan or package has two seconds by default and four at most."""
    policy = policy_file(
        tmp_path_factory.mktemp("policy"),
        compose={"deadline_ms": 2000, "deadline_max_ms": 4000},
        evolution={"every_s": 3600},
    )
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


def slow(*_: Any) -> Read[list[Any]]:
    return Read("SELECT pg_sleep(30)", {}, list)


async def test_a_slow_arm_is_named_and_the_rest_arrives_in_time(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    await person.say("I prefer green tea.")
    monkeypatch.setattr(search, "words", slow)
    began = time.monotonic()
    package = await person.compose("Which tea do I prefer?", deadline_ms=3000)
    assert time.monotonic() - began < IN_TIME_S
    assert "text_timeout" in package.degraded_reason
    assert "green tea" in shown(package)
    assert package.debug
    assert {arm.status for arm in package.debug.explain.arms if arm.arm.startswith("text")} == {"timeout"}
    monkeypatch.undo()
    again = await person.compose("Which tea do I prefer?")
    assert "text_timeout" not in again.degraded_reason


async def test_a_failed_arm_is_named_and_the_rest_arrives(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    await person.say("I prefer green tea.")

    def broken(*_: Any) -> Any:
        return Read("SELECT 1 / 0", {}, list)

    monkeypatch.setattr(search, "words", broken)
    package = await person.compose("Which tea do I prefer?")
    assert "text_unavailable" in package.degraded_reason
    assert "green tea" in shown(package)


async def test_a_package_is_refused_in_time_when_the_database_is_slow(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_state, "core", slow)
    began = time.monotonic()
    answer = await person.post(
        "/v1/context", {**person.whose, "session_id": "s", "user_message": "tea?", "deadline_ms": 1000}
    )
    assert time.monotonic() - began < IN_TIME_S
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert answer.headers["retry-after"]


async def test_a_plan_is_refused_in_time_when_the_database_is_slow(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "load_pending", slow)
    began = time.monotonic()
    plan = {"version": "0.1", "queries": [{"text": "tea"}]}
    answer = await person.post("/v1/retrieve", {**person.whose, **plan})
    assert time.monotonic() - began < IN_TIME_S
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")


async def test_the_policys_deadline_applies_to_packages_that_name_none(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two seconds here, for packages and plans; a request may name another, up to the policy's maximum."""
    await person.say("I prefer green tea.")
    monkeypatch.setattr(search, "words", slow)
    asked = {**person.whose, "session_id": "s2", "user_message": "Which tea do I prefer?"}
    began = time.monotonic()
    answer = await person.post("/v1/context", asked)
    took = time.monotonic() - began
    assert answer.status_code == 200, answer.text
    assert "text_timeout" in answer.json()["degraded_reason"]
    assert took > 1.2
    capped = await person.post("/v1/context", {**asked, "deadline_ms": 30_000})
    assert "text_timeout" in capped.json()["degraded_reason"]
    assert time.monotonic() - began < 2 * IN_TIME_S


async def test_many_slow_requests_do_not_exhaust_the_connections(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    await person.say("I prefer green tea.")

    with monkeypatch.context() as patch:
        patch.setattr(search, "words", slow)
        packages = await asyncio.gather(*(person.compose("tea?", deadline_ms=5000) for _ in range(6)))
        assert all("text_timeout" in package.degraded_reason for package in packages)
    assert "green tea" in shown(await person.compose("Which tea do I prefer?"))


async def test_without_a_model_nothing_is_degraded(person: Person) -> None:
    assert (await person.compose("tea?")).degraded_reason == []


async def test_a_request_without_a_database_is_refused_as_a_transient_error(databases: Databases, kafka: str) -> None:
    dsn = databases.fresh()
    async with running(settings_for(dsn, kafka), ("compose",)) as alone:
        person = Person(alone)
        databases.drop(dsn)
        answer = await person.post("/v1/turns", person.turn("I like tea."))
        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
        question = {**person.whose, "session_id": "s", "user_message": "tea?", "deadline_ms": 1000}
        asked = await person.post("/v1/context", question)
        assert (asked.status_code, asked.json()["code"]) == (503, "unavailable")
