"""Experience of agents is counted from receipts, shared only if several users contributed, and updated."""

import asyncio
from typing import Any

from services.compose.context import pipeline as shown
from services.compose.manage.library import list_experience
from services.evolver import experience
from services.governor import handler as governor
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from tests.system import databases
from tests.system.wait import wait_for


def sql(rt: Runtime, statement: str, **params: Any) -> list[dict[str, Any]]:
    """The result for the superuser."""
    return databases.rows(rt.db.dsn, statement, **params)


def used(rt: Runtime, tenant: str, user: str, tool: str, ok: int, errors: int = 0, **more: Any) -> None:
    """The user's turns called the tool this often with this result."""
    sql(
        rt,
        "INSERT INTO tool_receipts (tenant_id, user_id, turn_id, ordinal, tool, status, intent, said_at)"
        " SELECT %(t)s, %(u)s, gen_random_uuid(), n, %(tool)s, CASE WHEN n <= %(ok)s THEN 'ok' ELSE 'error' END,"
        " %(intent)s, now() - %(age)s::interval FROM generate_series(1, %(ok)s + %(errors)s) AS n",
        **{"t": tenant, "u": user, "tool": tool, "ok": ok, "errors": errors, "intent": "task", "age": "1 day", **more},
    )


def insert_packages(rt: Runtime, tenant: str, user: str, signal: str | None, times: int, *, uses: bool = True) -> None:
    """This many packages contained one memory, with this reception."""
    sql(
        rt,
        "INSERT INTO injections (tenant_id, user_id, context_id, session_id, core_ids, evidence_ids, degraded,"
        " policy_version, used_ids, feedback_signal) SELECT %(t)s, %(u)s, gen_random_uuid(), 's', '{}', ARRAY[m],"
        " false, 'v', CASE WHEN %(uses)s THEN ARRAY[m] ELSE '{}' END, %(signal)s"
        " FROM (SELECT gen_random_uuid() AS m FROM generate_series(1, %(n)s)) AS made",
        t=tenant,
        u=user,
        n=times,
        signal=signal,
        uses=uses,
    )


async def load_experience(rt: Runtime, tenant: str, user: str) -> dict[str, dict[str, Any]]:
    """The experience of this user's agent, by key."""
    page = await list_experience(rt, Subject(tenant, user))
    return {
        each.key: {"shared": each.shared, "confidence": each.confidence, **each.figures} for each in page.experience
    }


async def test_a_tool_of_several_users_is_shared_in_their_tenant_only(rt: Runtime) -> None:
    for user in ("a", "b", "c"):
        used(rt, "t", user, "search", 2, 8)
    used(rt, "other", "a", "search", 5)
    assert await experience.learn(rt) == 2
    for user in ("a", "stranger", ""):
        found = (await load_experience(rt, "t", user))["tool:search"]
        assert (found["shared"], found["calls"], found["errors"], found["users"]) == (True, 30, 24, 3)
        assert found["by_intent"]["task"]["calls"] == 30
        assert 0 < found["confidence"] <= 0.8
    assert await load_experience(rt, "nobody", "a") == {}
    assert (await load_experience(rt, "other", "a"))["tool:search"]["errors"] == 0


async def test_experience_of_too_few_users_stays_theirs(rt: Runtime) -> None:
    used(rt, "t", "a", "reset_password_of_anna", 6)
    used(rt, "t", "b", "reset_password_of_anna", 1, 8)
    await experience.learn(rt)
    assert (await load_experience(rt, "t", "a"))["tool:reset_password_of_anna"]["calls"] == 6
    assert (await load_experience(rt, "t", "b"))["tool:reset_password_of_anna"]["calls"] == 9
    for other in ("c", ""):
        assert await load_experience(rt, "t", other) == {}
    used(rt, "t", "c", "reset_password_of_anna", 5)
    await experience.learn(rt)
    found = await load_experience(rt, "t", "a")
    assert [(key, each["shared"], each["calls"]) for key, each in found.items()] == [
        ("tool:reset_password_of_anna", True, 20)
    ]


async def test_a_rare_intent_is_not_reported_for_a_shared_tool(rt: Runtime) -> None:
    for user in ("a", "b", "c"):
        used(rt, "t", user, "search", 10)
    used(rt, "t", "a", "search", 10, intent="complaint")
    await experience.learn(rt)
    assert list((await load_experience(rt, "t", "b"))["tool:search"]["by_intent"]) == ["task"]


async def test_names_ages_and_open_calls_do_not_count(rt: Runtime) -> None:
    used(rt, "t", "a", "?", 9)
    used(rt, "t", "a", "old", 9, age="31 days")
    used(rt, "t", "a", "hangs", 3)
    sql(rt, "UPDATE tool_receipts SET status = 'pending' WHERE tool = 'hangs'")
    assert await experience.learn(rt) == 0
    assert await governor.prune_receipts(rt) == 9
    assert {row["tool"] for row in sql(rt, "SELECT DISTINCT tool FROM tool_receipts")} == {"?", "hangs"}


async def test_recalled_memories_are_described_by_their_use_in_answers(rt: Runtime) -> None:
    for user in ("a", "b", "c"):
        insert_packages(rt, "t", user, "correction", 4)
        insert_packages(rt, "t", user, None, 6, uses=False)
    insert_packages(rt, "alone", "a", "positive_confirm", 5)
    sql(rt, "UPDATE injections SET degraded = true WHERE user_id = 'c' AND feedback_signal IS NULL")
    await experience.learn(rt)
    found = (await load_experience(rt, "t", "z"))["retrieval:evidence"]
    assert [found[name] for name in ("packages", "utilized", "corrected", "confirmed", "users")] == [24, 12, 12, 0, 3]
    assert "retrieval:core" not in await load_experience(rt, "t", "z")
    assert (await load_experience(rt, "alone", "a"))["retrieval:evidence"]["confirmed"] == 5
    assert await load_experience(rt, "alone", "b") == {}


async def test_unchanged_experience_stays_and_unsupported_experience_is_deleted(rt: Runtime) -> None:
    used(rt, "t", "a", "search", 6)
    used(rt, "t", "a", "book", 6)
    await experience.learn(rt)
    kept = "SELECT key, experience_id, updated_at FROM agent_experience WHERE key = 'tool:search'"
    before = sql(rt, kept)
    sql(rt, "DELETE FROM tool_receipts WHERE tool = 'book'")
    await experience.learn(rt)
    assert sql(rt, kept) == before
    assert set(await load_experience(rt, "t", "a")) == {"tool:search"}
    used(rt, "t", "a", "search", 0, 6)
    await experience.learn(rt)
    (after,) = sql(rt, kept)
    assert after["experience_id"] == before[0]["experience_id"]
    assert after["updated_at"] > before[0]["updated_at"]


async def test_several_evolvers_leave_one_result(rt: Runtime) -> None:
    used(rt, "t", "a", "search", 6)
    await asyncio.gather(*(experience.learn(rt) for _ in range(6)))
    assert len(sql(rt, "SELECT 1 FROM agent_experience")) == 1


async def test_hints_come_from_stored_experience_and_are_omitted_if_it_cannot_be_read(rt: Runtime) -> None:
    used(rt, "t", "a", "search", 1, 19)
    await experience.learn(rt)
    subject = Subject("t", "a")
    assert shown.get_loaded_hints(rt, subject, "task", "zh") == ()
    (line,) = await wait_for(lambda: shown.get_loaded_hints(rt, subject, "task", "zh"))
    assert "search" in line
    assert shown.get_loaded_hints(rt, Subject("t", "b"), "task", "zh") == ()
    sql(rt, "ALTER TABLE agent_experience RENAME TO away")
    stranger = Subject("other", "b")
    assert shown.get_loaded_hints(rt, stranger, "task", "zh") == ()
    await wait_for(lambda: "other" in rt.experience)
    assert shown.get_loaded_hints(rt, stranger, "task", "zh") == ()
