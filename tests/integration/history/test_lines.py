"""Lines of versions on a real PostgreSQL: merged from several roots, extended, and restored at random."""

import random
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from shared.domain.subjects import Subject
from shared.store import versions
from tests.system.person import Json, Person

MOVES = pytest.mark.parametrize(
    "said",
    [
        ("我住在上海。", "我搬家了，现在住在北京。", "我现在住在广州。"),
        ("I live in Oslo.", "I live in Rome now.", "I live in Bergen now."),
    ],
    ids=["zh", "en"],
)
NOTES = pytest.mark.parametrize(
    ("one", "other"),
    [("车停在B2层117号", "车停在地下二层117号"), ("the car is on B2, bay 117", "the bicycle pump hangs in the cellar")],
    ids=["zh", "en"],
)


async def note(person: Person, text: str) -> str:
    """The id of a dictated note."""
    receipt = (await person.post("/v1/memories", {**person.whose, "text": text})).json()
    await person.outcome(receipt["turn_id"])
    return receipt["memory_id"]


async def merge_notes(person: Person, one: str, other: str) -> tuple[str, str, str]:
    """Two notes, and their merged memory."""
    first, second, joined = await note(person, one), await note(person, other), str(uuid4())
    whose = {"t": person.tenant_id, "a": first, "b": second, "m": joined}
    await person.system.change(
        "UPDATE memory_items SET status = 'merged', invalid_at = now(), superseded_by = %(m)s"
        " WHERE tenant_id = %(t)s AND memory_id = ANY(ARRAY[%(a)s, %(b)s]::uuid[])",
        **whose,
    )
    await person.system.change(
        "INSERT INTO memory_items (tenant_id, user_id, memory_id, root_id, version, type, content_text, content_hash,"
        " status, confidence, provenance_class, assertion, valid_at, supersedes)"
        " SELECT tenant_id, user_id, %(m)s, root_id, version + 1, type, content_text || '!', 'joined', 'active', 0.9,"
        " provenance_class, assertion, now(), ARRAY[%(a)s, %(b)s]::uuid[] FROM memory_items WHERE memory_id = %(a)s",
        **whose,
    )
    await person.system.change(
        "INSERT INTO upkeep (tenant_id, user_id, upkeep_id, job, memory_ids, detail)"
        " SELECT %(t)s, user_id, gen_random_uuid(), 'consolidation', ARRAY[%(a)s, %(b)s, %(m)s]::uuid[],"
        """ '{"members": 2}' FROM memory_items WHERE memory_id = %(a)s""",
        **whose,
    )
    return first, second, joined


@NOTES
async def test_the_history_of_a_merged_memory_reaches_every_root(person: Person, one: str, other: str) -> None:
    first, second, joined = await merge_notes(person, one, other)
    for asked in (first, second, joined):
        line = (await person.get(f"/v1/memories/{asked}/history")).json()["memories"]
        assert [m["memory_id"] for m in line] == [first, second, joined]
        assert [[each["job"] for each in m["upkeep"]] for m in line] == [["consolidation"]] * 3
        assert line[0]["upkeep"][0]["detail"] == {"members": 2}
    assert [m["evidence"][0]["quote"] for m in line[:2]] == [f"/remember {one}", f"/remember {other}"]


@NOTES
async def test_a_merged_source_is_restored_in_place_of_the_merged_memory(person: Person, one: str, other: str) -> None:
    first, second, joined = await merge_notes(person, one, other)
    answer = await person.system.http.post(f"/v1/memories/{second}/restore", params=person.whose)
    await person.outcome(answer.json()["turn_id"])
    (now,) = await person.memories(type="note")
    assert (now["content"], now["supersedes"], now["version"]) == (other, [joined], 3)
    line = (await person.get(f"/v1/memories/{first}/history")).json()["memories"]
    assert [m["memory_id"] for m in line] == [first, second, joined, now["memory_id"]]


async def test_validity_alone_decides_what_held(person: Person) -> None:
    first, second, joined = await merge_notes(person, "the car is on B2", "Ben parks next to the lift")
    ends = {first: ("2026-01-01", "2026-02-01", None), second: ("2026-01-10", "2026-02-01", "2026-01-20")}
    for each, (begin, end, until) in {**ends, joined: ("2026-02-01", None, None)}.items():
        await person.system.change(
            "UPDATE memory_items SET valid_at = %(b)s, invalid_at = %(e)s, valid_until = %(u)s WHERE memory_id = %(m)s",
            m=each,
            b=begin,
            e=end,
            u=until,
        )
    subject = Subject(person.tenant_id, person.user_id)

    async def at(day: str) -> tuple[set[str], int]:
        async with person.system["compose"].rt.db.transaction(subject) as conn:
            found, count = await versions.load_held(conn, subject, datetime.fromisoformat(day).replace(tzinfo=UTC))
        return {str(m.memory_id) for m in found}, count

    assert await at("2025-12-31") == (set(), 0)
    assert await at("2026-01-01") == ({first}, 1)
    assert await at("2026-01-10") == ({first, second}, 2)
    assert await at("2026-01-20") == ({first}, 1)
    assert await at("2026-02-01") == ({joined}, 1)
    await person.system.change(
        "UPDATE memory_items SET status = 'erased', invalid_at = '2026-03-01' WHERE memory_id = %(m)s", m=joined
    )
    assert await at("2026-02-02") == (set(), 0)


def assert_no_fork(found: list[Json]) -> None:
    """At most one version is active, every link is recorded at both ends, and only the last has no successor."""
    by_id = {m["memory_id"]: m for m in found}
    assert sum(m["status"] == "active" for m in found) <= 1
    for m in found:
        assert all(by_id[old]["superseded_by"] == m["memory_id"] for old in m["supersedes"]), m
        if m["superseded_by"]:
            assert m["memory_id"] in by_id[m["superseded_by"]]["supersedes"], m
        assert (m["status"] == "active") == (m["invalid_at"] is None)
    numbers = [(m["root_id"], m["version"]) for m in found]
    assert len(set(numbers)) == len(numbers)


@MOVES
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_random_restorations_leave_one_active_version_and_no_fork(
    person: Person, said: tuple[str, ...], seed: int
) -> None:
    rng = random.Random(seed)
    await person.say(rng.choice(said))
    for _ in range(16):
        found = await person.memories(status="all", type="profile")
        chosen = rng.choice(found)
        path = f"/v1/memories/{chosen['memory_id']}"
        step = rng.choice(("say", "delete", "restore", "edit"))
        if step == "say":
            await person.say(rng.choice(said), session=f"s{rng.randrange(3)}")
        elif step == "delete":
            answer = await person.system.http.delete(path, params=person.whose)
            await person.outcome(answer.json()["turn_id"])
        elif step == "restore":
            answer = await person.system.http.post(f"{path}/restore", params=person.whose)
            assert answer.status_code == (409 if chosen["status"] == "active" else 202), answer.text
            if answer.status_code == 202:
                await person.outcome(answer.json()["turn_id"])
                (now,) = await person.memories(type="profile")
                assert (now["content"], now["value"]) == (chosen["content"], chosen["value"])
        else:
            given = {"text": rng.choice(said)}
            answer = await person.system.http.patch(path, params=person.whose, json=given)
            assert answer.status_code == (202 if chosen["status"] == "active" else 409), answer.text
            if answer.status_code == 202:
                await person.outcome(answer.json()["turn_id"])
        assert_no_fork(await person.memories(status="all", type="profile"))


@MOVES
async def test_choices_in_one_batch_with_statements_are_applied_in_order(person: Person, said: tuple[str, ...]) -> None:
    """The content is read when the choice is applied, not at the start of the batch."""
    await person.say(said[0])
    (first,) = await person.memories(type="profile")
    await person.system.stop("evolver")
    told = [await person.commit(said[1])]
    answer = await person.system.http.post(f"/v1/memories/{first['memory_id']}/restore", params=person.whose)
    assert answer.status_code == 409
    item = {"type": "profile", "memory_id": first["memory_id"], "restore": True}
    body = {**person.whose, "session_id": "panel", "items": [item]}
    told += [(await person.post("/v1/turns", body)).json() for _ in range(2)]
    told += [await person.commit(said[2])]
    await person.system.start("evolver")
    for each in told:
        await person.outcome(each["turn_id"])
    found = await person.memories(status="all", type="profile")
    assert_no_fork(found)
    line = (await person.get(f"/v1/memories/{first['memory_id']}/history")).json()["memories"]
    assert len(line) == len(found)
    assert line[-1]["status"] == "active"
