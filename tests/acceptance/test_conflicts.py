"""A statement that contradicts a stronger memory is shown with both sides, and the user decides which holds."""

import pytest

from tests.system.conflicts import contradicted
from tests.system.person import Json, Person

SIDES = pytest.mark.parametrize(("known", "said"), [("简洁", "啰嗦"), ("concise", "wordy")], ids=["zh", "en"])


async def settle_conflict(person: Person, conflict: Json, keep: str) -> Json:
    """The settled conflict."""
    path = f"/v1/conflicts/{conflict['conflict_id']}"
    answer = await person.system.http.post(path, params=person.whose, json={"keep": keep})
    assert answer.status_code == 202, answer.text
    await person.outcome(answer.json()["turn_id"])
    assert (await person.get("/v1/conflicts")).json()["conflicts"] == []
    again = await person.system.http.post(path, params=person.whose, json={"keep": keep})
    assert (again.status_code, again.json()["code"]) == (409, "already_settled")
    (found,) = (await person.get("/v1/conflicts", state="all")).json()["conflicts"]
    return found


@SIDES
async def test_both_sides_of_a_conflict_are_shown(person: Person, known: str, said: str) -> None:
    conflict = await contradicted(person, known, said)
    assert (conflict["known"], conflict["said"], conflict["state"]) == (known, said, "open")
    assert (conflict["session_id"], conflict["closed_at"], conflict["known_status"]) == ("s2", None, "active")
    (version,) = (await person.get(f"/v1/memories/{conflict['memory_id']}/history")).json()["memories"]
    assert version["conflicts"] == [conflict]
    assert [each["action"] for each in version["evidence"]] == ["created", "held"]
    stranger = Person(person.system, tenant_id=person.tenant_id)
    assert (await stranger.get("/v1/conflicts")).json() == {"conflicts": []}


@SIDES
async def test_the_existing_memory_can_be_confirmed(person: Person, known: str, said: str) -> None:
    conflict = await contradicted(person, known, said)
    found = await settle_conflict(person, conflict, "known")
    assert (found["state"], found["closed_at"] is None) == ("kept", False)
    (memory,) = await person.memories()
    assert (memory["memory_id"], memory["content"], memory["version"]) == (conflict["memory_id"], known, 1)
    (version,) = (await person.get(f"/v1/memories/{memory['memory_id']}/history")).json()["memories"]
    assert [each["action"] for each in version["evidence"]] == ["created", "held", "confirmed"]


@SIDES
async def test_the_statement_can_be_restated_by_the_user(person: Person, known: str, said: str) -> None:
    conflict = await contradicted(person, known, said)
    found = await settle_conflict(person, conflict, "said")
    assert (found["state"], found["known_status"]) == ("replaced", "superseded")
    (memory,) = await person.memories()
    assert (memory["content"], memory["value"]) == (said, {"value": said})
    assert (memory["supersedes"], memory["version"]) == ([conflict["memory_id"]], 2)
    assert (memory["provenance"]["class"], memory["assertion"]) == ("confirmed_by_user", "directive")
    first, second = (await person.get(f"/v1/memories/{memory['memory_id']}/history")).json()["memories"]
    assert [each["action"] for each in first["evidence"]] == ["created", "held", "superseded"]
    assert [(each["action"], each["quote"]) for each in second["evidence"]] == [("said", said), ("created", None)]


@pytest.mark.parametrize("state", ["closed", ""])
async def test_an_invalid_state_is_refused_by_field(person: Person, state: str) -> None:
    answer = await person.get("/v1/conflicts", state=state)
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (422, "state")
