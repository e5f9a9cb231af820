"""The timeline lists additions, changes, ends and retractions, newest first, with words and causes."""

import pytest

from services.evolver import rounds
from shared.domain.subjects import Subject
from tests.system.person import Json, Person


async def list_changes(person: Person, **query: int) -> list[Json]:
    """The user's changes, newest first."""
    answer = await person.get("/v1/changes", **query)
    assert answer.status_code == 200, answer.text
    return answer.json()["changes"]


@pytest.mark.parametrize(
    ("said", "again", "moved", "edit"),
    [
        ("I live in Oslo.", "I live in Oslo.", "I live in Rome now.", "Lives in Rome, by the river"),
        ("我住在上海。", "我住在上海。", "我搬家了，现在住在北京。", "住在北京海淀"),
    ],
    ids=["en", "zh"],
)
async def test_every_change_is_listed_newest_first(
    person: Person, said: str, again: str, moved: str, edit: str
) -> None:
    first = await person.commit(said)
    await person.outcome(first["turn_id"])
    (old,) = await person.memories(type="profile")
    await person.say(again)
    await person.say(moved)
    (now,) = await person.memories(type="profile")
    answer = await person.system.http.patch(
        f"/v1/memories/{now['memory_id']}", params=person.whose, json={"text": edit}
    )
    await person.outcome(answer.json()["turn_id"])
    (edited,) = await person.memories(type="profile")
    gone = await person.system.http.delete(f"/v1/memories/{edited['memory_id']}", params=person.whose)
    await person.outcome(gone.json()["turn_id"])
    found = [each for each in await list_changes(person) if each["type"] == "profile"]
    assert [(each["what"], each["by"]) for each in found] == [
        ("taken_back", "edit"),
        ("changed", "edit"),
        ("changed", "turn"),
        ("confirmed", "turn"),
        ("learnt", "turn"),
    ]
    assert [(each["before"], each["after"]) for each in found] == [
        ([edit], None),
        ([now["content"]], edit),
        ([old["content"]], now["content"]),
        ([], old["content"]),
        ([], old["content"]),
    ]
    assert (found[-1]["turn_id"], found[-1]["session_id"]) == (first["turn_id"], "s1")
    pages = [each for at in range(0, 8, 2) for each in await list_changes(person, limit=2, offset=at)]
    assert pages == (await list_changes(person))[:8]


async def test_ends_by_upkeep_are_listed_and_erased_changes_are_not(person: Person) -> None:
    await person.say("/remember the boat is blue")
    await person.say("/remember the mast is brown")
    mast, boat = await person.memories()
    await person.system.change(
        "UPDATE memory_items SET valid_until = now() - interval '1 hour' WHERE memory_id = %(id)s", id=boat["memory_id"]
    )
    await rounds.keep_now(person.system["evolver"].rt, Subject(person.tenant_id, person.user_id), forced=True)
    newest = (await list_changes(person))[0]
    assert (newest["what"], newest["by"], newest["before"]) == ("ended", "upkeep", [boat["content"]])
    answer = await person.system.http.request(
        "delete", "/v1/memories", params=person.whose, json={"memory_ids": [mast["memory_id"]]}
    )
    assert answer.status_code == 202, answer.text
    assert mast["content"] not in str(await list_changes(person))
