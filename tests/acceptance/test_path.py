"""End to end: a statement in a turn, committed in one of three ways, appears in a package."""

import orjson
import pytest

from schemas.topics import TURN_COMMIT
from shared.client import SmartBrain
from shared.errors import RefusedError
from shared.language.tokens import count
from tests.system.kafka import Stored, publish
from tests.system.person import UNHURRIED, Person, shown
from tests.system.running import System
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize(
    ("said", "asked", "word"),
    [
        ("我喜欢喝龙井茶。", "给我推荐点喝的，我喜欢喝什么茶？", "龙井"),
        ("I prefer dark mode in every editor.", "Which mode do I prefer in an editor?", "dark mode"),
    ],
)
async def test_a_statement_over_http_is_learnt_and_shown(person: Person, said: str, asked: str, word: str) -> None:
    outcome = await person.say(said)
    assert outcome["status"] == "derived"
    assert any(word in content for content in await person.contents())
    assert word in shown(await person.compose(asked))


@pytest.mark.parametrize(
    ("said", "asked", "word"),
    [
        ("我住在杭州。", "我住在哪个城市？", "杭州"),
        ("I work as a backend engineer.", "What is my job?", "backend engineer"),
    ],
)
async def test_a_statement_over_kafka_is_learnt_and_shown(
    system: System, person: Person, said: str, asked: str, word: str
) -> None:
    async with SmartBrain(system.bootstrap, tenant_id=person.tenant_id) as brain:
        result = await brain.commit(
            user_id=person.user_id, session_id="s1", messages=[{"role": "user", "content": said}]
        )
        assert result.seq == 1
        assert (await person.outcome(str(result.turn_id)))["status"] == "derived"
        package = await brain.compose(user_id=person.user_id, session_id="s2", user_message=asked, **UNHURRIED)
    assert word in shown(package)


async def test_a_turn_on_the_topic_needs_no_reply_address(system: System, person: Person) -> None:
    body = orjson.dumps({**person.turn("I prefer green tea."), "idempotency_key": person.user_id})
    await publish(system.bootstrap, [Stored(TURN_COMMIT.name, key=b"k", value=body)])
    assert await wait_for(person.contents, "the memory")
    assert system.number("SELECT count(*) FROM turns WHERE user_id = %(u)s", u=person.user_id) == 1


async def test_the_same_message_in_another_session_is_found_again(person: Person) -> None:
    await person.say("The blue bicycle stands behind the town library.", session="first")
    package = await person.compose("Where is my blue bicycle?", session="second")
    assert "library" in shown(package)
    (found, *_) = [e for e in package.evidence if "library" in e.snippet]
    assert found.ref.turn_id
    seen = await person.get(f"/v1/turns/{found.ref.turn_id}")
    assert "library" in seen.json()["events"][0]["content"]["text"]


async def test_one_user_never_sees_another_users_statements(system: System, person: Person) -> None:
    await person.say("I prefer the secret garden cafe.")
    for other in (Person(system, tenant_id=person.tenant_id), Person(system, user_id=person.user_id)):
        assert "garden" not in shown(await other.compose("Which cafe do I prefer? garden"))
        assert await other.contents(status="all") == []


async def test_an_invalid_request_over_kafka_gets_an_error_that_names_the_field(system: System, person: Person) -> None:
    async with SmartBrain(system.bootstrap, tenant_id=person.tenant_id) as brain:
        with pytest.raises(RefusedError) as caught:
            await brain.compose(
                user_id=person.user_id, session_id="s", user_message="字" * 30_000, token_limit=300, **UNHURRIED
            )
    assert [p.field for p in caught.value.details] == ["user_message"]


@pytest.mark.parametrize("limit", [512, 1024, 8192])
async def test_the_package_stays_within_its_token_limit(person: Person, limit: int) -> None:
    for n in range(6):
        await person.commit(f"第{n}条：" + "我今天在杭州的西湖边走了很久，看到了很多荷花。" * 20)
    package = await person.compose("西湖边有什么？", session="s1", token_limit=limit)
    assert package.constraints.token_budget.limit == limit
    assert package.constraints.token_budget.used_estimate <= limit
    assert count(shown(package)) <= limit
