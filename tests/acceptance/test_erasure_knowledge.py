"""An erasure removes its documents from the knowledge side, including those in transit; other documents stay."""

import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.rag.server import Rag
from tests.system.cited import commit, resources, settled, work
from tests.system.databases import Databases
from tests.system.erasures import completed, erase, mine, view
from tests.system.person import Person
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for


@pytest.fixture(scope="module")
async def system(
    databases: Databases, kafka: str, one_rag: Rag, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[System]:
    """Every service, with knowledge; lost work is redriven soon."""
    slices: dict[str, Any] = {
        "knowledge": {"ingest_deadline_s": 2.0},
        "delivery": {"redrive_after_s": 0.5, "redrive_every_s": 0.2},
        "erasure": {"retry_after_s": [0.2]},
    }
    policy = policy_file(tmp_path_factory.mktemp("policy"), **slices)
    settings = settings_for(databases.fresh(), kafka, knowledge_url=one_rag.url, policy=policy)
    async with running(settings) as all_services:
        yield all_services


@pytest.fixture
def rag(one_rag: Rag, system: System) -> Rag:
    """The knowledge server and its circuit breaker, reset."""
    one_rag.reset()
    for each in system.running:
        each.rt.knowledge.__init__(one_rag.url, None, time.monotonic)  # type: ignore[misc]
    return one_rag


def deletions(rag: Rag) -> list[dict[str, Any]]:
    return [body for path, body, _ in rag.asked if path == "/delete"]


async def version(person: Person) -> int:
    """The number of knowledge changes of the tenant."""
    found = person.system.rows("SELECT version FROM knowledge_versions WHERE tenant_id = %(t)s", t=person.tenant_id)
    return found[0]["version"] if found else 0


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_documents_are_deleted_and_the_knowledge_change_is_reported(
    person: Person, rag: Rag, language: str
) -> None:
    await commit(person, work(language))
    other = Person(person.system, tenant_id=person.tenant_id)
    await commit(other, work(language))
    ids = {each["document_id"] for each in await wait_for(settled(person, 2), "ingested")}
    theirs = {each["resource_id"] for each in await wait_for(settled(other, 2), "ingested")}
    before = await version(person)
    done = await completed(person, await erase(person, "all"))
    assert set(rag.ingested) == theirs
    assert {each.id for each in rag.documents} == theirs
    (asked,) = deletions(rag)
    assert (set(asked["document_ids"]), asked["idempotency_keys"]) == (ids, [])
    assert done["proof"]["stores"]["knowledge"] == 2
    assert await version(person) == before + 1
    assert mine(person, "resources") == []
    assert {h["x-user-id"] for path, _, h in rag.asked if path == "/delete"} == {person.user_id}


async def test_documents_are_deleted_in_the_name_of_their_uploader(person: Person, rag: Rag) -> None:
    for org_id in (None, "shop-7"):
        await commit(person, {**work("en"), "org_id": org_id}, session=org_id or "s1")
    await wait_for(settled(person, 4), "ingested")
    await person.system.change(
        "UPDATE resources SET user_named = false WHERE org_id = '' AND user_id = %(u)s RETURNING resource_id",
        u=person.user_id,
    )
    for each in rag.ingested.values():
        if each["whose"][1] == "":
            each["whose"] = (person.tenant_id, "", "")
    await completed(person, await erase(person, "all"))
    assert rag.ingested == {}
    assert len(deletions(rag)) == 2


async def test_a_session_takes_only_its_own_documents(person: Person, rag: Rag) -> None:
    await commit(person, work("en"), session="gone")
    await wait_for(settled(person, 2), "ingested")
    await commit(person, work("zh"), session="stays")
    stays = {e["resource_id"] for e in await wait_for(settled(person, 4), "ingested") if e["session_id"] == "stays"}
    await completed(person, await erase(person, "session", session_ids=["gone"]))
    assert set(rag.ingested) == stays
    assert {each["resource_id"] for each in await resources(person)} == stays


async def test_a_document_that_another_session_cites_is_offered_again_for_it(person: Person, rag: Rag) -> None:
    await commit(person, work("en"), session="gone")
    await wait_for(settled(person, 2), "ingested")
    await commit(person, work("en"), session="stays")
    found = {each["resource_id"]: each for each in await wait_for(settled(person, 4), "settled")}
    known = {id for id, each in found.items() if each["reason"] == "known_already"}
    assert len(known) == 1
    await completed(person, await erase(person, "session", session_ids=["gone"]))
    await wait_for(lambda: known <= set(rag.ingested), "given again")
    assert {e["state"] for e in await wait_for(settled(person, 2), "ingested")} == {"ingested"}


async def test_an_erasure_of_memories_leaves_documents(person: Person, rag: Rag) -> None:
    await commit(person, work("en"))
    await wait_for(settled(person, 2), "ingested")
    before = await version(person)
    await completed(person, await erase(person, "personal"))
    assert len(rag.ingested) == 2
    assert deletions(rag) == []
    assert await version(person) == before


async def test_nothing_is_requested_without_documents(person: Person, rag: Rag) -> None:
    await person.say("I prefer green tea.")
    rag.delete_mode = "http_500"
    done = await completed(person, await erase(person, "all"))
    assert done["attempts"] == 0
    assert deletions(rag) == []


def offers(rag: Rag) -> int:
    return sum(path == "/ingest" for path, _, _ in rag.asked)


async def test_a_document_in_transit_is_awaited_and_then_deleted(person: Person, rag: Rag) -> None:
    rag.ingest_mode, rag.slow_s = "slow", 1.0
    await commit(person, work("en"))
    await wait_for(lambda: offers(rag), "one is on its way")
    receipt = await erase(person, "all")
    done = await completed(person, receipt)
    assert offers(rag) == 1, "what is erased is not offered any more"
    assert len(rag.ever) == 1
    assert rag.ingested == {}
    assert done["attempts"] == 0, "waiting costs no attempt"
    assert {step["error"] for step in done["history"] if step["to"] == "failed"} == {
        "knowledge: an ingest is still under way"
    }


async def test_a_document_whose_response_was_lost_is_deleted_by_its_key(person: Person, rag: Rag) -> None:
    rag.ingest_mode, rag.slow_s = "slow", 2.4
    await commit(person, work("en"))
    await wait_for(lambda: rag.ever, "taken over there")
    assert {each["document_id"] for each in await resources(person)} == {None}
    done = await completed(person, await erase(person, "all"))
    assert rag.ever
    assert rag.ingested == {}
    keys = {key for body in deletions(rag) for key in body["idempotency_keys"]}
    assert set(rag.ever) <= keys
    assert done["proof"]["stores"]["knowledge"] >= 1


async def test_a_document_offered_by_a_killed_librarian_is_deleted_by_its_key(person: Person, rag: Rag) -> None:
    await commit(person, work("en"))
    await wait_for(settled(person, 2), "ingested")
    died = await person.system.change(
        "UPDATE resources SET state = 'pending', settled_at = NULL, document_id = NULL, content_hash = NULL,"
        " attempts = 0, offered_at = now(), requested_at = now() + interval '1 hour'"
        " WHERE user_id = %(u)s RETURNING resource_id",
        u=person.user_id,
    )
    began = time.monotonic()
    await completed(person, await erase(person, "all"))
    assert time.monotonic() - began > 6, "it might still have been on its way"
    assert rag.ingested == {}
    assert {key for body in deletions(rag) for key in body["idempotency_keys"]} == {
        str(each["resource_id"]) for each in died
    }


async def test_a_document_that_the_knowledge_side_does_not_know_counts_as_deleted(person: Person, rag: Rag) -> None:
    await commit(person, work("en"))
    await wait_for(settled(person, 2), "ingested")
    rag.ingested.clear()
    receipt = await erase(person, "all")
    done = await completed(person, receipt)
    assert done["attempts"] == 0
    assert len(deletions(rag)) == 1
    assert (await view(person, receipt))["error"] is None
