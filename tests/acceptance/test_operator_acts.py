"""Each act of an operator leaves one audit event with who and why: on every route, and for commands on the database."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from typer.testing import CliRunner

from schemas.events import FeedbackRecorded
from schemas.topics import FEEDBACK_RECORDED
from services import cli
from services.cli import app, upkeep
from services.cli.rebuild import command as rebuild
from services.compose.manage import erasures, promotions
from services.compose.routes.access import get_operator, scope_of
from shared.domain.subjects import Requester, Subject
from shared.errors import RefusedError
from shared.store import outbox
from shared.store.operator_acts import Operator
from tests.system.dead_letters import WHO, dead_letter
from tests.system.erasures import completed, erase
from tests.system.kafka import Stored, publish
from tests.system.person import Json, Person

Request = tuple[str, str, Json]
"""Method and address, and the body without requester, reason and owner."""
Prepare = Callable[[Person, pytest.MonkeyPatch], Awaitable[Request]]
_PROMOTION = """
INSERT INTO promotions (tenant_id, user_id, proposal_id, memory_id, class, visibility, status, figures, expires_at)
VALUES (%(t)s, %(u)s, %(p)s, %(m)s, 'public', 'global', %(status)s,
    '{"confidence": 0.9, "uses_30d": 3, "sessions": 2, "mentions": 3}', now() + interval '1 day')
"""
_QUARANTINE = """
INSERT INTO quarantine (tenant_id, user_id, quarantine_id, stage, event_id, reason)
VALUES (%(t)s, %(u)s, %(q)s, 'feedback', %(e)s, 'ZeroDivisionError')
"""


async def with_letter(person: Person, _: pytest.MonkeyPatch, what: str) -> Request:
    """A dead letter of the user."""
    return "POST", f"/v1/dead-letters/{await dead_letter(person)}/{what}", {}


async def with_quarantined(person: Person, _: pytest.MonkeyPatch, what: str) -> Request:
    """A quarantined event of the user, and its dead letter."""
    praise = FeedbackRecorded(memory_ids=(uuid4(),), utilized=True, signal="positive_confirm")
    event = outbox.event(praise, subject_of(person), "x", trace_id="t", policy_version="p")
    given_up = str(uuid4())
    await person.system.change(_QUARANTINE, t=person.tenant_id, u=person.user_id, q=given_up, e=str(event.event_id))
    value = event.model_dump_json().encode()
    letter = Stored(FEEDBACK_RECORDED.dead_letter, key=event.key.encode(), value=value)
    await publish(person.system.bootstrap, [letter])
    return "POST", f"/v1/quarantine/{given_up}/{what}", {}


async def with_escalated(person: Person, patch: pytest.MonkeyPatch) -> Request:
    """An escalated erasure of the user; no worker receives the requeue."""
    await person.say("I used to live in Rome.", session="gone")
    done = await completed(person, await erase(person, "session", session_ids=["gone"]))
    escalated = "UPDATE tombstones SET status = 'escalated', completed_at = NULL WHERE tombstone_id = %(id)s"
    await person.system.change(escalated, id=done["tombstone_id"])
    patch.setattr(erasures, "again_asked", nothing)
    return "POST", f"/v1/erasures/{done['tombstone_id']}/requeue", {}


async def with_proposal(person: Person, _: pytest.MonkeyPatch) -> Request:
    """A proposal of the user."""
    return "POST", f"/v1/promotions/{await propose(person, 'pending_approval')}", {"decision": "reject"}


async def with_failed_proposal(person: Person, patch: pytest.MonkeyPatch) -> Request:
    """A promotion that could not be written; no worker writes it."""
    patch.setattr(type(person.system["compose"].rt.knowledge), "configured", True)
    patch.setattr(promotions, "_request_write", nothing)
    return "POST", f"/v1/promotions/{await propose(person, 'write_failed')}/retry", {}


async def propose(person: Person, status: str) -> str:
    """The id of a proposal in this state."""
    await person.say("I like mate tea.")
    named = {"t": person.tenant_id, "u": person.user_id, "m": (await person.memories())[0]["memory_id"]}
    proposal = str(uuid4())
    await person.system.change(_PROMOTION, **named, p=proposal, status=status)
    return proposal


async def with_media(*_: object) -> Request:
    return "PUT", "/v1/media/picture-of-anna", {"type": "image", "security_status": "safe"}


async def with_knowledge(*_: object) -> Request:
    return "POST", "/v1/knowledge/changed", {}


async def with_export(person: Person, _: pytest.MonkeyPatch) -> Request:
    """The export of another user."""
    other = Person(person.system)
    await other.say("I like mate tea.")
    return "POST", "/v1/import", (await other.get("/v1/export")).json()


async def with_settings(*_: object) -> Request:
    return "PATCH", "/v1/settings", {"inject_limit": 7}


async def nothing(*_: object) -> None:
    """Replaces the work of other services."""


def subject_of(person: Person) -> Subject:
    return Subject(person.tenant_id, person.user_id)


CASES: dict[str, tuple[str, Prepare]] = {
    "POST /v1/dead-letters/{letter_id}/redrive": ("dead_letter.redriven", lambda *of: with_letter(*of, "redrive")),
    "POST /v1/dead-letters/{letter_id}/drop": ("dead_letter.dropped", lambda *of: with_letter(*of, "drop")),
    "POST /v1/quarantine/{quarantine_id}/redrive": (
        "dead_letter.redriven",
        lambda *of: with_quarantined(*of, "redrive"),
    ),
    "POST /v1/quarantine/{quarantine_id}/drop": ("quarantine.dropped", lambda *of: with_quarantined(*of, "drop")),
    "POST /v1/erasures/{tombstone_id}/requeue": ("erasure.requeued", with_escalated),
    "POST /v1/promotions/{proposal_id}": ("promotion.rejected", with_proposal),
    "POST /v1/promotions/{proposal_id}/retry": ("promotion.retried", with_failed_proposal),
    "PUT /v1/media/{media_id:external}": ("media.registered", with_media),
    "POST /v1/knowledge/changed": ("knowledge.changed", with_knowledge),
}
"""Routes that need `operate` or `admin` and change something: the kind of the audit event, and the request."""
IN_ADDRESS: dict[str, tuple[str, Prepare]] = {
    "POST /v1/import": ("import.taken_in", with_export),
    "PATCH /v1/settings": ("settings_changed", with_settings),
}
"""Routes about a whole user or tenant; the address names the owner, requester and reason."""
OF_TENANT = ("/v1/knowledge/changed", "/v1/settings")
IN_BODY = ("/v1/knowledge", "/v1/media", "/v1/erasures", "/v1/promotions")
"""The body names the owner."""


async def send(person: Person, request: Request, *, in_address: bool) -> None:
    """The operator's request succeeds."""
    method, path, body = request
    whose = {"tenant_id": person.tenant_id} if path in OF_TENANT else person.whose
    if in_address:
        query = {**whose, **WHO}
    elif path.startswith(IN_BODY):
        query, body = {}, {**whose, **WHO, **body}
    else:
        query, body = whose, {**WHO, **body}
    answer = await person.system.http.request(method, path, params=query, json=body)
    assert answer.is_success, answer.text


def test_every_route_of_operators_has_a_case(person: Person) -> None:
    served = person.system["compose"].service.http
    assert isinstance(served, FastAPI)
    routes = [
        each for each in served.state.routes if isinstance(each, APIRoute) and scope_of(each) in ("operate", "admin")
    ]
    changing = {f"{method} {each.path}" for each in routes for method in each.methods - {"GET", "HEAD"}}
    assert changing == set(CASES)


@pytest.mark.parametrize("route", [*CASES, *IN_ADDRESS])
async def test_an_act_leaves_one_event_with_who_and_why(
    person: Person, monkeypatch: pytest.MonkeyPatch, route: str
) -> None:
    kind, prepare = (CASES | IN_ADDRESS)[route]
    with monkeypatch.context() as patch:
        request = await prepare(person, patch)
        await send(person, request, in_address=route in IN_ADDRESS)
    (act,) = acts(person, kind)
    assert (act["details"]["requested_by"], act["details"]["reason"]) == (WHO["requested_by"], WHO["reason"])
    assert "picture-of-anna" not in act["about"]
    settled = "UPDATE tombstones SET status = 'completed', completed_at = now() WHERE tenant_id = %(t)s"
    await person.system.change(settled, t=person.tenant_id)


async def test_a_reason_is_stored_without_personal_data_and_the_default_actor_is_local(person: Person) -> None:
    body = {"tenant_id": person.tenant_id, "reason": "asked by ann@example.org"}
    assert (await person.post("/v1/knowledge/changed", body)).is_success
    (act,) = acts(person, "knowledge.changed")
    assert act["details"]["requested_by"] == "local"
    assert "ann@example.org" not in act["details"]["reason"]
    assert act["details"]["reason"].startswith("asked by ")


async def test_the_actor_comes_from_the_key_and_nobody_else_can_be_named() -> None:
    holder = Requester("key:app", frozenset({"admin"}), "acme")
    assert await get_operator(holder, None, "why") == Operator("key:app", "why")
    with pytest.raises(RefusedError, match="requested_by"):
        await get_operator(holder, "olga", None)


def acts(person: Person, kind: str) -> list[Json]:
    """The audit events of this kind in the user's tenant."""
    statement = "SELECT about, details FROM audit_events WHERE tenant_id = %(t)s AND kind = %(kind)s"
    return person.system.rows(statement, t=person.tenant_id, kind=kind)


READ_OR_RUN = {"life.py", "receipts.py", "served.py", "backup/dump.py", "broker_topics.py"}
"""Command modules that open the database to read it, to serve it, or for a demonstration."""
ACT = {"keys.py", "rebuild/run.py", "backup/restore.py", "upkeep.py"}
"""Those that change it; test_keys_command.py and test_backup.py check the events of keys and restores."""


def test_every_command_that_opens_the_database_is_listed() -> None:
    folder = Path(cli.__file__).parent
    opening = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if re.search(r"\b(Database|open_runtime|(db\.|with )owner)\(", path.read_text("utf-8"))
    }
    assert opening == READ_OR_RUN | ACT


@pytest.mark.parametrize(("words", "kind"), [("upkeep --now", "upkeep.run"), ("rebuild --apply", "rebuild.applied")])
async def test_a_command_on_the_database_leaves_an_event(
    person: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str, kind: str
) -> None:
    await person.say("I like mate tea.")
    for module in (upkeep, rebuild):
        monkeypatch.setattr(module, "configure_logs", lambda *_: None)
    monkeypatch.setenv("SMARTBRAIN_DATABASE_URL", person.system.dsn)
    monkeypatch.setenv("SMARTBRAIN_KAFKA_BOOTSTRAP", person.system.bootstrap)
    monkeypatch.setenv("SMARTBRAIN_DATA", str(tmp_path))
    whose = ["--tenant", person.tenant_id, "--user", person.user_id]
    called = [*words.split(), *whose, "--by", "olga", "--reason", "tried", "--json"]
    done = await asyncio.to_thread(CliRunner().invoke, app, called)
    assert done.exit_code == 0, f"{done.output} {done.exception!r}"
    (act,) = acts(person, kind)
    assert (act["details"]["requested_by"], act["details"]["reason"]) == ("olga", "tried")
