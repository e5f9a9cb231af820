"""Concurrent requests and commits over Kafka: each requester receives its own answer and no data of others."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator

import pytest

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.envelope import user_key
from schemas.topics import COMPOSE_REPLY, COMPOSE_REQUEST, TURN_COMMIT
from shared.bus.access import KafkaAccess
from shared.bus.requests import Asker
from shared.client import SmartBrain
from tests.system.databases import Databases
from tests.system.kafka import Stored, publish, read
from tests.system.known import SESSION, Known, known, strangers
from tests.system.person import Person
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka

ASKED = ("What tea do I like, and where do I live?", "我喜欢喝什么茶？住在哪里？")


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, on its own database; no timer changes memories."""
    policy = policy_file(tmp_path_factory.mktemp("policy"), evolution={"every_s": 3600})
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


@pytest.fixture(scope="module")
async def everybody(system: System) -> list[Known]:
    """A user, another in the same tenant, and one of the same name in another tenant; each has data of every kind."""
    anna = await known(Person(system))
    return [anna, *[await known(each) for each in strangers(anna).values()]]


async def at_rest(of: Known) -> dict[str, list[str]]:
    """Every row of a user, once the user's packages are recorded."""
    await of.person.get("/v1/contexts")
    await of.person.system.settled()
    return of.rows()


def others(of: Known, everybody: list[Known]) -> list[str]:
    """The words and ids of all other users."""
    return [each for other in everybody if other is not of for each in (*other.words, *other.ids)]


async def test_each_requester_receives_its_own_package_and_no_data_of_others(everybody: list[Known]) -> None:
    system = everybody[0].person.system
    asked = [(each, text) for _ in range(6) for text in ASKED for each in everybody]
    async with SmartBrain(system.bootstrap) as one, SmartBrain(system.bootstrap) as two:

        async def ask(number: int, each: Known, text: str) -> ContextPackage:
            client = (one, two)[number % 2]
            return await client.compose(
                **each.person.whose, session_id=SESSION, user_message=text, deadline_ms=20_000, timeout_s=30
            )

        packages = await asyncio.gather(*(ask(n, *each) for n, each in enumerate(asked)))
    for (each, text), package in zip(asked, packages, strict=True):
        told = package.model_dump_json()
        assert package.user_message.content == text
        assert each.shown_in(told), "the asker is shown something of its own"
        assert not [word for word in others(each, everybody) if word in told.lower()]
    assert len({package.context_id for package in packages}) == len(asked)


async def test_a_user_without_data_receives_no_data_of_others(everybody: list[Known]) -> None:
    anna = everybody[0]
    before = await at_rest(anna)
    for stranger in strangers(anna).values():
        async with SmartBrain(stranger.system.bootstrap) as brain:
            for text in ASKED:
                package = await brain.compose(
                    **stranger.whose, session_id=SESSION, user_message=text, deadline_ms=20_000, timeout_s=30
                )
                assert not package.evidence
                assert not [w for known_ in everybody for w in (*known_.words, *known_.ids) if w in str(package)]
    assert await at_rest(anna) == before


async def test_every_answer_goes_once_to_the_partition_of_its_requester(everybody: list[Known]) -> None:
    system = everybody[0].person.system
    askers = [Asker(KafkaAccess(system.bootstrap)) for _ in everybody]
    start = len(await read(system.bootstrap, COMPOSE_REPLY.name))
    for asker in askers:
        await asker.start()
    try:
        answers = await asyncio.gather(
            *(
                asker.ask(COMPOSE_REQUEST, _request(each, text), timeout_s=30)
                for asker, each in zip(askers, everybody, strict=True)
                for text in ASKED
            )
        )
    finally:
        for asker in askers:
            await asker.stop()
    replies = [r for r in await read(system.bootstrap, COMPOSE_REPLY.name) if (r.value or b"") in set(answers)]
    assert start + len(answers) <= len(await read(system.bootstrap, COMPOSE_REPLY.name))
    assert len(replies) == len(answers)
    assert {*Counter(dict(reply.headers)["correlation_id"] for reply in replies).values()} == {1}
    for reply in replies:
        (whose,) = [each for each in everybody if each.shown_in((reply.value or b"").decode())]
        asker = askers[everybody.index(whose)]
        assert reply.partition == asker._partition  # pyright: ignore[reportPrivateUsage] # its reply partition


def _request(of: Known, text: str) -> bytes:
    fields = {**of.person.whose, "session_id": SESSION, "user_message": text, "deadline_ms": 20_000}
    return ComposeRequest.model_validate(fields).model_dump_json().encode()


async def test_a_turn_that_references_another_users_objects_changes_nothing_of_them(everybody: list[Known]) -> None:
    anna, *rest = everybody
    before = await at_rest(anna)
    item = {"type": "preference", "memory_id": anna.memory_id}
    async with SmartBrain(anna.person.system.bootstrap) as brain:
        for each in rest:
            for more in ({"items": [{**item, "retract": True}]}, {"items": [{**item, "text": "likes water"}]}):
                made = await brain.commit(**each.person.whose, session_id=SESSION, timeout_s=30, **more)
                outcome = await each.person.outcome(str(made.turn_id))
                assert not anna.shown_in(f"{made.model_dump_json()} {outcome}")
            said = [{"role": "user", "content": "不对，我不喜欢喝茶了。"}]
            await brain.commit(
                **each.person.whose, session_id=SESSION, messages=said, context_id=anna.context_id, timeout_s=30
            )
    assert await at_rest(anna) == before


async def test_a_turn_under_another_users_record_key_belongs_to_the_user_in_its_body(everybody: list[Known]) -> None:
    anna, other, _ = everybody
    before, turns = await at_rest(anna), len(other.rows()["turns"])
    body = (
        b'{"tenant_id": "%s", "user_id": "%s", "session_id": "monday", "messages": [{"role": "user", "content": "hi"}]}'
    )
    value = body % (other.person.tenant_id.encode(), other.person.user_id.encode())
    key = user_key(anna.person.tenant_id, anna.person.user_id).encode()
    await publish(anna.person.system.bootstrap, [Stored(TURN_COMMIT.name, key=key, value=value)])
    await wait_for(lambda: len(other.rows()["turns"]) > turns, "the turn is there")
    assert await at_rest(anna) == before
