"""Memories derived from the log equal the live ones; differences are named and can be applied."""

import asyncio
import json
from uuid import uuid4

import pytest
from typer.testing import CliRunner, Result

from services.cli import app
from services.cli.rebuild import run
from services.cli.rebuild.run import RebuildReport, rebuild
from services.evolver import rounds
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.store.schema import migrate, scratch
from shared.telemetry import configure_logs
from tests.integration.rebuild.talk import committed, talked
from tests.system.databases import state
from tests.system.feedback import TALKS, Talk, answered, composed, counts, events, learnt
from tests.system.person import Person, shown
from tests.system.running import System

SCRATCH = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'smart\\_brain\\_rebuild\\_%%'"


def heard(what: str, done: int, total: int) -> None:
    """Ignores the progress."""


def subject(person: Person) -> Subject:
    """The owner of the rows."""
    return Subject(person.tenant_id, person.user_id)


async def rebuild_memories(person: Person, *, apply: bool = False) -> RebuildReport:
    """The rebuild of the user's memories."""
    rt = person.system["compose"].rt
    return await rebuild(person.system.dsn, rt.settings, rt.policy, subject(person), apply=apply, say=heard)


def told(report: RebuildReport) -> dict[tuple[str, str], tuple[object, object]]:
    """The differences: memory and field, live and rebuilt value."""
    return {(str(each.memory_id), each.field): (each.live, each.rebuilt) for each in report.differences}


async def command(person: Person, *options: str) -> Result:
    """`smartbrain rebuild` for the user."""
    asked = ["rebuild", "-u", person.user_id, "--tenant", person.tenant_id, *options]
    env = {"SMARTBRAIN_DATABASE_URL": person.system.dsn}
    try:
        return await asyncio.to_thread(CliRunner(env=env).invoke, app, asked)
    finally:
        configure_logs("warning")  # the command's stream is closed now


async def test_a_rebuild_equals_the_live_memories_and_changes_nothing(system: System, person: Person) -> None:
    await asyncio.gather(talked(person), talked(Person(system, tenant_id=person.tenant_id)))
    before = state(system.dsn)
    report = await rebuild_memories(person)
    assert told(report) == {}
    assert {"active", "superseded", "retracted"} <= {m["status"] for m in await person.memories(status="all")}
    assert report.memories == system.number("SELECT count(*) FROM memory_items WHERE user_id = %(u)s", u=person.user_id)
    assert (report.turns, report.open_turns, report.lost_turns, report.missed) == (20, 0, 0, {})
    assert state(system.dsn) == before
    assert system.number(SCRATCH) == 0


@pytest.mark.parametrize("talk", TALKS, ids=["zh", "en"])
async def test_the_effects_of_feedback_and_time_are_reproduced(system: System, person: Person, talk: Talk) -> None:
    memory_id = await learnt(person, talk)
    long_ago = {"role": "user", "content": "I like ramen. 我住在青岛。", "created_at": "2025-01-05T10:00:00Z"}
    await committed(person, {"session_id": "old", "messages": [long_ago]})
    for session, heard_ in (("talk", talk.praise), ("more", talk.blame)):
        package = await composed(person, talk, session=session)
        await answered(person, talk, talk.uses, session=session, context_id=package.context_id)
        await person.say(heard_, session=session)
    await events(person)
    assert counts(person, memory_id) == (2, 1, 1, 0)
    await rounds.keep(system["evolver"].rt, subject(person), None)
    jobs = {row["job"] for row in system.rows("SELECT job FROM upkeep WHERE user_id = %(u)s", u=person.user_id)}
    assert {"feedback", "outdated"} <= jobs
    report = await rebuild_memories(person)
    assert told(report) == {}
    assert report.upkeep >= 5


async def test_tampered_memories_are_named_and_repaired(system: System, person: Person) -> None:
    other = Person(system)
    await asyncio.gather(talked(person), talked(other))
    known = await person.memories()
    (tea,) = [m for m in known if "碧螺春" in m["content"]]
    (key,) = [m for m in known if "spare key" in m["content"]]
    await system.change(
        "UPDATE memory_items SET confidence = 0.99, content_text = '喜欢喝酒' WHERE memory_id = %(id)s",
        id=tea["memory_id"],
    )
    await system.change("DELETE FROM memory_items WHERE memory_id = %(id)s", id=key["memory_id"])
    await system.change("DELETE FROM memory_chunks WHERE memory_id = %(id)s", id=tea["memory_id"])
    await system.change(
        "INSERT INTO memory_items SELECT (jsonb_populate_record(m, jsonb_build_object('memory_id', %(new)s::text,"
        " 'root_id', %(new)s::text, 'key', 'pref:invented', 'status', 'retracted', 'invalid_at', now()))).*"
        " FROM memory_items m WHERE memory_id = %(id)s",
        new=str(invented := uuid4()),
        id=tea["memory_id"],
    )
    found = told(await rebuild_memories(person))
    assert set(found) == {
        (tea["memory_id"], "confidence"),
        (tea["memory_id"], "content_text"),
        (key["memory_id"], "memory_id"),
        (str(invented), "memory_id"),
    }
    assert found[tea["memory_id"], "content_text"] == ("喜欢喝酒", tea["content"])
    assert found[key["memory_id"], "memory_id"] == (None, f"active {key['type']}: {key['content']}")
    shown_ = await command(person, "--verify")
    assert shown_.exit_code == 1
    assert all(part in shown_.stdout for part in (tea["memory_id"], "content_text", "喜欢喝酒", "4 differences"))
    theirs = await other.memories(status="all")
    applied = await command(person, "--apply", "--json")
    assert applied.exit_code == 0, applied.output
    assert json.loads(applied.stdout)["applied"] is True
    assert told(await rebuild_memories(person)) == {}
    verified = await command(person, "--verify")
    assert (verified.exit_code, "no difference" in verified.stdout) == (0, True)
    assert tea["content"] in shown(await person.compose("我喜欢喝什么茶？", session="new"))
    assert await other.memories(status="all") == theirs
    assert told(await rebuild_memories(other)) == {}
    counted = (
        "SELECT count(*) FROM search_stats s JOIN (SELECT tenant_id, user_id, count(*) AS n, sum(term_count) AS terms"
        " FROM memory_chunks WHERE active GROUP BY 1, 2) AS c USING (tenant_id, user_id)"
        " WHERE (s.chunks, s.terms) IS DISTINCT FROM (c.n, c.terms)"
    )
    assert system.number(counted) == 0
    await person.say("不是碧螺春，我现在喜欢喝普洱。")
    assert told(await rebuild_memories(person)) == {}


async def test_equal_rows_are_not_written_again(system: System, person: Person) -> None:
    await talked(person)
    before = state(system.dsn)
    report = await rebuild_memories(person, apply=True)
    assert report.applied
    after = state(system.dsn)
    assert len(after["audit_events"]) == len(before["audit_events"]) + 1, "that it was applied is on record"
    assert {**after, "audit_events": []} == {**before, "audit_events": []}


async def test_nothing_is_applied_while_a_turn_is_open(
    system: System, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "WAIT_S", 0.2)
    await person.say("I like tea.")
    await system.change("UPDATE turns SET outcome_at = NULL WHERE user_id = %(u)s", u=person.user_id)
    await system.change("UPDATE memory_items SET confidence = 0.11 WHERE user_id = %(u)s", u=person.user_id)
    with pytest.raises(TransientError, match="1 turns are still open"):
        await rebuild_memories(person, apply=True)
    assert (await rebuild_memories(person)).open_turns == 1
    shown_ = await command(person)
    assert "1 turns are still open" in shown_.stdout
    assert system.number("SELECT count(*) FROM memory_items WHERE confidence = 0.11::real") == 1
    assert system.number(SCRATCH) == 0
    await system.change("UPDATE turns SET outcome_at = now() WHERE user_id = %(u)s", u=person.user_id)


async def test_a_quarantined_turn_is_omitted_and_counted(system: System, person: Person) -> None:
    turn = (await person.commit("I like tea and I live in Oslo."))["turn_id"]
    await person.outcome(turn)
    for statement in (
        "DELETE FROM observations WHERE turn_id = %(t)s",
        "DELETE FROM memory_items WHERE source_turn_id = %(t)s",
        """UPDATE turns SET outcome = '{"status": "quarantined"}' WHERE turn_id = %(t)s""",
    ):
        await system.change(statement, t=turn)
    await person.say("I like jazz.")
    report = await rebuild_memories(person)
    assert (told(report), report.lost_turns, report.memories) == ({}, 1, 1)


async def test_an_interrupted_rebuild_leaves_no_schema(system: System, person: Person) -> None:
    await talked(person)
    rt = system["compose"].rt
    stood: list[int] = []

    def broken_off(what: str, done: int, total: int) -> None:
        stood.append(system.number(SCRATCH))
        running_.cancel()

    work = rebuild(system.dsn, rt.settings, rt.policy, subject(person), apply=False, say=broken_off)
    running_ = asyncio.create_task(work)
    with pytest.raises(asyncio.CancelledError):
        await running_
    assert stood == [1]
    assert system.number(SCRATCH) == 0


async def test_the_schema_of_a_dead_run_is_dropped_and_that_of_a_live_one_is_not(
    system: System, person: Person
) -> None:
    await person.say("I like tea.")
    await migrate(system.dsn, "smart_brain_rebuild_dead")
    async with scratch(system.dsn) as alive:
        assert told(await rebuild_memories(person)) == {}
        left = system.rows("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'smart\\_brain\\_rebuild\\_%%'")
        assert [row["nspname"] for row in left] == [alive]
    assert system.number(SCRATCH) == 0


async def test_an_unknown_user_has_no_differences(system: System) -> None:
    report = await rebuild_memories(Person(system))
    assert (report.turns, report.memories, told(report)) == (0, 0, {})


async def test_a_rebuild_respects_wishes_not_to_be_remembered(person: Person) -> None:
    await person.say("I live in Oslo.")
    await person.say("Please don't save this: I love jazz.")
    await person.say("不要记住这个会话", session="s2")
    await person.say("我对花生过敏。", session="s2")
    await person.say("我喜欢喝茉莉花茶。", remember=False)
    await person.say("From now on, don't remember anything I tell you.", session="s3")
    await person.say("Forget that I live in Oslo. I hate tea.", session="s3")
    await person.say("You can remember me again.", session="s3")
    await person.say("I love hiking.", session="s3")
    assert await person.contents() == ["I love hiking"]
    report = await rebuild_memories(person)
    assert told(report) == {}
    assert report.turns == 9
