"""An erasure that cannot continue waits, retries, is escalated and requeued; nothing is learnt behind the fence."""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from prometheus_client import REGISTRY

from schemas.topics import ERASURE_REQUESTED, ERASURE_STATE, MEMORY_CHANGED
from services.erasure import watch
from tests.rag.server import Rag
from tests.system.cited import commit, settled, work
from tests.system.databases import Databases
from tests.system.erasures import completed, erase, mine, reached, view
from tests.system.kafka import of_tenant
from tests.system.person import Json, Person
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for

POLICY: dict[str, Any] = {
    "knowledge": {"ingest_deadline_s": 3.0},
    "delivery": {"redrive_every_s": 0.1, "redrive_after_s": 3.0},
    "erasure": {"retry_after_s": [1.0], "attempts_max": 2, "check_every_s": 3600},
    "evolution": {"every_s": 3600},
}
BY = {"requested_by": "operator", "reason": "the index is up again"}
LATER = {"zh": ("我喜欢喝乌龙茶。", "乌龙茶"), "en": ("I prefer oolong tea.", "oolong")}


@pytest.fixture(scope="module")
async def system(
    databases: Databases, kafka: str, one_rag: Rag, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[System]:
    """Every service, with knowledge and short waiting times."""
    policy = policy_file(tmp_path_factory.mktemp("policy"), **POLICY)
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


async def commit_documents(person: Person) -> None:
    """The knowledge side has two documents of the user."""
    await commit(person, work("en"))
    await wait_for(settled(person, 2), "ingested")


def list_states(seen: Json) -> list[str]:
    """The states of the erasure since work on it began."""
    return [step["to"] for step in seen["history"]][4:]


TRIED = ["processing", "failed", "retry_pending"]


@pytest.mark.parametrize("mode", ["http_500", "slow", "refused", "unauthorised"])
async def test_a_failing_knowledge_side_is_retried_until_it_recovers(person: Person, rag: Rag, mode: Any) -> None:
    await commit_documents(person)
    rag.delete_mode = mode
    receipt = await erase(person, "all")
    seen = await reached(person, receipt, "retry_pending")
    assert seen["error"].startswith("knowledge: ")
    assert seen["attempts"] >= 1
    assert len(rag.ingested) == 2
    rag.delete_mode = "well"
    done = await completed(person, receipt)
    states = list_states(done)
    assert states[-2:] == ["processing", "completed"]
    tries = (len(states) - 2) // 3
    assert states[:-2] == TRIED * tries
    assert done["attempts"] == tries
    assert rag.ingested == {}
    assert len(mine(person, "audit_events")) == 1
    stored = await of_tenant(person.system.bootstrap, person.tenant_id, ERASURE_STATE.name)
    told = [each.envelope.payload for each in stored]
    assert [each["to"] for each in told] == [step["to"] for step in done["history"]][1:]
    assert {each["store"] for each in told if each["to"] in ("failed", "retry_pending")} == {"knowledge"}
    keys = {
        s.envelope.idempotency_key
        for s in await of_tenant(person.system.bootstrap, person.tenant_id, ERASURE_STATE.name)
    }
    assert len(keys) == len(told)


async def test_an_unavailable_server_is_retried_until_attempts_are_exhausted(person: Person, rag: Rag) -> None:
    await commit_documents(person)
    worker = person.system["erasure"].rt
    worker.knowledge.__init__("http://127.0.0.1:1", None, time.monotonic)  # type: ignore[misc]
    receipt = await erase(person, "all")
    seen = await reached(person, receipt, "escalated")
    assert list_states(seen) == [*TRIED * 3, "escalated"]
    assert (seen["attempts"], seen["error"]) == (3, "knowledge: connection")
    assert seen["escalated_at"]
    assert rag.ingested
    for body, status in (({}, 422), ({"requested_by": "operator"}, 422), ({**BY, "reason": ""}, 422)):
        assert (await requeue_erasure(person, receipt, body)).status_code == status
    worker.knowledge.__init__(rag.url, None, time.monotonic)  # type: ignore[misc]
    await asyncio.sleep(0.5)
    assert (await view(person, receipt))["status"] == "escalated"
    assert (await requeue_erasure(person, receipt, BY)).status_code == 202
    done = await completed(person, receipt)
    assert list_states(done)[-3:] == ["escalated", "processing", "completed"]
    assert done["history"][-2]["error"] == "requeued by operator: the index is up again"
    assert rag.ingested == {}
    refused = await requeue_erasure(person, receipt, BY)
    assert (refused.status_code, refused.json()["code"]) == (409, "not_escalated")
    stranger = Person(person.system, tenant_id=person.tenant_id)
    assert (await requeue_erasure(stranger, receipt, BY)).status_code == 404


async def requeue_erasure(person: Person, receipt: Json, body: Json) -> Any:
    return await person.post(f"/v1/erasures/{receipt['tombstone_id']}/requeue", {**person.whose, **body})


async def test_documents_without_a_knowledge_side_block_completion(person: Person, rag: Rag) -> None:
    await commit_documents(person)
    system, known = person.system, person.system.settings
    await system.stop("erasure")
    system.settings = known.model_copy(update={"knowledge_url": None})
    await system.start("erasure")
    try:
        receipt = await erase(person, "all")
        seen = await reached(person, receipt, "retry_pending")
        assert seen["error"] == "knowledge: not_configured"
        alone = Person(system)
        await alone.say("I prefer green tea.")
        await completed(alone, await erase(alone, "all"))
    finally:
        await system.stop("erasure")
        system.settings = known
        await system.start("erasure")
    if (await view(person, receipt))["status"] == "escalated":
        await requeue_erasure(person, receipt, BY)
    await completed(person, receipt)
    assert rag.ingested == {}


@pytest.mark.parametrize("language", LATER)
@pytest.mark.parametrize("state", ["queued", "processing", "retry_pending", "escalated"])
async def test_nothing_is_learnt_behind_the_fence_until_completion(
    person: Person, rag: Rag, state: str, language: str
) -> None:
    system = person.system
    policy = system["erasure"].rt.policy
    await commit_documents(person)
    if state == "queued":
        await system.stop("erasure")
    rag.slow_s = 8.0 if state == "processing" else 30.0
    rag.delete_mode = "slow" if state == "processing" else "http_500"
    if state == "processing":
        object.__setattr__(policy.knowledge, "ingest_deadline_s", 20.0)
    if state == "retry_pending":
        object.__setattr__(policy.erasure, "retry_after_s", (8.0,))
    try:
        receipt = await erase(person, "all")
        await reached(person, receipt, state)
        said, word = LATER[language]
        turn = await person.commit(said, session="s1")

        async def blocked() -> list[Json]:
            stored = await of_tenant(system.bootstrap, person.tenant_id, MEMORY_CHANGED.name)
            told = [s.envelope for s in stored]
            return [e.payload for e in told if e.event_type == "evolution_blocked_by_erasure"]

        told = await wait_for(blocked, "the fence tells of it")
        assert {each["tombstone_id"] for each in told} == {receipt["tombstone_id"]}
        assert {each["reason"] for each in told} <= {state, "processing"}
        assert await person.contents() == []
        assert mine(person, "memory_items", "tombstone_id IS NULL") == []
        if state != "retry_pending":
            assert (await view(person, receipt))["status"] == state
    finally:
        rag.delete_mode = "well"
        object.__setattr__(policy.knowledge, "ingest_deadline_s", 3.0)
        object.__setattr__(policy.erasure, "retry_after_s", (1.0,))
        if state == "queued":
            await system.start("erasure")
    if (await view(person, receipt))["status"] == "escalated":
        assert (await requeue_erasure(person, receipt, BY)).status_code == 202
    await completed(person, receipt)
    assert (await person.outcome(turn["turn_id"]))["status"] == "derived"
    assert [word in content for content in await person.contents()] == [True]


LEFT = {"none": 0.5, "warn": 0.2, "critical": 0.05, "overdue": -0.1}


def gauge(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"smartbrain_{name}", labels) or 0.0


async def set_remaining_share(person: Person, receipt: Json, left: float) -> None:
    """The remaining share of the time between request and deadline."""
    await person.system.change(
        "UPDATE tombstones SET requested_at = now() - %(gone)s * interval '10 days',"
        " deadline_at = now() + %(left)s * interval '10 days' WHERE tombstone_id = %(id)s RETURNING 1",
        gone=1 - left,
        left=left,
        id=receipt["tombstone_id"],
    )


async def test_remaining_time_is_measured_and_a_missed_deadline_escalates_once(person: Person, rag: Rag) -> None:
    system = person.system
    await commit_documents(person)
    await system.stop("erasure")
    try:
        receipt = await erase(person, "all")
        for level, left in LEFT.items():
            await set_remaining_share(person, receipt, left)
            assert await watch.watch(rt_of(system)) == (level == "overdue")
            assert gauge("erasure_sla_remaining") == pytest.approx(left, abs=0.001)
            levels = {name: gauge("erasures_due", level=name) for name in ("warn", "critical", "overdue")}
            assert levels == {name: float(name == level) for name in levels}
        assert (await view(person, receipt))["status"] == "escalated"
        assert await watch.watch(rt_of(system)) == 0
        assert gauge("erasures", status="escalated") == 1
        assert (await requeue_erasure(person, receipt, BY)).status_code == 202
        assert await watch.watch(rt_of(system)) == 0, "an operator has it at work again"
        assert gauge("erasures", status="processing") == 1
    finally:
        await system.start("erasure")
    done = await completed(person, receipt)
    assert list_states(done) == ["escalated", "processing", "completed"]
    assert done["history"][4]["error"] == "deadline passed"
    assert await watch.watch(rt_of(system)) == 0
    assert gauge("erasure_sla_remaining") == 1
    assert gauge("erasures", status="escalated") == 0


def rt_of(system: System) -> Any:
    """A runtime with the system role."""
    return system["compose"].rt


async def test_a_lost_event_is_redriven_from_state(person: Person, rag: Rag) -> None:
    system = person.system
    await person.say("I prefer green tea.")
    await system.settled()
    await system.stop("relay")
    receipt = await erase(person, "all")
    lost = await system.change(
        "DELETE FROM event_outbox WHERE aggregatetype = %(topic)s AND payload ->> 'tenant_id' = %(t)s RETURNING id",
        topic=ERASURE_REQUESTED.name,
        t=person.tenant_id,
    )
    assert len(lost) == 1
    await system.start("relay")
    done = await completed(person, receipt)
    assert list_states(done) == ["processing", "completed"]
