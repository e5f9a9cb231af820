"""Dead letters of a person, made and looked at, and what operators do with them."""

from typing import Any

import orjson
import pytest

from schemas.topics import TURN_COMMIT
from services.compose.intake import commit as intake
from tests.system.kafka import Stored, publish
from tests.system.person import Json, Person
from tests.system.wait import wait_for

WHO: Json = {"requested_by": "olga", "reason": "the cause is mended"}


async def dead_letter(person: Person) -> str:
    """The id of a dead letter that holds a turn of the person."""
    headers = [("x-error", b"by hand"), ("x-origin", f"{TURN_COMMIT.name}/0/1".encode())]
    key, value = f"{person.tenant_id}:{person.user_id}".encode(), orjson.dumps(person.turn("Good morning!"))
    await publish(person.system.bootstrap, [Stored(TURN_COMMIT.dead_letter, key=key, value=value, headers=headers)])
    (letter,) = (await person.get("/v1/dead-letters")).json()["letters"]
    return letter["letter_id"]


async def letters(person: Person, **query: Any) -> list[Json]:
    """The person's dead letters as they are listed."""
    answer = await person.get("/v1/dead-letters", **query)
    assert answer.status_code == 200, answer.text
    return answer.json()["letters"]


async def only_letter(person: Person, **query: Any) -> Json:
    """The one dead letter that is listed of the person, once there is one."""
    (letter,) = await wait_for(lambda: letters(person, **query), "a dead letter")
    return letter


async def shown(person: Person, letter: Json, **query: Any) -> Json:
    """The letter as it is shown."""
    answer = await person.get(f"/v1/dead-letters/{letter['letter_id']}", **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def act(person: Person, letter: Json, what: str, **asked: Any) -> Json:
    """What is answered to an operator who wants this done with the letter."""
    answer = await person.post(f"/v1/dead-letters/{letter['letter_id']}/{what}", {**WHO, **asked})
    return {"http": answer.status_code, **answer.json()}


def acts(person: Person) -> list[Json]:
    """What is on record of what operators did with something of the person."""
    statement = "SELECT kind, details FROM audit_events WHERE user_id = %(u)s AND tombstone_id IS NULL ORDER BY at"
    return person.system.rows(statement, u=person.user_id)


async def break_intake(person: Person, monkeypatch: pytest.MonkeyPatch, text: str, **more: Any) -> Json:
    """The dead letter of a turn that was sent over Kafka while intake could not take any of the person."""
    with monkeypatch.context() as broken:
        whole = intake._build_body

        def choke(turn: Any, *given: Any) -> Json:
            if turn.user_id == person.user_id:
                raise ZeroDivisionError
            return whole(turn, *given)

        broken.setattr(intake, "_build_body", choke)
        key = f"{person.tenant_id}:{person.user_id}".encode()
        sent = orjson.dumps(person.turn(text, **more))
        await publish(person.system.bootstrap, [Stored(TURN_COMMIT.name, key=key, value=sent)])
        return await only_letter(person)


def turns(person: Person) -> int:
    """How many turns of the person there are."""
    return person.number("SELECT count(*) FROM turns WHERE user_id = %(u)s")
