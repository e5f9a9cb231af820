"""A statement that a user repeats qualifies for promotion; a person decides; in both languages."""

import asyncio
import json
from collections.abc import AsyncGenerator

import pytest
from typer.testing import CliRunner

from schemas.topics import PROMOTION_PROPOSED
from services.cli import app
from tests.system.databases import Databases
from tests.system.kafka import of_tenant
from tests.system.person import Json, Person
from tests.system.running import System, listening, policy_file, running, settings_for
from tests.system.wait import wait_for

SAID = pytest.mark.parametrize(
    "text",
    ["请记住：我喜欢简洁的界面", "Remember that I like a clean interface"],
    ids=["zh", "en"],
)


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service; the evolver's timers run continuously."""
    policy = policy_file(tmp_path_factory.mktemp("policy"), evolution={"every_s": 0.1})
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


async def says(person: Person, text: str, sessions: int = 4) -> None:
    """The user makes the statement in this many sessions."""
    for n in range(sessions):
        await person.say(text, session=f"s{n}")


async def proposals(person: Person, **query: str) -> list[Json]:
    """The user's proposals."""
    answer = await person.get("/v1/promotions", **query)
    assert answer.status_code == 200, answer.text
    return answer.json()["promotions"]


async def wait_for_proposal(person: Person) -> Json:
    """The only proposal of the user's preference, once it exists; dictated words are a separate note."""
    (liked,) = await person.memories(type="preference")

    async def of_preference() -> list[Json]:
        return [each for each in await proposals(person) if each["memory_id"] == liked["memory_id"]]

    (made,) = await wait_for(of_preference, "a proposal")
    return made


async def decide(person: Person, made: Json, decision: str, **more: object) -> Json:
    """The response to this decision."""
    answer = await person.post(f"/v1/promotions/{made['proposal_id']}", {**person.whose, "decision": decision, **more})
    return {"http": answer.status_code, **answer.json()}


@SAID
async def test_a_statement_in_several_sessions_is_proposed_once_and_approved_with_consent(
    person: Person, text: str
) -> None:
    await says(person, text, sessions=3)
    assert await proposals(person) == []
    await says(person, text, sessions=6)
    made = await wait_for_proposal(person)
    (memory,) = [m for m in await person.memories() if m["memory_id"] == made["memory_id"]]
    assert (made["status"], made["class"], made["content"]) == ("pending_approval", "personal", memory["content"])
    assert made["figures"]["uses_30d"] >= 3
    assert made["figures"]["sessions"] >= 2

    async def events() -> list[Json]:
        found = await of_tenant(person.system.bootstrap, person.tenant_id, PROMOTION_PROPOSED.name)
        told = [each.envelope.payload for each in found]
        return [each for each in told if each["proposal_id"] == made["proposal_id"]]

    assert await wait_for(events) == [{"proposal_id": made["proposal_id"], "visibility": "store"}]
    refused = await decide(person, made, "approve")
    assert (refused["http"], refused["code"]) == (422, "consent_required")
    homeless = await decide(person, made, "approve", consent=True)
    assert (homeless["http"], homeless["code"]) == (422, "organisation_required"), "a store is an organisation"
    done = await decide(
        person, made, "approve", consent=True, visibility="brand", reason="asked and agreed", requested_by="olga"
    )
    assert (done["http"], done["status"], done["visibility"], done["reason"]) == (
        200,
        "approved",
        "brand",
        "asked and agreed",
    )
    assert (await decide(person, made, "approve"))["status"] == "approved"
    acts = "SELECT count(*) FROM audit_events WHERE about = %(about)s AND kind = 'promotion.approved'"
    acts += " AND details ->> 'requested_by' = 'olga' AND details ->> 'reason' = 'asked and agreed'"
    assert person.system.number(acts, about=f"promotion:{made['proposal_id']}") == 1, "who and why are on record"
    version = "SELECT version FROM knowledge_versions WHERE tenant_id = %(t)s"
    assert person.system.number(version, t=person.tenant_id) == 1, "answers from before are not used again"
    assert (await decide(person, made, "reject"))["code"] == "not_pending"
    assert [each["proposal_id"] for each in await proposals(person, status="approved")] == [made["proposal_id"]]
    await says(person, text, sessions=2)
    assert len(await events()) == 1
    assert (await wait_for_proposal(person))["status"] == "approved"


@SAID
async def test_a_decision_after_the_deadline_is_refused(person: Person, text: str) -> None:
    await says(person, text, sessions=6)
    made = await wait_for_proposal(person)
    await person.system.change(
        "UPDATE promotions SET created_at = now() - interval '8 days', expires_at = now() - interval '1 day'"
        " WHERE proposal_id = %(p)s",
        p=made["proposal_id"],
    )
    assert (await decide(person, made, "approve", consent=True))["status"] == "expired"
    assert (await wait_for_proposal(person))["status"] == "expired"


async def test_proposals_of_others_can_be_neither_seen_nor_decided(person: Person) -> None:
    await says(person, "请记住：我喜欢简洁的界面", sessions=6)
    made = await wait_for_proposal(person)
    for stranger in (Person(person.system, tenant_id=person.tenant_id), Person(person.system, person.user_id)):
        assert await proposals(stranger) == []
        assert (await decide(stranger, made, "reject"))["http"] == 404
    assert (await wait_for_proposal(person))["status"] == "pending_approval"


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "maybe"},
        {},
        {"decision": "approve", "visibility": "world"},
        {"decision": "reject", "reason": "x" * 501},
    ],
)
async def test_an_invalid_decision_is_refused_by_field(person: Person, body: Json) -> None:
    made = {"proposal_id": "0193a1f0-5c1e-7c3a-9b7e-2f6d8a4c1b20"}
    answer = await person.post(f"/v1/promotions/{made['proposal_id']}", {**person.whose, **body})
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_request"


async def test_the_command_lists_approves_and_rejects(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    await says(person, "Remember that I like a clean interface", sessions=6)
    made = await wait_for_proposal(person)
    whose = ["-u", person.user_id, "--tenant", person.tenant_id]

    async def run(*words: str) -> tuple[int, str]:
        done = await asyncio.to_thread(CliRunner().invoke, app, ["promotions", *words, *whose])
        return done.exit_code, done.stdout

    async with listening(person.system) as url:
        monkeypatch.setenv("SMARTBRAIN_URL", url)
        listed = await run("list")
        assert listed[0] == 0
        assert all(each in listed[1] for each in (made["proposal_id"], "pending_approval", made["content"], "personal"))
        assert (await run("approve", made["proposal_id"]))[0] != 0
        assert (await run("retry", made["proposal_id"]))[0] != 0
        region = ("approve", made["proposal_id"], "--consent", "--visibility", "region")
        assert (await run(*region))[0] != 0, "a region is for an organisation"
        assert "for region north" in (await run(*region, "--org", "north"))[1]
        assert (await run("reject", made["proposal_id"]))[0] != 0
        (shown,) = json.loads((await run("list", "--status", "approved", "--json"))[1])["promotions"]
        assert (shown["proposal_id"], shown["visibility"], shown["org_id"]) == (made["proposal_id"], "region", "north")
        assert (shown["written_at"], shown["write_reason"]) == (None, None), "there is no knowledge side"
        assert "nothing qualifies" in (await run("list", "--status", "expired"))[1]
