"""Limits: a flooding client is refused with a waiting time and affects nobody else; bodies and requests are bounded."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import httpx
import psycopg
import pytest
from prometheus_client import REGISTRY

from schemas.turn_events import MAX_BODY_BYTES
from tests.system.databases import Databases
from tests.system.keys import Headers, add_key, with_key
from tests.system.person import Person
from tests.system.running import System, listening, policy_file, running, settings_for
from tests.system.wait import wait_for

TIGHT = {
    "key_per_s": 0.25,
    "key_burst": 4,
    "key_at_once": 2,
    "user_per_s": 0.25,
    "user_burst": 2,
    "requests_at_once": 3,
    "request_s": 3.0,
}


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Compose with low limits."""
    policy = policy_file(tmp_path_factory.mktemp("policy"), limits=TIGHT)
    async with running(settings_for(databases.fresh(), kafka, policy=policy), ("compose",)) as compose:
        yield compose


async def new_key(system: System, person: Person) -> Headers:
    """The header of a new key of the user's tenant."""
    return with_key(await add_key(system["compose"].rt.db, person.tenant_id))


async def list_sessions(system: System, headers: Headers, user_id: str | None = None) -> httpx.Response:
    """The response to a request about a user; a new user unless one is given."""
    params = {"user_id": user_id or uuid4().hex}
    return await system.http.get("/v1/sessions", params=params, headers=headers)


def count_limited(limit: str) -> float:
    """The number of requests that exceeded this limit."""
    return REGISTRY.get_sample_value("smartbrain_requests_limited_total", {"limit": limit}) or 0.0


def assert_refused(answer: httpx.Response, field: str, limit: str) -> None:
    """429 with the exceeded limit and the waiting time."""
    told = answer.json()
    assert (answer.status_code, told["code"], told["details"][0]["field"]) == (429, "rate_limited", field), told
    assert limit in told["message"]
    assert 1 <= int(answer.headers["retry-after"]) <= 4
    assert told["request_id"] == answer.headers["x-request-id"]


async def test_a_key_that_exceeds_its_rate_waits_and_another_does_not(system: System, person: Person) -> None:
    flooding, other = await new_key(system, person), await new_key(system, person)
    before = count_limited("key_per_s")
    answers = [await list_sessions(system, flooding) for _ in range(6)]
    assert [each.status_code for each in answers[:4]] == [200] * 4
    assert_refused(answers[-1], "key", "limits.key_per_s")
    assert count_limited("key_per_s") > before
    assert (await list_sessions(system, other)).status_code == 200
    # a probe passes the limit; it gets 404 because probes are added where compose is served
    assert (await system.http.get("/live", headers=flooding)).status_code == 404

    async def goes_again() -> bool:
        return (await list_sessions(system, flooding)).status_code == 200

    await wait_for(goes_again, "a token has come back")


async def test_a_user_who_exceeds_the_rate_waits_whichever_key_is_used(system: System, person: Person) -> None:
    first, second = await new_key(system, person), await new_key(system, person)
    for headers in (first, second):
        assert (await list_sessions(system, headers, person.user_id)).status_code == 200
    assert_refused(await list_sessions(system, first, person.user_id), "user_id", "limits.user_per_s")
    written = await system.http.post("/v1/turns", json=person.turn("I like tea."), headers=second)
    assert_refused(written, "user_id", "limits.user_per_s")
    assert system.number("SELECT count(*) FROM turns WHERE tenant_id = %(t)s", t=person.tenant_id) == 0
    assert (await list_sessions(system, second, "somebody else")).status_code == 200


@asynccontextmanager
async def standing_still(system: System) -> AsyncGenerator[None]:
    """Reading sessions blocks."""
    async with await psycopg.AsyncConnection.connect(system.dsn) as conn:
        await conn.execute("LOCK TABLE smart_brain.sessions IN ACCESS EXCLUSIVE MODE")
        yield


async def test_concurrent_requests_are_bounded_per_key_and_in_total_and_refused_in_time(
    system: System, person: Person
) -> None:
    one, two = await new_key(system, person), await new_key(system, person)
    async with standing_still(system), listening(system) as url, httpx.AsyncClient(base_url=url) as http:
        waiting = [asyncio.create_task(list_sessions(system, one)) for _ in range(2)]
        await asyncio.sleep(0.2)  # both are in progress
        assert_refused(await list_sessions(system, one), "key", "limits.key_at_once")
        waiting.append(asyncio.create_task(list_sessions(system, two)))
        await asyncio.sleep(0.2)
        busy = await list_sessions(system, two)
        told = busy.json()
        assert (busy.status_code, told["code"], busy.headers["retry-after"]) == (503, "busy", "1"), told
        assert (await http.get("/ready")).status_code == 404
        for answer in await asyncio.gather(*waiting):
            assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (503, "timeout", "1")
    assert (await list_sessions(system, two)).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/turns"), ("POST", "/v1/context"), ("DELETE", "/v1/memories?user_id=lin"), ("PUT", "/v1/media/a")],
)
async def test_an_endless_body_is_read_up_to_the_limit_only(
    system: System, person: Person, method: str, path: str
) -> None:
    sent = 0

    async def flow() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(100):
            sent += 65_536
            yield b" " * 65_536

    headers = await new_key(system, person)
    answer = await system.http.request(method, path, content=flow(), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large"), answer.text
    assert MAX_BODY_BYTES < sent <= MAX_BODY_BYTES + 65_536
