"""References of turns and products of tools reach the knowledge side once and are found there; chat text does not."""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from typer.testing import CliRunner

from schemas.topics import RESOURCE_INGEST
from services.cli import app
from services.librarian import handler
from shared.bus.delivery import parse
from shared.domain.subjects import Subject
from tests.rag.server import Document, Rag
from tests.system.cited import PAGE, SECRET, SPEC, commit, resources, settled, work
from tests.system.databases import Databases
from tests.system.kafka import of_tenant
from tests.system.person import Person
from tests.system.running import System, listening, policy_file, running, settings_for
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka

ASKED = {
    "zh": ("海森堡压缩机的保养规范里多久换滤芯？", "北极光接口规范里的超时是多少？"),
    "en": (
        "How often does the Heisenberg compressor manual say to replace the filter?",
        "What is the timeout in the Aurora specification?",
    ),
}


@pytest.fixture(scope="module")
async def system(
    databases: Databases, kafka: str, one_rag: Rag, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[System]:
    """Every service, with knowledge; lost work is redriven soon."""
    slices: dict[str, Any] = {
        "delivery": {"redrive_after_s": 0.5, "redrive_every_s": 0.2},
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


async def resource_texts(person: Person, question: str, **more: Any) -> str:
    """The knowledge evidence in the user's package."""
    package = await person.compose(question, **more)
    return "\n".join(each.snippet for each in package.evidence if each.source == "resource")


@pytest.mark.parametrize("language", PAGE)
async def test_a_users_document_is_offered_for_that_user_only(person: Person, rag: Rag, language: str) -> None:
    await commit(person, {**work(language), "org_id": "shop-7"})
    await wait_for(settled(person, 2), "ingested")
    named = {(h["x-tenant-id"], h["x-org-id"], h["x-user-id"]) for path, _, h in rag.asked if path == "/ingest"}
    assert named == {(person.tenant_id, "shop-7", person.user_id)}
    other = Person(person.system, tenant_id=person.tenant_id)
    for question, words in zip(ASKED[language], (PAGE[language], SPEC[language]), strict=True):
        assert words[:20] in await resource_texts(person, question, org_id="shop-7")
        assert await resource_texts(person, question, org_id="shop-8") == ""
        assert await resource_texts(person, question) == ""
        assert await resource_texts(other, question, org_id="shop-7") == ""
    plan = {"version": "0.1", "queries": [{"text": ASKED[language][0]}], "org_id": "shop-7"}
    packs = [(await who.post("/v1/retrieve", {**who.whose, **plan})).json() for who in (person, other)]
    assert [any(PAGE[language][:20] in e["snippet"] for e in pack["evidences"]) for pack in packs] == [True, False]
    assert {h.get("x-user-id") for path, _, h in rag.asked if path == "/retrieve"} == {person.user_id, other.user_id}


async def test_the_same_page_is_offered_to_each_organisation(person: Person, rag: Rag) -> None:
    await commit(person, {**work("en"), "org_id": "shop-7"})
    await wait_for(settled(person, 2), "ingested")
    await commit(person, {**work("en"), "org_id": "shop-8"}, session="s2")
    assert [each["reason"] for each in await wait_for(settled(person, 4), "ingested")] == [None] * 4
    assert {whose[1] for each in rag.ingested.values() if (whose := each["whose"])} == {"shop-7", "shop-8"}


@pytest.mark.parametrize("says", ["nothing", "no"])
async def test_a_server_without_user_isolation_is_offered_nothing(person: Person, rag: Rag, says: str) -> None:
    rag.separates_users, rag.with_capabilities = False, says == "no"
    await commit(person, work("zh"))
    found = await wait_for(settled(person, 2), "settled")
    assert {(each["state"], each["reason"]) for each in found} == {("skipped", "users_not_separated")}
    assert (rag.ever, [path for path, _, _ in rag.asked if path == "/ingest"]) == (set(), [])


async def test_a_server_that_does_not_report_its_capabilities_is_awaited(person: Person, rag: Rag) -> None:
    rag.capabilities_mode = "http_500"
    await commit(person, work("en"))
    await wait_for(lambda: is_retrying(person), "tried")
    assert rag.ever == set()
    rag.capabilities_mode = "well"
    await make_due(person, "attempts = attempts")
    assert {each["state"] for each in await wait_for(settled(person, 2), "ingested")} == {"ingested"}


@pytest.mark.parametrize("language", PAGE)
async def test_a_page_and_a_product_are_ingested_and_answer_the_next_question(
    person: Person, rag: Rag, language: str
) -> None:
    turn_id = await commit(person, work(language))
    found = {each["ref_type"]: each for each in await wait_for(settled(person, 2), "ingested")}
    assert {each["state"] for each in found.values()} == {"ingested"}
    assert found["url"]["source_uri"] == f"https://docs.example.org/{language}/compressor"
    assert found["tool"]["source_uri"].startswith(f"smartbrain://turn/{turn_id}#")
    assert all(each["document_id"] for each in found.values())
    given = {each["source_type"]: each for each in rag.ingested.values()}
    assert set(given) == {"url", "memory_snapshot"}
    assert given["url"]["content"].startswith(PAGE[language][:60])
    assert given["memory_snapshot"]["title"] == f"specs/aurora.{language}.md"
    told = str([{name: body[name] for name in body if name != "owner"} for _, body, _ in rag.asked])
    assert [word for word in (SECRET, "13812345678", person.user_id, "good mood", "心情") if word in told] == []
    for question, words in zip(ASKED[language], (PAGE[language], SPEC[language]), strict=True):
        package = await person.compose(question)
        assert any(words[:20] in each.snippet for each in package.evidence if each.source == "resource"), question
    turn = await person.get(f"/v1/turns/{turn_id}")
    assert turn.status_code == 200


async def test_redelivery_offers_nothing_twice(person: Person, rag: Rag) -> None:
    await commit(person, work("en"))
    await wait_for(settled(person, 2), "ingested")
    stored = await of_tenant(person.system.bootstrap, person.tenant_id, RESOURCE_INGEST.name)
    asked = len([path for path, _, _ in rag.asked if path == "/ingest"])
    subject = Subject(person.tenant_id, person.user_id)
    await handler.keep(person.system["librarian"].rt, subject, [parse(each) for each in stored])
    assert asked == 2 == len([path for path, _, _ in rag.asked if path == "/ingest"])
    assert {each["attempts"] for each in await resources(person)} == {1}


async def test_a_librarian_killed_in_the_middle_offers_once(person: Person, rag: Rag) -> None:
    rag.ingest_mode, rag.slow_s = "slow", 0.3
    await commit(person, work("en"))
    await wait_for(lambda: any(path == "/ingest" for path, _, _ in rag.asked), "asked")
    await person.system.stop("librarian")
    rag.ingest_mode = "well"
    await person.system.start("librarian")
    found = await wait_for(settled(person, 2), "ingested")
    assert {each["state"] for each in found} == {"ingested"}
    assert len(rag.ingested) == 2


async def test_a_lost_request_is_redriven(person: Person, rag: Rag) -> None:
    await commit(person, work("zh"))
    await wait_for(settled(person, 2), "ingested")
    rag.ingested.clear()
    await make_due(person, "state = 'pending', settled_at = NULL, requested_at = now() - interval '1 hour'")
    await wait_for(lambda: len(rag.ingested) == 2, "given again")
    assert {each["state"] for each in await wait_for(settled(person, 2), "ingested")} == {"ingested"}


async def make_due(person: Person, change: str) -> None:
    """Changes the user's resources in the database, and makes them due for a redrive at once."""
    await person.system.change(
        f"UPDATE resources SET {change} WHERE tenant_id = %(t)s RETURNING resource_id",  # noqa: S608
        t=person.tenant_id,
    )
    await person.system.change("UPDATE redriven SET last_at = now() - interval '1 hour' RETURNING about")


async def is_retrying(person: Person) -> bool:
    """Whether both were offered once without success and wait."""
    found = [(each["state"], each["attempts"] > 0, each["reason"]) for each in await resources(person)]
    return found == [("pending", True, "knowledge_server_error")] * 2


async def test_an_unavailable_server_is_awaited(person: Person, rag: Rag) -> None:
    rag.ingest_mode = "http_500"
    await commit(person, work("zh"))
    await wait_for(lambda: is_retrying(person), "tried")
    rag.ingest_mode = "well"
    await make_due(person, "attempts = attempts")
    assert {each["state"] for each in await wait_for(settled(person, 2), "ingested")} == {"ingested"}


async def test_a_resource_fails_with_a_reason_after_all_attempts(person: Person, rag: Rag) -> None:
    rag.ingest_mode = "http_500"
    await commit(person, work("en"))
    await wait_for(lambda: is_retrying(person), "tried")
    await make_due(person, "attempts = 7")
    found = await wait_for(settled(person, 2), "failed")
    assert {(each["state"], each["reason"]) for each in found} <= {
        ("failed", "knowledge_server_error"),
        ("failed", "knowledge_circuit_open"),
    }
    assert {each["attempts"] for each in found} <= {8, 9}, "one that was under way meanwhile counts too"


async def test_a_refused_resource_fails_with_a_reason(person: Person, rag: Rag) -> None:
    rag.ingest_mode = "refused"
    await commit(person, work("en"))
    found = await wait_for(settled(person, 2), "failed")
    assert {(each["state"], each["reason"]) for each in found} == {("failed", "knowledge_refused")}
    outcome = await person.get("/v1/resources", state="ingested")
    assert outcome.json() == {"resources": []}


async def test_an_unchanged_page_is_offered_once_and_a_changed_one_again(person: Person, rag: Rag) -> None:
    await commit(person, work("en"))
    await wait_for(settled(person, 2), "ingested")
    await commit(person, work("en"), session="s2")
    found = await wait_for(settled(person, 4), "settled")
    urls = [(each["state"], each["reason"]) for each in found if each["ref_type"] == "url"]
    assert sorted(urls) == [("ingested", None), ("skipped", "known_already")]
    changed = work("en")
    changed["tool_calls"][0]["result"] = {"content": "Version two. " + PAGE["en"]}
    await commit(person, changed, session="s3")
    found = await wait_for(settled(person, 6), "settled")
    assert sum(each["ref_type"] == "url" and each["state"] == "ingested" for each in found) == 2


async def test_resources_of_others_are_not_visible(person: Person, rag: Rag) -> None:
    await commit(person, work("en"))
    await wait_for(settled(person, 2), "ingested")
    for stranger in (Person(person.system, tenant_id=person.tenant_id), Person(person.system, person.user_id)):
        assert await resources(stranger) == []


@pytest.mark.parametrize("language", ASKED)
async def test_an_answer_is_cached_until_knowledge_changes(person: Person, rag: Rag, language: str) -> None:
    question, words = ASKED[language][0], PAGE[language]
    rag.put(Document("manual", words, "https://docs.example.org/manual"))

    async def found() -> list[str]:
        package = await person.compose(question)
        return [each.snippet.partition(">")[2] for each in package.evidence if each.source == "resource"]

    first = await found()
    assert first
    assert await found() == first
    assert len(rag.plans(person.tenant_id)) == 1
    other = Person(person.system, tenant_id=person.tenant_id)
    assert [e.source for e in (await other.compose(question)).evidence] == ["resource"]
    assert len(rag.plans(person.tenant_id)) == 2, "an answer to one user is no answer to another"
    stranger = Person(person.system)
    await stranger.compose(question)
    assert len(rag.plans(stranger.tenant_id)) == 1
    rag.documents.clear()
    assert await found() == first
    answer = await person.post("/v1/knowledge/changed", {"tenant_id": person.tenant_id, "org_id": "elsewhere"})
    assert answer.json() == {"version": 1}
    assert await found() == first
    assert (await person.post("/v1/knowledge/changed", {"tenant_id": person.tenant_id})).status_code == 200
    assert await found() == []
    assert len(rag.plans(person.tenant_id)) == 3


async def test_an_ingest_invalidates_cached_answers(person: Person, rag: Rag) -> None:
    question = ASKED["en"][0]
    package = await person.compose(question)
    assert not [each for each in package.evidence if each.source == "resource"]
    await commit(person, work("en"))
    await wait_for(settled(person, 2), "ingested")
    package = await person.compose(question)
    assert [each for each in package.evidence if each.source == "resource"]


async def test_the_command_reports_a_knowledge_change_and_lists_resources(
    person: Person, rag: Rag, monkeypatch: pytest.MonkeyPatch
) -> None:
    await commit(person, work("en"))
    await wait_for(settled(person, 2), "ingested")
    async with listening(person.system) as url:
        monkeypatch.setenv("SMARTBRAIN_URL", url)

        async def run(*args: str) -> tuple[int, str]:
            done = await asyncio.to_thread(CliRunner().invoke, app, ["knowledge", *args, "--tenant", person.tenant_id])
            return done.exit_code, done.stdout

        code, said = await run("changed")
        assert (code, "version" in said) == (0, True)
        code, said = await run("resources", "-u", person.user_id)
        assert (code, said.count("ingested")) == (0, 2)
        assert "no resources" in (await run("resources", "-u", "nobody"))[1]
