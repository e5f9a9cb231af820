"""Policy decides when knowledge is queried, which user is named, and what is offered."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest

from tests.rag.server import Document, Rag, serve_rag
from tests.system.cited import commit, settled, work
from tests.system.databases import Databases
from tests.system.person import Person
from tests.system.running import policy_file, running, settings_for
from tests.system.wait import wait_for

Start = Callable[..., Awaitable[Person]]
QUESTION = {"zh": "公司的退货政策是什么？", "en": "What is the company's return policy?"}


@pytest.fixture
async def rag(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Rag]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    async with serve_rag() as server:
        server.put(Document("returns", "退货政策 return policy: seven days 七天", "https://kb.acme.com/returns"))
        server.put(Document("shop", "退货政策 return policy of the shop", "https://kb.acme.com/shop", org="shop-7"))
        yield server


@pytest.fixture
async def start(
    databases: Databases, kafka: str, rag: Rag, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Start]:
    """A user of a compose with this knowledge policy."""
    started: list[Any] = []

    async def begin(services: tuple[str, ...] = ("compose",), **knowledge: Any) -> Person:
        policy = policy_file(tmp_path_factory.mktemp("policy"), knowledge=knowledge)
        settings = settings_for(databases.fresh(), kafka, knowledge_url=rag.url, policy=policy)
        context = running(settings, services)
        started.append(context)
        return Person(await context.__aenter__())

    yield begin
    for each in started:
        await each.__aexit__(None, None, None)


async def test_never_queries_nothing(start: Start, rag: Rag) -> None:
    person = await start(ask="never")
    await person.compose(QUESTION["zh"])
    await person.post("/v1/retrieve", {**person.whose, "version": "0.1", "queries": [{"text": QUESTION["en"]}]})
    assert rag.plans() == []


async def test_always_queries_every_message(start: Start, rag: Rag) -> None:
    person = await start(ask="always")
    await person.compose("你好")
    await person.compose("hi there")
    assert [plan["queries"][0]["text"] for plan in rag.plans()] == ["你好", "hi there"]


@pytest.mark.parametrize("named", [True, False])
async def test_the_user_is_named_only_if_policy_says_so(start: Start, rag: Rag, named: bool) -> None:
    person = await start(send_user=named)
    for who in (person, Person(person.system, tenant_id=person.tenant_id)):
        await who.compose(QUESTION["zh"])
    headers = [headers for path, _, headers in rag.asked if path == "/retrieve"]
    assert [each.get("x-user-id") == person.user_id for each in headers[:1]] == [named]
    assert len(headers) == (2 if named else 1), "what was answered to one user is another's only where nobody is named"


@pytest.mark.parametrize("shared", [True, False])
async def test_without_user_names_resources_are_offered_only_if_policy_shares_them(
    start: Start, rag: Rag, shared: bool
) -> None:
    person = await start(("compose", "relay", "observer", "librarian"), send_user=False, ingest_shared=shared)
    await commit(person, {**work("en"), "org_id": "shop-7"})
    found = await wait_for(settled(person, 2), "settled")
    state = ("ingested", None) if shared else ("skipped", "users_not_separated")
    assert {(each["state"], each["reason"]) for each in found} == {state}
    named = {(h.get("x-org-id"), h.get("x-user-id")) for path, _, h in rag.asked if path == "/ingest"}
    assert named == ({("shop-7", None)} if shared else set())


async def test_an_organisation_has_its_own_answers_and_changes(start: Start, rag: Rag) -> None:
    person = await start()

    async def found(**more: Any) -> set[str | None]:
        package = await person.compose(QUESTION["zh"], **more)
        return {each.ref.document_id for each in package.evidence if each.source == "resource"}

    shop = {"org_id": "shop-7", "profile_id": "counter"}
    assert await found() == {"returns"}
    assert await found(**shop) == {"returns", "shop"}
    assert await found(org_id="shop-8") == {"returns"}
    rag.documents = [each for each in rag.documents if each.id != "shop"]
    assert await found(**shop) == {"returns", "shop"}
    changed = {"tenant_id": person.tenant_id, **shop}
    assert (await person.post("/v1/knowledge/changed", changed)).json() == {"version": 1}
    assert await found(**shop) == {"returns"}
    assert len(rag.plans()) == 4
    assert await found() == {"returns"}
    assert len(rag.plans()) == 4


async def test_precedence_can_be_disabled(start: Start, rag: Rag) -> None:
    person = await start(precedence=False)
    rag.put(Document("rule", "品牌规范：禁止使用表情符号。", "https://kb.acme.com/brand"))
    package = await person.compose("品牌规范对表情符号怎么说？")
    assert [each.ref.document_id for each in package.evidence][:1] == ["rule"]


@pytest.mark.parametrize("body", [{"tenant_id": ""}, {"org_id": "x" * 200}, {"profile_id": 7}])
async def test_a_change_without_a_scope_is_refused_by_field(start: Start, body: dict[str, Any]) -> None:
    person = await start()
    answer = await person.post("/v1/knowledge/changed", body)
    assert answer.status_code == 422
    assert answer.json()["details"][0]["field"] == next(iter(body))
