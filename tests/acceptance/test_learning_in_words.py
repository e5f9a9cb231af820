"""A request to stop or resume learning changes the setting `learning`, which is shown with its
source, in order, once.
"""

from datetime import UTC, datetime, timedelta

import orjson
import pytest

from schemas.topics import TURN_COMMIT
from tests.acceptance.test_settings import by_name, choose, choose_for_tenant, chosen
from tests.acceptance.test_wishes import reasons
from tests.system.erasures import completed, erase
from tests.system.kafka import Stored, publish
from tests.system.person import Json, Person
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka
OFF = ("Don't remember anything about me.", "别记我的任何事。")
ON = ("You can remember things again.", "可以重新记录我的信息了。")


async def read_setting(person: Person) -> Json:
    """The setting as it is shown."""
    return by_name((await person.get("/v1/settings")).json())["learning"]


@pytest.mark.parametrize(
    ("off", "quiet", "on", "learnt"),
    [
        (OFF[0], "I live in Oslo.", ON[0], "I love hiking."),
        (OFF[1], "我住在苏州。", ON[1], "我喜欢爬山。"),
        ("以后什么都不要记。", "我对花生过敏。", "恢复记忆", "我对虾过敏。"),
    ],
)
async def test_messages_turn_the_setting_off_and_on(person: Person, off: str, quiet: str, on: str, learnt: str) -> None:
    said = await person.commit(off)
    assert said["learning"] is False
    shown = await read_setting(person)
    assert (shown["value"], shown["source"], shown["said_in"]) == (False, "user", said["turn_id"])
    assert datetime.now(UTC) - datetime.fromisoformat(shown["since"]) < timedelta(minutes=1)
    assert reasons(await person.say(quiet, session="another")) == {"wish:settings"}
    again = await person.commit(on, session="third")
    assert again["learning"] is True
    assert (await read_setting(person))["said_in"] == again["turn_id"]
    await person.say(learnt)
    assert len(await person.memories()) == 1


async def test_requests_in_quick_succession_apply_in_order(person: Person) -> None:
    texts = (
        "I live in Oslo.",
        OFF[0],
        "我喜欢喝茉莉花茶。",
        ON[1],
        "I love hiking.",
        OFF[1],
        "I own a kayak.",
        ON[0],
    )
    turns = [await person.commit(text) for text in texts]
    for turn in turns:
        await person.outcome(turn["turn_id"])
    assert [turn["learning"] for turn in turns] == [True, False, False, True, True, False, False, True]
    assert sorted(await person.contents()) == ["I live in Oslo", "I love hiking"]
    assert (await read_setting(person))["value"] is True


async def test_a_redelivered_or_late_turn_does_not_undo_a_later_choice(person: Person) -> None:
    said = {"messages": [{"role": "user", "content": OFF[0]}], "idempotency_key": "off"}
    first = await person.commit(**said)
    await chosen(person, learning=True)
    assert (await person.commit(**said))["turn_id"] == first["turn_id"]
    assert (await read_setting(person))["value"] is True
    late = person.turn(OFF[1], created_at=(datetime.now(UTC) - timedelta(hours=1)).isoformat())
    await publish(person.system.bootstrap, [Stored(TURN_COMMIT.name, key=b"k", value=orjson.dumps(late))])
    count = "SELECT count(*) FROM turns WHERE user_id = %(u)s"
    await wait_for(lambda: person.number(count) == 2, "the late turn is committed")
    held = await read_setting(person)
    assert (held["value"], held["said_in"]) == (True, None)
    await chosen(person, learning=None)
    stale = await person.commit(OFF[0], created_at=(datetime.now(UTC) - timedelta(hours=1)).isoformat())
    assert stale["learning"] is False
    assert (await read_setting(person))["source"] == "policy"


@pytest.mark.parametrize(("off", "quiet"), [(OFF[0], "I live in Oslo."), (OFF[1], "我住在苏州。")])
async def test_a_request_applies_to_its_session_if_users_may_not_choose(person: Person, off: str, quiet: str) -> None:
    await choose_for_tenant(person, users_may=["language"])
    assert reasons(await person.say(off)) == {"wish:session"}
    assert reasons(await person.say(quiet)) == {"wish:session"}
    assert (await read_setting(person))["value"] is True
    await person.say(quiet, session="another")
    assert len(await person.memories()) == 1


async def test_a_message_lifts_a_manual_setting_and_not_a_decision_of_the_tenant(person: Person) -> None:
    await chosen(person, learning=False)
    await person.say(ON[0])
    assert (await read_setting(person))["value"] is True
    await choose_for_tenant(person, learning=False)
    assert (await person.commit(ON[1]))["learning"] is False
    assert (await choose(person, learning=True)).status_code == 422


@pytest.mark.parametrize("off", OFF)
async def test_the_setting_is_exported_and_deleted_only_by_an_erasure_of_everything(person: Person, off: str) -> None:
    await person.say(off)
    assert (await person.get("/v1/export")).json()["settings"] == {"learning": False}
    acts = person.system.rows("SELECT details FROM audit_events WHERE user_id = %(u)s", u=person.user_id)
    told = [(each["details"]["changed"], each["details"]["requested_by"]) for each in acts]
    assert told == [({"learning": False}, "words")]
    await completed(person, await erase(person, "personal"))
    assert (await read_setting(person))["value"] is False
    await completed(person, await erase(person, "all"))
    held = await read_setting(person)
    assert (held["value"], held["since"], held["said_in"]) == (True, None, None)
