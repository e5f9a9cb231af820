"""A statement that contradicts what the user had confirmed."""

from typing import Any
from uuid import uuid4

from tests.system.person import Json, Person


async def contradicted(person: Person, known: str, said: str, **more: Any) -> Json:
    """The open conflict between a confirmed tone of writing and an inferred one."""
    tone = {"type": "preference", "key": "pref:writing:tone"}
    await _item(person, {**tone, "value": known, "confirmed": True})
    await _item(person, {**tone, "value": said, **more}, session="s2")
    whose = {"t": person.tenant_id, "u": person.user_id, "c": uuid4()}
    (row,) = person.system.rows(
        "SELECT o.observation_id, o.related_memory_id AS memory_id FROM observations o"
        " WHERE tenant_id = %(t)s AND user_id = %(u)s AND state = 'rejected' AND reason LIKE 'ask:%%'",
        **whose,
    )
    await person.system.change(
        "INSERT INTO conflicts (tenant_id, user_id, conflict_id, memory_id, observation_id, kind, opened_at)"
        " VALUES (%(t)s, %(u)s, %(c)s, %(m)s, %(o)s, 'weaker_than_known', now()) ON CONFLICT DO NOTHING",
        **whose,
        m=row["memory_id"],
        o=row["observation_id"],
    )
    (conflict,) = (await person.get("/v1/conflicts")).json()["conflicts"]
    return conflict


async def _item(person: Person, item: Json, session: str = "s1") -> None:
    answer = await person.post("/v1/turns", {**person.whose, "session_id": session, "items": [item]})
    await person.outcome(answer.json()["turn_id"])
