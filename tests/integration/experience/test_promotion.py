"""A qualifying memory is proposed once, screened before anybody sees it, and ends with its deadline or its memory."""

import asyncio
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.promotion import PromotionDecision, PromotionView
from services.compose.manage import promotions
from services.evolver import promotion
from shared.domain.subjects import Subject
from shared.errors import RefusedError
from shared.runtime import Runtime
from tests.system import databases

WHO = Subject("t", "u")


def sql(rt: Runtime, statement: str, **params: Any) -> list[dict[str, Any]]:
    """The result for the superuser."""
    return databases.rows(rt.db.dsn, statement, **params)


def insert_memory(
    rt: Runtime,
    text: str = "下雨天顾客更爱买防水面料",
    *,
    used: int = 2,
    said_again: int = 1,
    against: int = 0,
    user: str = "u",
    **more: Any,
) -> UUID:
    """A memory that qualifies unless the arguments prevent it."""
    memory_id = uuid4()
    row = {
        "type": "pattern",
        "confidence": 0.9,
        "epistemic_type": "fact",
        "source_sessions": ["s1", "s2"],
        "status": "active",
        "invalid_at": None,
        "flags": [],
        "fused_at": None,
        "valid_until": None,
        **more,
    }
    sql(
        rt,
        "INSERT INTO memory_items (tenant_id, user_id, memory_id, root_id, version, type, content_text, content_hash,"
        " status, confidence, provenance_class, assertion, epistemic_type, flags, valid_at, invalid_at, valid_until,"
        " source_sessions, fused_at, updated_at) VALUES ('t', %(user)s, %(id)s, %(id)s, 1, %(type)s, %(text)s,"
        " %(text)s, %(status)s, %(confidence)s, 'confirmed_by_user', 'directive', %(epistemic_type)s, %(flags)s, now(),"
        " %(invalid_at)s, %(valid_until)s, %(source_sessions)s, %(fused_at)s, now() + interval '1 second')",
        **row,
        user=user,
        id=memory_id,
        text=text,
    )
    given = {"user": user, "id": memory_id}
    sql(
        rt,
        "INSERT INTO injections (tenant_id, user_id, context_id, session_id, core_ids, evidence_ids, degraded,"
        " policy_version, used_ids) SELECT 't', %(user)s, gen_random_uuid(), 's', '{}', '{}', false, 'v', ARRAY[%(id)s]"
        " FROM generate_series(1, %(n)s)",
        **given,
        n=used,
    )
    sql(
        rt,
        "INSERT INTO observations (tenant_id, user_id, observation_id, turn_id, session_id, ordinal, priority, state,"
        " kind, text, assertion, epistemic, confidence, detector, pattern, language, said_at, input_hash,"
        " related_memory_id, reason) SELECT 't', %(user)s, gen_random_uuid(), gen_random_uuid(), 's', 0, 'normal',"
        " 'evolved', 'pattern', '', 'declared', 'fact', 0.5, 'rules', 'p', 'zh', now(), gen_random_uuid()::text,"
        " %(id)s, 'confirm:said_again' FROM generate_series(1, %(n)s)",
        **given,
        n=said_again,
    )
    sql(
        rt,
        "INSERT INTO conflicts (tenant_id, user_id, conflict_id, memory_id, observation_id, kind, opened_at)"
        " SELECT 't', %(user)s, gen_random_uuid(), %(id)s, gen_random_uuid(), 'k', now()"
        " FROM generate_series(1, %(n)s)",
        **given,
        n=against,
    )
    return memory_id


async def run_round(rt: Runtime, who: Subject = WHO) -> list[PromotionView]:
    """The proposals after a round over all users."""
    await promotion.propose(rt)
    return list((await promotions.load_page(rt, who, None, 50)).promotions)


def count_events(rt: Runtime) -> int:
    """The number of proposal events."""
    return len(sql(rt, "SELECT 1 FROM event_outbox WHERE type = 'promotion.proposed'"))


@pytest.mark.parametrize(
    "text", ["下雨天顾客更爱买防水面料", "Customers ask for waterproof fabric when it rains"], ids=["zh", "en"]
)
async def test_a_qualifying_memory_is_proposed_once_with_its_figures(rt: Runtime, text: str) -> None:
    memory_id = insert_memory(rt, text)
    (made,) = await run_round(rt)
    assert (made.memory_id, made.status, made.class_, made.visibility) == (
        memory_id,
        "pending_approval",
        "public",
        "store",
    )
    assert made.content == text
    assert made.figures["uses_30d"] == 3
    assert made.figures["thresholds"]["least_sessions"] == 2
    assert (made.expires_at - made.created_at).days == 7
    await asyncio.gather(*(promotion.propose(rt) for _ in range(4)))
    assert [each.proposal_id for each in await run_round(rt)] == [made.proposal_id]
    assert count_events(rt) == 1
    (event,) = sql(rt, "SELECT payload -> 'payload' AS p FROM event_outbox")
    assert event["p"] == {"proposal_id": str(made.proposal_id), "visibility": "store"}
    rowed = sql(rt, "SELECT to_jsonb(p)::text AS row FROM promotions p")
    assert text not in rowed[0]["row"]


@pytest.mark.parametrize(
    "lacking",
    [
        {"confidence": 0.7},
        {"used": 1, "said_again": 1},
        {"source_sessions": ["s1"]},
        {"epistemic_type": "opinion"},
        {"epistemic_type": "outdated"},
        {"against": 1, "said_again": 2},
        {"flags": ["self_benefit"]},
        {"fused_at": datetime.fromisoformat("2026-01-01T00:00:00Z")},
        {"valid_until": datetime.fromisoformat("2026-01-01T00:00:00Z")},
        {"status": "superseded", "invalid_at": datetime.fromisoformat("2026-01-01T00:00:00Z")},
    ],
    ids=lambda given: ",".join(given),
)
async def test_a_memory_that_misses_one_criterion_is_not_proposed(rt: Runtime, lacking: dict[str, Any]) -> None:
    insert_memory(rt, **lacking)
    assert await run_round(rt) == []
    await promotion.propose_of(rt, WHO)
    assert await run_round(rt) == []


async def test_old_uses_do_not_count_and_one_conflict_in_four_is_allowed(rt: Runtime) -> None:
    old = insert_memory(rt, "多雨的季节多备雨具")
    sql(rt, "UPDATE injections SET created_at = now() - interval '31 days' WHERE %(id)s = ANY(used_ids)", id=old)
    fine = insert_memory(rt, against=1, said_again=3)
    (made,) = await run_round(rt)
    assert made.memory_id == fine
    assert made.figures["conflict_ratio"] == 0.25


@pytest.mark.parametrize(
    ("text", "status", "class_", "reason"),
    [
        ("Contact john@example.com", "sanitize_failed", "public", "pii:email"),
        ("联系店长 13812345678", "sanitize_failed", "public", "pii:phone"),
        ("春季新款的进货价是 38 元", "rejected", "business_secret", "business_secret"),
        ("The gross margin of the spring line is 62%", "rejected", "business_secret", "business_secret"),
    ],
)
async def test_an_unsuitable_memory_is_stopped_without_an_event(
    rt: Runtime, text: str, status: str, class_: str, reason: str
) -> None:
    insert_memory(rt, text)
    (made,) = await run_round(rt)
    assert (made.status, made.class_, made.reason) == (status, class_, reason)
    assert count_events(rt) == 0
    with pytest.raises(RefusedError) as refused:
        await decide_proposal(rt, made)
    assert (refused.value.code, refused.value.status) == ("not_pending", 409)


async def decide_proposal(rt: Runtime, made: PromotionView, decision: str = "approve", **more: Any) -> PromotionView:
    """The proposal after this decision."""
    body = {"tenant_id": WHO.tenant_id, "user_id": WHO.user_id, "decision": decision, **more}
    return await promotions.decide(rt, made.proposal_id, PromotionDecision.model_validate(body))


async def test_approval_is_recorded_and_repeating_it_changes_nothing(rt: Runtime) -> None:
    insert_memory(rt)
    (made,) = await run_round(rt)
    done = await decide_proposal(rt, made, visibility="brand", reason="useful, password is Hunter2!pass")
    assert (done.status, done.visibility) == ("approved", "brand")
    assert "Hunter2" not in (done.reason or "")
    assert await decide_proposal(rt, made) == done
    with pytest.raises(RefusedError, match="is approved"):
        await decide_proposal(rt, made, "reject")


async def test_personal_content_needs_the_users_consent(rt: Runtime) -> None:
    insert_memory(rt, "喜欢简洁的界面", type="preference", epistemic_type="preference")
    (made,) = await run_round(rt)
    assert (made.status, made.class_) == ("pending_approval", "personal")
    with pytest.raises(RefusedError) as refused:
        await decide_proposal(rt, made)
    assert refused.value.code == "consent_required"
    assert (await decide_proposal(rt, made, "reject")).status == "rejected"


async def test_an_undecided_proposal_expires_and_cannot_be_approved(rt: Runtime) -> None:
    insert_memory(rt)
    insert_memory(rt, "多雨的季节多备雨具")
    first, second = await run_round(rt)
    sql(rt, "UPDATE promotions SET created_at = now() - interval '8 days', expires_at = now() - interval '1 day'")
    assert (await decide_proposal(rt, first, consent=True)).status == "expired"
    await promotion.propose(rt)
    assert {row["status"] for row in sql(rt, "SELECT status FROM promotions")} == {"expired"}
    assert (await decide_proposal(rt, second, "reject")).status == "expired"


@pytest.mark.parametrize("ends", ["fused_at = now()", "status = 'superseded', invalid_at = now()"])
async def test_a_proposal_ends_with_its_memory(rt: Runtime, ends: str) -> None:
    insert_memory(rt)
    (made,) = await run_round(rt)
    sql(rt, f"UPDATE memory_items SET {ends}")  # noqa: S608
    ended = await decide_proposal(rt, made)
    assert (ended.status, ended.reason) == ("rejected", "memory_ended")


async def test_proposals_are_visible_to_their_user_only(rt: Runtime) -> None:
    insert_memory(rt)
    (made,) = await run_round(rt)
    for stranger in (Subject("t", "v"), Subject("other", "u")):
        assert await run_round(rt, stranger) == []
        body = {"tenant_id": stranger.tenant_id, "user_id": stranger.user_id, "decision": "approve"}
        with pytest.raises(RefusedError) as refused:
            await promotions.decide(rt, made.proposal_id, PromotionDecision.model_validate(body))
        assert refused.value.status == 404


async def test_later_rounds_check_only_changes(rt: Runtime) -> None:
    began = await promotion.propose(rt)
    memory_id = insert_memory(rt)
    sql(
        rt,
        "UPDATE memory_items SET created_at = %(a)s - interval '2 hours', updated_at = %(a)s - interval '1 hour'",
        a=began,
    )
    await promotion.propose(rt, began)
    assert (await promotions.load_page(rt, WHO, None, 50)).promotions == ()
    sql(rt, "UPDATE memory_items SET updated_at = now() WHERE memory_id = %(id)s", id=memory_id)
    await promotion.propose(rt, began)
    assert len((await promotions.load_page(rt, WHO, None, 50)).promotions) == 1
