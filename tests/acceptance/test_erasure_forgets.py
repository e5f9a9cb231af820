"""An erasure clears the cached user text of every compose process."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

import httpx
import pytest

from services.compose import app as compose
from shared.domain.subjects import Subject
from shared.runtime import open_runtime
from tests.system.person import Person
from tests.system.running import Running, System
from tests.system.wait import wait_for

SAID = {"en": "My therapist is called Brunhilde.", "zh": "我的心理医生叫布伦希尔德。"}
ASKED = {"en": "Who is my therapist?", "zh": "我的心理医生是谁？"}


@pytest.fixture
async def twin(system: System) -> AsyncGenerator[Running]:
    """A second compose process with its caches; the observer is stopped, so turns stay pending."""
    await system.stop("observer")
    stack = AsyncExitStack()
    rt = await stack.enter_async_context(open_runtime(system.settings, "compose"))
    second = Running("compose", rt, compose.build(rt), stack)
    await wait_for(second.ready, "the second compose is ready")
    yield second
    await second.stop()
    await system.start("observer")


def door(of: Running) -> httpx.AsyncClient:
    """Its HTTP interface."""
    assert of.service.http
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=of.service.http), base_url="http://compose")


def count_cached_turns(of: Running, person: Person) -> int:
    """The number of the user's turns in the process's cache."""
    return of.rt.read_turns.count(Subject(person.tenant_id, person.user_id))


@pytest.mark.parametrize("scope", ["personal", "session"])
async def test_cached_texts_of_pending_turns_are_cleared_by_the_erasure(
    person: Person, twin: Running, scope: str
) -> None:
    first = person.system["compose"]
    other = Person(person.system)
    for each in (person, other):
        for text in SAID.values():
            await each.commit(text)
        for asked in ASKED.values():
            body = {**each.whose, "session_id": "s2", "user_message": asked}
            for at in (first, twin):
                async with door(at) as http:
                    assert (await http.post("/v1/context", json=body)).status_code == 200
    assert [count_cached_turns(at, each) for at in (first, twin) for each in (person, other)] == [2, 2, 2, 2]
    more = {"session_ids": ["s1"]} if scope == "session" else {}
    asked = await person.post("/v1/erasures", {**person.whose, "scope": scope, **more})
    assert asked.status_code == 202, asked.text
    assert count_cached_turns(first, person) == 0
    await wait_for(lambda: not count_cached_turns(twin, person), "the other process has forgotten")
    assert [count_cached_turns(at, other) for at in (first, twin)] == [2, 2]
