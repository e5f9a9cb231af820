"""A user manages memories: pins, unpins, merges, separates, and changes many at once."""

from typing import Any

import pytest

from services.cli.rebuild.run import rebuild
from shared.domain.subjects import Subject
from tests.system.person import Json, Person, shown

WRITES = pytest.mark.parametrize(
    ("notes", "question"),
    [
        (
            ("/remember the boat is called Nightjar", "/remember the boat key hangs by the door"),
            "How was your weekend?",
        ),
        (("记住：小船的名字叫夜莺", "记住：小船的钥匙挂在门边"), "周末过得怎么样？"),
    ],
    ids=["en", "zh"],
)


async def act(person: Person, method: str, path: str, body: Json | None = None) -> Json:
    """The settled receipt of an act."""
    more: dict[str, Any] = {} if body is None else {"json": body}
    answer = await person.system.http.request(method, path, params=person.whose, **more)
    assert answer.status_code == 202, answer.text
    await person.outcome(answer.json()["turn_id"])
    return (await person.get(f"/v1/writes/{answer.json()['receipt_id']}")).json()


async def tell_both(person: Person, notes: tuple[str, str]) -> tuple[Json, Json]:
    """The memories of two notes."""
    for note in notes:
        await person.say(note)
    newest, first = await person.memories()
    return first, newest


@WRITES
async def test_a_pinned_memory_leads_every_package_until_it_is_unpinned(
    person: Person, notes: tuple[str, str], question: str
) -> None:
    first, _ = await tell_both(person, notes)
    assert first["content"] not in shown(await person.compose(question))
    receipt = await act(person, "put", f"/v1/memories/{first['memory_id']}/pin")
    assert (receipt["status"], receipt["memory_id"], receipt["settled"]) == ("accepted", first["memory_id"], True)
    again = await act(person, "put", f"/v1/memories/{first['memory_id']}/pin")
    assert (again["status"], again["reason"]) == ("merged", "already_pinned")
    package = await person.compose(question)
    assert first["content"] in package.system_blocks[0].text
    assert [m["pinned"] for m in await person.memories()] == [False, True]
    await act(person, "delete", f"/v1/memories/{first['memory_id']}/pin")
    assert first["content"] not in shown(await person.compose(question))
    (version,) = (await person.get(f"/v1/memories/{first['memory_id']}/history")).json()["memories"]
    assert [each["action"] for each in version["evidence"]] == ["created", "pinned", "pinned", "unpinned"]


async def test_the_next_version_of_a_pinned_memory_is_pinned(person: Person) -> None:
    await person.say("I live in Oslo.")
    (known,) = await person.memories(type="profile")
    await act(person, "put", f"/v1/memories/{known['memory_id']}/pin")
    await person.say("I live in Rome now.")
    (now,) = await person.memories(type="profile")
    assert now["memory_id"] != known["memory_id"]
    assert now["pinned"]
    gone = await person.system.http.put(f"/v1/memories/{known['memory_id']}/pin", params=person.whose)
    assert (gone.status_code, gone.json()["code"]) == (409, "not_active")


@WRITES
@pytest.mark.parametrize("content", [None, "Nightjar / 夜莺"])
async def test_two_memories_are_merged_and_separated_by_restoring_one(
    person: Person, notes: tuple[str, str], question: str, content: str | None
) -> None:
    first, newest = await tell_both(person, notes)
    asked = {"keep": first["memory_id"], "others": [newest["memory_id"]], "content": content}
    receipt = await act(person, "post", "/v1/memories/merge", asked)
    (one,) = await person.memories()
    assert (receipt["status"], receipt["memory_id"]) == ("accepted", one["memory_id"])
    assert one["content"] == (content or first["content"])
    assert set(one["supersedes"]) == {first["memory_id"], newest["memory_id"]}
    assert one["version"] == 2
    old = (await person.get(f"/v1/memories/{newest['memory_id']}")).json()
    assert (old["status"], old["superseded_by"]) == ("superseded", one["memory_id"])
    await act(person, "post", f"/v1/memories/{newest['memory_id']}/restore")
    assert {m["content"] for m in await person.memories()} == {first["content"], newest["content"]}
    both = {m["content"]: m for m in await person.memories()}
    await act(person, "patch", f"/v1/memories/{both[first['content']]['memory_id']}", {"text": f"{question} 1"})
    assert set(await person.contents()) == {f"{question} 1", newest["content"]}


async def test_a_merged_memory_is_erased_with_any_of_its_sources(person: Person) -> None:
    await person.say("/remember the boat is called Nightjar", session="one")
    await person.say("/remember the boat key hangs by the door", session="two")
    newest, first = await person.memories()
    asked = {"keep": first["memory_id"], "others": [newest["memory_id"]], "content": "Nightjar, key by the door"}
    await act(person, "post", "/v1/memories/merge", asked)
    answer = await person.post("/v1/erasures", {**person.whose, "scope": "session", "session_ids": ["two"]})
    assert answer.status_code == 202, answer.text
    assert "Nightjar, key by the door" not in await person.contents(status="all")
    assert await person.contents() == []


async def test_an_invalid_merge_is_refused_by_field(person: Person) -> None:
    first, newest = await tell_both(person, ("/remember the boat is blue", "/remember the mast is brown"))
    keep, other = first["memory_id"], newest["memory_id"]

    async def refusal(**asked: Any) -> tuple[int, str]:
        answer = await person.system.http.post("/v1/memories/merge", params=person.whose, json=asked)
        return answer.status_code, answer.json()["details"][0]["field"]

    assert await refusal(keep=keep, others=[]) == (422, "others")
    assert await refusal(keep=keep, others=[other, "00000000-0000-7000-8000-000000000000"]) == (404, "others.1")
    assert await refusal(keep=keep, others=[other], content="my key is sk-proj-abcdefghijklmnopqrstuvwx0123456789") == (
        422,
        "content",
    )
    await act(person, "delete", f"/v1/memories/{other}")
    assert await refusal(keep=keep, others=[other]) == (409, "others.0")


async def test_many_are_retracted_and_restored_at_once_and_missing_ones_are_named(person: Person) -> None:
    first, newest = await tell_both(person, ("/remember the boat is blue", "/remember the mast is brown"))
    ids = [first["memory_id"], newest["memory_id"]]
    stranger = "00000000-0000-7000-8000-000000000000"

    async def bulk(action: str, *more: str) -> Json:
        body = {"action": action, "memory_ids": [*ids, *more]}
        answer = await person.system.http.post("/v1/memories/bulk", params=person.whose, json=body)
        assert answer.status_code == 202, answer.text
        if answer.json()["turn_id"]:
            await person.outcome(answer.json()["turn_id"])
        return answer.json()

    done = await bulk("forget", stranger)
    assert (done["accepted"], [each["code"] for each in done["refused"]]) == (ids, ["not_found"])
    assert await person.contents() == []
    assert [each["code"] for each in (await bulk("pin"))["refused"]] == ["not_active", "not_active"]
    await bulk("restore")
    assert set(await person.contents()) == {first["content"], newest["content"]}
    back = [m["memory_id"] for m in await person.memories()]
    ids[:] = back
    await bulk("pin")
    assert all(m["pinned"] for m in await person.memories())


@WRITES
async def test_a_rebuild_from_the_log_includes_manual_changes(
    person: Person, notes: tuple[str, str], question: str
) -> None:
    first, newest = await tell_both(person, notes)
    await person.say(f"/remember {question}")
    asked = {"keep": first["memory_id"], "others": [newest["memory_id"]]}
    one = await act(person, "post", "/v1/memories/merge", asked)
    await act(person, "put", f"/v1/memories/{one['memory_id']}/pin")
    await act(person, "post", f"/v1/memories/{first['memory_id']}/restore")
    rt = person.system["compose"].rt
    subject = Subject(person.tenant_id, person.user_id)
    report = await rebuild(person.system.dsn, rt.settings, rt.policy, subject, apply=False, say=lambda *_: None)
    assert [*report.differences] == []
