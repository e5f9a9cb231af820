"""Dead letters are filtered by topic, reason, time and state, over HTTP and by command; every act needs a reason."""

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from schemas.topics import TURN_COMMIT, TURN_COMMITTED
from services.cli import app
from shared import clock
from tests.system.databases import Databases
from tests.system.dead_letters import WHO, acts, break_intake, letters, turns
from tests.system.kafka import Stored, publish
from tests.system.person import Json, Person
from tests.system.running import System, listening, policy_file, running, settings_for
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, with short retries; no automatic redrive, and no fuse opens."""
    delivery = {"retry_delays_ms": [5, 5], "fuse_share": 1.0, "redrive_after_s": 600}
    policy = policy_file(tmp_path_factory.mktemp("policy"), delivery=delivery)
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


async def test_a_record_without_an_owner_can_be_dropped_by_id(system: System, person: Person) -> None:
    mark = person.user_id.encode()
    torn = [Stored(TURN_COMMITTED.dead_letter, value=b"torn " + mark, headers=[("x-error", mark)])] * 2
    await publish(system.bootstrap, torn)
    answer = await system.http.get("/v1/dead-letters", params={"topic": "turn.committed", "error": person.user_id})
    found = answer.json()["letters"]
    assert {each["user_id"] for each in found} == {None}
    path = f"/v1/dead-letters/{found[0]['letter_id']}"
    assert (await system.http.get(path, params=person.whose)).status_code == 404
    one = (await system.http.get(path)).json()
    assert (one["redrive"]["effect"], one["value"]) == ("returns", f"({len(torn[0].value or b'')} bytes)")
    assert (await system.http.get(path, params={"raw": True})).json()["value"] == f"torn {person.user_id}"
    assert (await system.http.post(f"{path}/drop", json=WHO)).json()["state"] == "dropped"
    assert (await system.http.get(path)).json()["act"]["requested_by"] == "olga"


async def test_letters_are_listed_by_topic_reason_time_and_state(system: System, person: Person) -> None:
    key = f"{person.tenant_id}:{person.user_id}".encode()
    where = {TURN_COMMIT: b"ValueError", TURN_COMMITTED: b"KeyError: a"}
    records = [
        Stored(topic.dead_letter, key=key, value=b"{", headers=[("x-error", why)]) for topic, why in where.items()
    ]
    await publish(system.bootstrap, records)
    every = await letters(person)
    assert {each["topic"]: each["error"] for each in every} == {
        "turn.commit": "ValueError",
        "turn.committed": "KeyError: a",
    }
    hour = timedelta(hours=1)
    for query, count in [
        ({"topic": "turn.commit"}, 1),
        ({"topic": TURN_COMMIT.dead_letter}, 1),
        ({"error": "keyerror"}, 1),
        ({"error": "nothing of the kind"}, 0),
        ({"since": (clock.now() - hour).isoformat()}, 2),
        ({"since": (clock.now() + hour).isoformat()}, 0),
        ({"until": (clock.now() - hour).isoformat()}, 0),
        ({"state": "open"}, 2),
        ({"state": "dropped"}, 0),
        ({"limit": 1}, 1),
    ]:
        assert len(await letters(person, **query)) == count, query
    for query in ({"topic": "none"}, {"state": "gone"}, {"since": "yesterday"}, {"limit": 0}):
        assert (await person.get("/v1/dead-letters", **query)).status_code == 422, query


async def test_the_command_lists_shows_redrives_and_drops(
    system: System, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = await break_intake(person, monkeypatch, "I live in Turku.")
    named = letter["letter_id"]

    async def run(*words: str) -> tuple[int, str]:
        done = await asyncio.to_thread(CliRunner().invoke, app, ["dlq", *words])
        return done.exit_code, f"{done.stdout}{done.exception or ''}"

    async with listening(system) as url:
        monkeypatch.setenv("SMARTBRAIN_URL", url)
        assert named in (await run("list", "--user", person.user_id))[1]
        assert "Turku" not in (await run("show", named))[1]
        seen = (await run("show", named, "--raw"))[1]
        assert all(each in seen for each in ("Turku", "commits", TURN_COMMIT.group_of("compose")))
        assert (await run("redrive", named))[0] == 2
        assert (await run("redrive", named, "--reason", " "))[0] == 2
        assert (await run("redrive", named, "--reason", "mended", "--by", "olga"))[1] == "redriven\n"
        assert "redriven before" in (await run("redrive", named, "--reason", "mended"))[1]
        assert "redriven before" in (await run("drop", named, "--reason", "mended"))[1]
        assert "no dead letters" in (await run("list", "--user", person.user_id))[1]
        told = json.loads((await run("list", "--user", person.user_id, "--state", "all", "--json"))[1])
    assert [each["state"] for each in told["letters"]] == ["redriven"]
    await wait_for(lambda: turns(person), "the turn is committed")
    (done,) = acts(person)
    assert (done["details"]["requested_by"], done["details"]["reason"]) == ("olga", "mended")


@pytest.mark.parametrize("asked", [{}, {"requested_by": "olga"}, {"requested_by": "olga", "reason": "  "}])
async def test_an_act_without_who_and_why_is_refused(person: Person, asked: Json) -> None:
    for path in ("/v1/dead-letters/turn.commit-" + "0" * 32, "/v1/quarantine/0193a1f0-5c1e-7c3a-9b7e-2f6d8a4c1b20"):
        answer = await person.post(f"{path}/redrive?tenant_id={person.tenant_id}&user_id={person.user_id}", asked)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
