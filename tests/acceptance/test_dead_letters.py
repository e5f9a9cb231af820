"""Dead letters are listed, shown, redriven once or dropped, and the audit names the operator."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import orjson
import pytest

from schemas.events import FeedbackRecorded
from schemas.topics import (
    ANALYSIS_PROPOSED,
    COMPOSE_REQUEST,
    FEEDBACK_RECORDED,
    OBSERVATION_RECORDED,
    TURN_COMMIT,
    TURN_COMMITTED,
    Topic,
)
from services.analyzer import rules as proposing
from services.evolver import handler as resolving
from shared import clock
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.store import outbox
from tests.acceptance.test_poison import commit_poison
from tests.system.databases import Databases
from tests.system.dead_letters import WHO, act, acts, break_intake, letters, only_letter, shown, turns
from tests.system.erasures import completed, erase
from tests.system.kafka import Stored, caught_up, of_tenant, publish
from tests.system.person import Json, Person
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, with short retries; no automatic redrive, and no fuse opens."""
    delivery = {"retry_delays_ms": [5, 5], "fuse_share": 1.0, "redrive_after_s": 600}
    policy = policy_file(tmp_path_factory.mktemp("policy"), delivery=delivery)
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


@pytest.mark.parametrize("more", [{}, {"idempotency_key": "k1"}], ids=["without a key", "with a key"])
async def test_a_turn_that_intake_failed_to_store_is_redriven_and_derived_once(
    system: System, person: Person, monkeypatch: pytest.MonkeyPatch, more: Json
) -> None:
    letter = await break_intake(person, monkeypatch, "I live in Oslo. My e-mail is anna@example.org.", **more)
    assert (letter["topic"], letter["error"], letter["state"]) == ("turn.commit", "ZeroDivisionError", "open")
    assert (letter["tenant_id"], letter["user_id"]) == (person.tenant_id, person.user_id)
    seen = await shown(person, letter)
    assert seen["redrive"]["effect"] == "commits"
    assert seen["redrive"]["topic"] == TURN_COMMIT.name
    assert seen["redrive"]["group"] == TURN_COMMIT.group_of("compose")
    assert not {word for word in ("Oslo", "anna@example.org") if word in str(seen)}
    assert "Oslo" in str((await shown(person, letter, raw=True))["value"])
    answers = await asyncio.gather(*(act(person, letter, "redrive") for _ in range(4)))
    assert [each["http"] for each in answers] == [200] * 4
    assert [each["fresh"] for each in answers].count(True) == 1
    await wait_for(lambda: turns(person), "the turn is committed")
    await system.settled()
    assert "Oslo" in str(await person.contents())
    again = await act(person, letter, "redrive")
    assert (again["http"], again["fresh"], again["state"]) == (200, False, "redriven")
    assert (await act(person, letter, "drop"))["code"] == "already_redriven"
    await system.settled()
    assert turns(person) == 1
    (done,) = acts(person)
    assert done["kind"] == "dead_letter.redriven"
    assert {name: done["details"][name] for name in WHO} == WHO
    assert await letters(person, state="open") == []
    assert [each["state"] for each in await letters(person)] == ["redriven"]
    assert (await shown(person, letter))["act"]["requested_by"] == "olga"
    rows = system.rows("SELECT payload::text AS said FROM event_outbox")
    assert not [row for row in rows if "Oslo" in row["said"]]


async def test_a_relay_that_publishes_twice_duplicates_nothing(
    system: System, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = await break_intake(person, monkeypatch, "I live in Rome.")
    await act(person, letter, "redrive")
    await wait_for(lambda: turns(person), "the turn is committed")
    again = "INSERT INTO event_outbox (id, aggregatetype, aggregateid, type, payload) VALUES"
    again += " (gen_random_uuid(), %(topic)s, %(l)s, 'dead_letter', jsonb_build_object('letter_id', %(l)s::text))"
    await system.change(again, topic=TURN_COMMIT.name, l=letter["letter_id"])
    await system.settled()
    await person.say("I like green tea.")
    assert turns(person) == 2


async def test_an_unreadable_turn_is_observed_once_its_cause_is_gone(system: System, person: Person) -> None:
    poison = await commit_poison(person)
    said = '{"text": "I prefer bitter chocolate."}'
    await system.start("observer")
    assert (await person.outcome(poison))["status"] == "quarantined"
    letter = await only_letter(person)
    assert letter["topic"] == TURN_COMMITTED.noun
    assert (await shown(person, letter))["redrive"]["effect"] == "derives"
    await system.change("ALTER TABLE conversation_events DISABLE TRIGGER append_only")
    await system.change(
        "UPDATE conversation_events SET content = %(c)s::jsonb WHERE turn_id = %(turn)s", turn=poison, c=said
    )
    await system.change("ALTER TABLE conversation_events ENABLE TRIGGER append_only")
    assert (await act(person, letter, "redrive"))["fresh"] is True
    await system.settled()
    assert (await person.outcome(poison))["status"] == "derived"
    assert len([each for each in await person.contents() if "chocolate" in each]) == 1
    assert person.number("SELECT count(*) FROM quarantine WHERE user_id = %(u)s") == 0
    assert "redriven" in (await shown(person, letter))["redrive"]["why"]


@pytest.mark.parametrize(
    ("module", "name", "topic"),
    [(proposing, "propose", OBSERVATION_RECORDED), (resolving, "resolve", ANALYSIS_PROPOSED)],
)
@pytest.mark.parametrize("by", ["letter", "quarantine"])
async def test_a_failed_derivation_is_redriven_once(
    system: System, person: Person, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, topic: Topic, by: str
) -> None:
    decide = getattr(module, name)

    def choke(new: Any, *given: Any) -> Any:
        if new.session_id == person.user_id:
            raise ZeroDivisionError
        return decide(new, *given)

    with monkeypatch.context() as broken:
        broken.setattr(module, name, choke)
        turn = await person.commit("I prefer bitter chocolate.", session=person.user_id)
        assert (await person.outcome(turn["turn_id"]))["status"] == "quarantined"
    letter = await only_letter(person)
    (given_up,) = (await person.get("/v1/quarantine")).json()["events"]
    path = f"/v1/quarantine/{given_up['quarantine_id']}"
    one = (await person.get(path)).json()
    assert (one["turn_id"], one["error"]) == (turn["turn_id"], "ZeroDivisionError")
    assert (await shown(person, letter))["redrive"]["effect"] == one["redrive"]["effect"] == "derives"
    assert letter["topic"] == topic.noun
    if by == "letter":
        done = [await act(person, letter, "redrive"), await act(person, letter, "redrive")]
    else:
        where = f"{path}/redrive?tenant_id={person.tenant_id}&user_id={person.user_id}"
        done = [(await person.post(where, WHO)).json() for _ in range(2)]
        assert (await act(person, letter, "redrive"))["fresh"] is False
    assert [each["fresh"] for each in done] == [True, False]
    await system.settled()
    outcome = await person.outcome(turn["turn_id"])
    assert outcome["status"] == "derived"
    assert "kept" in [each["decision"] for each in outcome["retention_explain"] if "span" in each]
    assert len([each for each in await person.contents() if "chocolate" in each]) == 1
    assert (await person.get("/v1/quarantine")).json()["events"] == []
    assert len(acts(person)) == 1


async def test_an_interrupted_redrive_has_no_effect(
    system: System, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = await break_intake(person, monkeypatch, "I live in Lund.")
    put_letter = outbox.put_letter

    async def put_and_fail(*given: Any, **more: Any) -> None:
        await put_letter(*given, **more)
        raise TransientError("cut off")

    with monkeypatch.context() as broken:
        broken.setattr(outbox, "put_letter", put_and_fail)
        assert (await act(person, letter, "redrive"))["http"] == 503
    assert acts(person) == []
    await system.settled()
    assert turns(person) == 0
    assert (await act(person, letter, "redrive"))["fresh"] is True
    await wait_for(lambda: turns(person), "the turn is committed")
    assert turns(person) == 1


async def test_an_event_without_an_outcome_takes_effect_once(system: System, person: Person) -> None:
    turn = await person.commit("I prefer bitter chocolate.")
    await person.outcome(turn["turn_id"])
    (liked,) = await person.memories(type="preference")
    praise = FeedbackRecorded(memory_ids=(liked["memory_id"],), utilized=True, signal="positive_confirm")
    subject = Subject(person.tenant_id, person.user_id)
    event = outbox.event(praise, subject, "x", trace_id="t", policy_version="p")
    given_up = "INSERT INTO quarantine (tenant_id, user_id, quarantine_id, stage, event_id, reason)"
    given_up += " VALUES (%(t)s, %(u)s, %(q)s, 'feedback', %(e)s, 'ZeroDivisionError')"
    claimed = "INSERT INTO inbox (consumer, event_id) VALUES ('evolver', %(e)s)"
    named = {"t": person.tenant_id, "u": person.user_id, "q": str(clock.uuid7()), "e": str(event.event_id)}
    await system.change(given_up, **named)
    await system.change(claimed, e=named["e"])
    value = event.model_dump_json().encode()
    await publish(system.bootstrap, [Stored(FEEDBACK_RECORDED.dead_letter, key=event.key.encode(), value=value)])
    letter = await only_letter(person)
    assert (await shown(person, letter))["redrive"]["effect"] == "applies"
    where = f"/v1/quarantine/{named['q']}/redrive?tenant_id={person.tenant_id}&user_id={person.user_id}"
    assert (await person.post(where, WHO)).json()["fresh"] is True
    assert (await act(person, letter, "redrive"))["fresh"] is False
    praised = "SELECT positive_count FROM memory_items WHERE memory_id = %(m)s"
    await wait_for(lambda: system.number(praised, m=liked["memory_id"]), "the praise counts")
    await system.settled()
    await caught_up(system.bootstrap)
    assert system.number(praised, m=liked["memory_id"]) == 1
    assert (await person.get("/v1/quarantine")).json()["events"] == []


async def test_a_dropped_letter_is_not_redriven(
    system: System, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = await break_intake(person, monkeypatch, "I live in Bern.")
    assert (await act(person, letter, "drop", reason="sent by a test"))["state"] == "dropped"
    assert (await act(person, letter, "drop"))["fresh"] is False
    assert (await act(person, letter, "redrive"))["code"] == "already_dropped"
    await system.settled()
    assert turns(person) == 0
    (done,) = acts(person)
    assert (done["kind"], done["details"]["reason"]) == ("dead_letter.dropped", "sent by a test")


async def test_an_act_without_effect_is_refused_and_not_recorded(system: System, person: Person) -> None:
    key = f"{person.tenant_id}:{person.user_id}".encode()
    whole = orjson.dumps(person.turn("I live in Kiel.", idempotency_key="k"))
    await person.say("I live in Kiel.", idempotency_key="k")
    headers = [("x-error", b"by hand"), ("x-origin", b"smartbrain.turn.commit.v1/0/1")]
    dead = TURN_COMMIT.dead_letter
    records = [
        Stored(dead, key=key, value=whole, headers=headers),
        Stored(dead, key=key, value=b"{", headers=headers),
        Stored(dead, key=key, value=b"batch", headers=[*headers, ("x-batch", b"1-2")]),
        Stored(COMPOSE_REQUEST.dead_letter, key=b"c", value=orjson.dumps(person.whose), headers=headers),
    ]
    await publish(system.bootstrap, records)
    found = {each["value_bytes"]: each for each in await letters(person, error="BY HAND")}
    effects = {size: (await shown(person, each))["redrive"]["effect"] for size, each in found.items()}
    assert effects == {len(whole): "nothing", 1: "returns", 5: "impossible", len(records[3].value or b""): "nothing"}
    for each in found.values():
        answer = await act(person, each, "redrive")
        assert (answer["http"], answer["code"]) == (409, f"redrive_{effects[each['value_bytes']]}")
    assert acts(person) == []
    assert turns(person) == 1


async def test_erased_data_does_not_return_by_redrive(
    system: System, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = await break_intake(person, monkeypatch, "I live in Graz.")
    await system.stop("relay")
    assert (await act(person, letter, "redrive"))["fresh"] is True
    tombstone = await erase(person, "all")
    await system.start("relay")
    await completed(person, tombstone)
    await system.settled()
    assert turns(person) == 0
    assert await of_tenant(system.bootstrap, person.tenant_id, TURN_COMMIT.dead_letter) == []
    assert (await person.get(f"/v1/dead-letters/{letter['letter_id']}")).status_code == 404
