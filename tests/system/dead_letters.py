"""Dead letters of a user, and the acts of operators on them."""

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
    """The id of a dead letter that contains a turn of the user."""
    headers = [("x-error", b"by hand"), ("x-origin", f"{TURN_COMMIT.name}/0/1".encode())]
    key, value = f"{person.tenant_id}:{person.user_id}".encode(), orjson.dumps(person.turn("Good morning!"))
    await publish(person.system.bootstrap, [Stored(TURN_COMMIT.dead_letter, key=key, value=value, headers=headers)])
    (letter,) = (await person.get("/v1/dead-letters")).json()["letters"]
    return letter["letter_id"]


async def letters(person: Person, **query: Any) -> list[Json]:
    """The user's dead letters as they are listed."""
    answer = await person.get("/v1/dead-letters", **query)
    assert answer.status_code == 200, answer.text
    return answer.json()["letters"]


async def only_letter(person: Person, **query: Any) -> Json:
    """The user's only listed dead letter, once there is one."""
    (letter,) = await wait_for(lambda: letters(person, **query), "a dead letter")
    return letter


async def shown(person: Person, letter: Json, **query: Any) -> Json:
    """The letter as it is shown."""
    answer = await person.get(f"/v1/dead-letters/{letter['letter_id']}", **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def act(person: Person, letter: Json, what: str, **asked: Any) -> Json:
    """The response to an operator's act on the letter."""
    answer = await person.post(f"/v1/dead-letters/{letter['letter_id']}/{what}", {**WHO, **asked})
    return {"http": answer.status_code, **answer.json()}


def acts(person: Person) -> list[Json]:
    """The recorded acts of operators on the user's data."""
    statement = "SELECT kind, details FROM audit_events WHERE user_id = %(u)s AND tombstone_id IS NULL ORDER BY at"
    return person.system.rows(statement, u=person.user_id)


async def break_intake(person: Person, monkeypatch: pytest.MonkeyPatch, text: str, **more: Any) -> Json:
    """The dead letter of a turn sent over Kafka while intake failed for the user."""
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
    """The number of the user's turns."""
    return person.number("SELECT count(*) FROM turns WHERE user_id = %(u)s")
