"""Knowledge has an owner: a user, an organisation that approved it, or the tenant; no other owner's results are shown.

An approved promotion is written to the knowledge side once, fails visibly, is retried, and is erased with its memory.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from prometheus_client import REGISTRY
from typer.testing import CliRunner

from schemas.topics import PROMOTION_APPROVED
from services.cli import app
from services.librarian import promotion
from shared.bus.delivery import parse
from shared.domain.subjects import Subject
from tests.rag.server import Document, Rag
from tests.system.cited import PAGE, commit, settled, work
from tests.system.databases import Databases
from tests.system.erasures import completed, erase
from tests.system.kafka import of_tenant
from tests.system.person import Json, Person
from tests.system.running import System, listening, policy_file, running, settings_for
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka

SAID = {"zh": "请记住：我喜欢简洁的界面", "en": "Remember that I like a clean interface"}
WORDS = {"zh": "简洁的界面", "en": "clean interface"}
ASKED = {
    "zh": "公司文档里对简洁的界面怎么说？",
    "en": "What does the company documentation say about a clean interface?",
}
PAGE_ASKED = {
    "zh": "海森堡压缩机的保养规范里多久换滤芯？",
    "en": "How often does the Heisenberg compressor manual say to replace the filter?",
}
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])


@pytest.fixture(scope="module")
async def system(
    databases: Databases, kafka: str, one_rag: Rag, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[System]:
    """Every service, with knowledge; lost work is redriven soon, and proposals are created continuously."""
    slices: dict[str, Any] = {
        "evolution": {"every_s": 0.1},
        "delivery": {"redrive_after_s": 0.5, "redrive_every_s": 0.2},
        "knowledge": {"ingest_deadline_s": 2.0},
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


def foreign() -> float:
    """The number of dropped results of other owners."""
    return REGISTRY.get_sample_value("smartbrain_knowledge_foreign_total") or 0.0


def colleague(person: Person) -> Person:
    """Another user of the tenant."""
    return Person(person.system, tenant_id=person.tenant_id)


async def find_knowledge(person: Person, question: str, **more: Any) -> str:
    """The knowledge evidence in the user's package."""
    package = await person.compose(question, **more)
    return "\n".join(each.snippet for each in package.evidence if each.source == "resource")


async def make_proposal(person: Person, text: str, **more: Any) -> Json:
    """The proposal of a statement that the user made in several sessions."""
    for n in range(6):
        await person.say(text, session=f"s{n}", **more)
    (liked,) = await person.memories(type="preference")

    async def of_it() -> Json | None:
        return next((each for each in await promotions(person) if each["memory_id"] == liked["memory_id"]), None)

    made = await wait_for(of_it, "a proposal")
    assert made
    return made


async def promotions(person: Person, **query: str) -> list[Json]:
    return (await person.get("/v1/promotions", **query)).json()["promotions"]


async def approve(person: Person, made: Json, **more: object) -> Json:
    body = {**person.whose, "decision": "approve", "consent": True, **more}
    answer = await person.post(f"/v1/promotions/{made['proposal_id']}", body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def retry(person: Person, made: Json) -> tuple[int, Json]:
    answer = await person.post(f"/v1/promotions/{made['proposal_id']}/retry", person.whose)
    return answer.status_code, answer.json()


async def until(person: Person, made: Json, *, status: str, written: bool) -> Json:
    """The proposal, once it is in this state."""

    async def so() -> Json | None:
        (now,) = [each for each in await promotions(person) if each["proposal_id"] == made["proposal_id"]]
        return now if (now["status"], now["written_at"] is not None) == (status, written) else None

    now = await wait_for(so, f"{status}, written: {written}")
    assert now
    return now


def writes(rag: Rag, made: Json) -> list[tuple[Json, dict[str, str]]]:
    """The documents offered for the promotion, and in whose name."""
    offered = [(body, headers) for path, body, headers in rag.asked if path == "/ingest"]
    return [each for each in offered if each[0]["idempotency_key"] == made["proposal_id"]]


# ------------------------------------------------------------------ documents of users


@LANGUAGES
@pytest.mark.parametrize("filters", [True, False], ids=["filters", "filters_nothing"])
async def test_each_user_finds_only_their_own_documents(person: Person, rag: Rag, language: str, filters: bool) -> None:
    other, third = colleague(person), colleague(person)
    rag.put(Document("manual", PAGE[language].replace("海森堡", "公司 海森堡"), "https://kb.acme.com/manual"))
    for who in (person, other):
        await commit(who, {**work(language), "org_id": "shop-7"})
        await wait_for(settled(who, 2), "ingested")
    rag.filters = filters
    before = foreign()
    for who in (person, other, third):
        package = await who.compose(PAGE_ASKED[language], org_id="shop-7")
        mine = {str(each["document_id"]).removeprefix("doc-") for each in await resources_of(who)}
        documents = {each.ref.document_id for each in package.evidence if each.source == "resource"}
        assert "manual" in documents, "what is the tenant's is everybody's"
        assert bool(documents - {"manual"}) is (who is not third)
        assert documents - {"manual"} <= mine
    assert (foreign() > before) is not filters


async def resources_of(person: Person) -> list[Json]:
    return (await person.get("/v1/resources")).json()["resources"]


# ------------------------------------------------------------------ approved promotions


@LANGUAGES
async def test_a_promotion_to_an_organisation_is_found_there(person: Person, rag: Rag, language: str) -> None:
    made = await make_proposal(person, SAID[language], org_id="shop-7")
    third = colleague(person)
    assert await find_knowledge(third, ASKED[language], org_id="shop-7") == ""
    done = await approve(person, made)
    assert (done["status"], done["visibility"], done["org_id"]) == ("approved", "store", "shop-7")
    now = await until(person, made, status="approved", written=True)
    assert now["write_reason"] is None
    assert WORDS[language] in await find_knowledge(third, ASKED[language], org_id="shop-7")
    for elsewhere in ({"org_id": "shop-8"}, {}):
        assert await find_knowledge(colleague(person), ASKED[language], **elsewhere) == ""
    assert await find_knowledge(Person(person.system), ASKED[language], org_id="shop-7") == ""
    rag.filters = False
    for elsewhere in ({"org_id": "shop-8"}, {}):
        assert await find_knowledge(colleague(person), ASKED[language], **elsewhere) == ""
    ((body, headers),) = writes(rag, made)
    assert body["owner"] == {"tenant_id": person.tenant_id, "org_id": "shop-7", "user_id": ""}
    assert (body["meta"]["visibility"], headers.get("x-user-id")) == ("store", None)
    assert person.user_id not in str(body)


@LANGUAGES
async def test_a_promotion_to_the_tenant_is_found_by_all_after_approval_only(
    person: Person, rag: Rag, language: str
) -> None:
    made = await make_proposal(person, SAID[language], org_id="shop-7")
    other = colleague(person)
    assert await find_knowledge(other, ASKED[language]) == ""
    await approve(person, made, visibility="brand")
    await until(person, made, status="approved", written=True)
    assert WORDS[language] in await find_knowledge(other, ASKED[language])
    assert WORDS[language] in await find_knowledge(other, ASKED[language], org_id="shop-8")
    assert await find_knowledge(Person(person.system), ASKED[language]) == ""
    ((body, _),) = writes(rag, made)
    assert body["owner"] == {"tenant_id": person.tenant_id, "org_id": "", "user_id": ""}


async def test_a_rejected_promotion_is_not_written(person: Person, rag: Rag) -> None:
    made = await make_proposal(person, SAID["en"])
    answer = await person.post(f"/v1/promotions/{made['proposal_id']}", {**person.whose, "decision": "reject"})
    assert answer.json()["status"] == "rejected"
    status, told = await retry(person, made)
    assert (status, told["code"]) == (409, "not_approved")
    assert writes(rag, made) == []


# ------------------------------------------------------------------ failed writes


@LANGUAGES
async def test_a_refused_promotion_fails_and_is_written_once_on_retry(
    person: Person, rag: Rag, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await make_proposal(person, SAID[language])
    rag.ingest_mode = "refused"
    await approve(person, made, visibility="global")
    failed = await until(person, made, status="write_failed", written=False)
    assert failed["write_reason"] == "knowledge_refused"
    assert [each["proposal_id"] for each in await promotions(person, status="write_failed")] == [made["proposal_id"]]
    assert (await approve(person, made, visibility="global"))["status"] == "write_failed", "it was decided already"
    assert len(writes(rag, made)) == 1, "what is refused is not offered again by itself"
    rag.ingest_mode = "well"
    whose = ["-u", person.user_id, "--tenant", person.tenant_id]
    async with listening(person.system) as url:
        monkeypatch.setenv("SMARTBRAIN_URL", url)
        again = ["promotions", "retry", made["proposal_id"], *whose]
        done = await asyncio.to_thread(CliRunner().invoke, app, again)
    assert (done.exit_code, "approved" in done.stdout) == (0, True), done.output
    await until(person, made, status="approved", written=True)
    assert WORDS[language] in await find_knowledge(colleague(person), ASKED[language])
    assert (await retry(person, made))[0] == 202
    await deliver_again(person)
    assert len(writes(rag, made)) == 2, "the one that was refused, and the one that was taken"
    assert sum(each.id == made["proposal_id"] for each in rag.documents) == 1


async def deliver_again(person: Person) -> None:
    """The librarian receives every approval again."""
    stored = await of_tenant(person.system.bootstrap, person.tenant_id, PROMOTION_APPROVED.name)
    assert stored
    subject = Subject(person.tenant_id, person.user_id)
    await promotion.write(person.system["librarian"].rt, subject, [parse(each) for each in stored])


async def test_an_unavailable_server_is_retried_until_attempts_are_exhausted(person: Person, rag: Rag) -> None:
    made = await make_proposal(person, SAID["en"])
    rag.ingest_mode = "http_500"
    await approve(person, made, visibility="brand")
    tried = "SELECT count(*) FROM promotions WHERE user_id = %(u)s AND write_attempts > 0 AND status = 'approved'"
    await wait_for(lambda: person.number(tried), "tried in vain")
    await person.system.change(
        "UPDATE promotions SET write_attempts = 7, write_requested_at = now() - interval '1 hour'"
        " WHERE user_id = %(u)s AND proposal_id = %(p)s RETURNING proposal_id",
        u=person.user_id,
        p=made["proposal_id"],
    )
    await person.system.change("UPDATE redriven SET last_at = now() - interval '1 hour' RETURNING about")
    failed = await until(person, made, status="write_failed", written=False)
    assert failed["write_reason"] in ("knowledge_server_error", "knowledge_circuit_open")
    rag.ingest_mode = "well"
    person.system["librarian"].rt.knowledge.__init__(rag.url, None, time.monotonic)  # type: ignore[misc]
    assert (await retry(person, made))[0] == 202
    await until(person, made, status="approved", written=True)
    assert [each.id for each in rag.documents] == [made["proposal_id"]]


async def test_a_lost_response_leaves_one_document(person: Person, rag: Rag) -> None:
    made = await make_proposal(person, SAID["zh"])
    rag.ingest_mode, rag.slow_s = "slow", 2.4
    await approve(person, made, visibility="brand")
    await wait_for(lambda: rag.ever, "taken over there, though its answer came too late")
    rag.ingest_mode = "well"
    assert (await retry(person, made))[0] == 202
    await until(person, made, status="approved", written=True)
    assert [each.id for each in rag.documents] == [made["proposal_id"]]


async def test_a_lost_write_is_redriven(person: Person, rag: Rag) -> None:
    made = await make_proposal(person, SAID["zh"])
    await approve(person, made, visibility="brand")
    await until(person, made, status="approved", written=True)
    rag.ingested.clear()
    rag.documents.clear()
    await person.system.change(
        "UPDATE promotions SET written_at = NULL, document_id = NULL, write_requested_at = now() - interval '1 hour'"
        " WHERE user_id = %(u)s AND proposal_id = %(p)s RETURNING proposal_id",
        u=person.user_id,
        p=made["proposal_id"],
    )
    await until(person, made, status="approved", written=True)
    assert [each.id for each in rag.documents] == [made["proposal_id"]]


async def test_an_event_that_the_librarian_gives_up_has_failed_and_is_redriven(person: Person, rag: Rag) -> None:
    made = await make_proposal(person, SAID["en"])
    subject = Subject(person.tenant_id, person.user_id)
    await person.system.stop("librarian")
    await approve(person, made, visibility="brand")

    async def told() -> list[Any]:
        return await of_tenant(person.system.bootstrap, person.tenant_id, PROMOTION_APPROVED.name)

    (stored,) = await wait_for(told, "told")
    await promotion.give_up(person.system["compose"].rt, subject, parse(stored), "poison")
    failed = await until(person, made, status="write_failed", written=False)
    assert failed["write_reason"] == "given_up"
    assert (
        person.number("SELECT count(*) FROM quarantine WHERE user_id = %(u)s AND stage = 'librarian-promotions'") == 1
    )
    await person.system.start("librarian")
    assert (await retry(person, made))[0] == 202
    await until(person, made, status="approved", written=True)
    assert [each.id for each in rag.documents] == [made["proposal_id"]]


async def test_an_ended_memory_is_not_written(person: Person, rag: Rag) -> None:
    made = await make_proposal(person, SAID["en"])
    rag.ingest_mode = "refused"
    await approve(person, made, visibility="brand")
    await until(person, made, status="write_failed", written=False)
    await person.system.change(
        "UPDATE memory_items SET fused_at = now() WHERE user_id = %(u)s AND memory_id = %(m)s RETURNING memory_id",
        u=person.user_id,
        m=made["memory_id"],
    )
    rag.ingest_mode = "well"
    assert (await retry(person, made))[0] == 202
    failed = await until(person, made, status="write_failed", written=False)
    assert failed["write_reason"] == "memory_ended"
    assert (len(writes(rag, made)), rag.documents) == (1, [])


async def test_nothing_is_written_for_an_organisation_on_a_server_without_isolation(person: Person, rag: Rag) -> None:
    made = await make_proposal(person, SAID["en"], org_id="shop-7")
    rag.separates_users = False
    await approve(person, made, visibility="region")
    failed = await until(person, made, status="write_failed", written=False)
    assert failed["write_reason"] == "organisations_not_separated"
    assert writes(rag, made) == []


# ------------------------------------------------------------------ erasures


async def test_a_promotion_in_transit_is_awaited_and_erased(person: Person, rag: Rag) -> None:
    made = await make_proposal(person, SAID["zh"])
    rag.ingest_mode, rag.slow_s = "slow", 1.0
    await approve(person, made, visibility="global")
    await wait_for(lambda: writes(rag, made), "on its way")
    done = await completed(person, await erase(person, "all"))
    assert made["proposal_id"] in rag.ever
    assert (rag.ingested, rag.documents) == ({}, [])
    assert done["attempts"] == 0, "waiting costs no attempt"


@pytest.mark.parametrize("scope", ["all", "personal", "items"])
async def test_an_erasure_withdraws_approved_promotions(person: Person, rag: Rag, scope: str) -> None:
    made = await make_proposal(person, SAID["en"])
    await approve(person, made, visibility="brand")
    await until(person, made, status="approved", written=True)
    other = colleague(person)
    assert WORDS["en"] in await find_knowledge(other, ASKED["en"])
    more = {"item_ids": [made["memory_id"]]} if scope == "items" else {}
    done = await completed(person, await erase(person, scope, **more))
    assert done["proof"]["stores"]["knowledge"] >= 1
    assert rag.ingested == {}
    assert await find_knowledge(other, ASKED["en"]) == ""
