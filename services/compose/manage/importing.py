"""Imports a document: all of it or nothing. Skips what is already stored or was erased here."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from schemas.content import MediaView
from schemas.envelope import Envelope
from schemas.events import TurnCommitted
from schemas.exporting import ExportDocument, ExportedMemory, Imported, ImportReceipt
from schemas.turn_events import Accepted, CommitResult
from services.compose.intake import media
from services.compose.intake.commit import refuse_personal
from services.compose.intake.imported import ImportedTurn, list_blocks, to_carrier_turns, to_item, to_turn
from services.compose.intake.redact import Cleaning, clean_json, clean_text
from services.compose.manage.import_document import read_document
from shared import clock
from shared.db import Connection
from shared.domain.blocks import media_ids
from shared.domain.statements import sense_of
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from shared.store import importing, memory
from shared.store import media as registry
from shared.store.erasure import tombstones
from shared.store.operator_acts import Operator, note_act

MOST_COUNTED = 100
"""The most blanked places in a receipt."""


@dataclass
class Present:
    """What of a document is already stored, or was erased here."""

    turns: Mapping[UUID, bool] = field(default_factory=dict[UUID, bool])
    seqs: dict[str, int] = field(default_factory=dict[str, int])
    memories: frozenset[UUID] = frozenset()
    erased: frozenset[UUID] = frozenset()


async def import_document(rt: Runtime, subject: Subject, body: bytes, by: Operator) -> ImportReceipt:
    """Imports the document's log and asks the workers for its memories; a repeat writes nothing.

    RefusedError names the field: not an export, a secret as an id, refused personal data, unreadable media.
    """
    rt = await rt.of(subject)
    document = await asyncio.to_thread(read_document, body)
    blocks = await asyncio.to_thread(list_blocks, enumerate(document.turns))
    registered: Mapping[str, MediaView] = {}
    if blocks:
        named = media_ids(block for _, block in blocks)
        (registered,) = await rt.db.read(subject, registry.load_known(subject, named))
        if unsafe := media.list_problems(blocks, registered):
            raise media.refuse_unsafe(unsafe)
    async with rt.db.transaction(subject) as conn:
        await importing.lock(conn, subject)
        present = await load_present(conn, subject, document)
        cleaning = Cleaning(rt.policy.personal_data.kinds_kept)
        turns = await asyncio.to_thread(_to_turns, rt, subject, document, present, cleaning, registered)
        refuse_personal(cleaning, rt.policy.personal_data)
        await write_turns(conn, subject, document, present, turns, cleaning, rt.policy.version)
        if turns:
            await note_act(conn, subject, "import", "import.taken_in", by, {"turns": len(turns)})
    fresh = [each for each in document.memories if each.memory_id not in present.memories | present.erased]
    gone = sum(present.turns.get(each.turn_id, False) for each in document.turns)
    there = sum(each.turn_id in present.turns for each in document.turns) - gone
    sessions_there = sum(each.session_id in present.seqs for each in document.sessions)
    return ImportReceipt(
        imported_at=clock.now(),
        turn_id=turns[-1].turn.turn_id if turns else None,
        sessions=Imported(written=len(document.sessions) - sessions_there, known=sessions_there),
        turns=Imported(written=len(document.turns) - there - gone, known=there, erased=gone),
        memories=Imported(written=len(fresh), known=len(present.memories), erased=len(present.erased)),
        redacted=tuple(cleaning.redacted[:MOST_COUNTED]),
    )


async def load_present(conn: Connection, subject: Subject, document: ExportDocument) -> Present:
    """What is already stored or was erased here: by id, by text, or with the turn that it was learnt from."""
    sources = {each.source_turn_id for each in document.memories if each.source_turn_id}
    turns = await importing.load_known_turns(conn, subject, [*{each.turn_id for each in document.turns} | sources])
    names = list({each.session_id for each in (*document.sessions, *document.turns)} | {"import"})
    seqs = await importing.load_next_seqs(conn, subject, names)
    ids = [each.memory_id for each in document.memories]
    there = frozenset(each.memory_id for each in await memory.by_ids(conn, subject, ids))
    on_their_way = await importing.load_on_their_way(conn, subject, ids)
    gone = await tombstones.find_erased(conn, subject, ids)
    senses = await asyncio.to_thread(_find_senses, document)
    suppressed = await tombstones.find_hashes(conn, subject, senses.values())
    erased = {
        each.memory_id
        for each in document.memories
        if each.status == "erased"
        or each.memory_id in gone
        or senses[each.memory_id] in suppressed
        or (each.source_turn_id and turns.get(each.source_turn_id))
    }
    return Present(turns, seqs, there | on_their_way - erased, frozenset(erased) - there)


def _find_senses(document: ExportDocument) -> dict[UUID, str]:
    return {
        each.memory_id: sense_of(each.key, dict(each.value), each.content, each.polarity) for each in document.memories
    }


def _to_turns(
    rt: Runtime,
    subject: Subject,
    document: ExportDocument,
    present: Present,
    cleaning: Cleaning,
    registered: Mapping[str, MediaView],
) -> list[ImportedTurn]:
    """The turns that are new here, each with the memory versions learnt from it; then turns for the versions without
    one."""
    kept = rt.policy.observer.log_withheld
    turns = {
        each.turn_id: to_turn(n, each, cleaning, registered, words_kept=kept)
        for n, each in enumerate(document.turns)
        if each.turn_id not in present.turns
    }
    left: list[tuple[ExportedMemory, dict[str, Any]]] = []
    for n, each in enumerate(document.memories):
        if each.memory_id in present.memories or each.memory_id in present.erased:
            continue
        item = to_item(n, each, cleaning)
        turn = turns.get(each.source_turn_id) if each.source_turn_id else None
        if turn:
            turn.add_memory(item)
        else:
            left.append((each, item))
    carriers = to_carrier_turns(subject, left, clock.now())
    return [*turns.values(), *(each for each in carriers if each.turn.turn_id not in present.turns)]


async def write_turns(
    conn: Connection,
    subject: Subject,
    document: ExportDocument,
    present: Present,
    turns: Sequence[ImportedTurn],
    cleaning: Cleaning,
    policy_version: str,
) -> None:
    """Writes sessions, summaries, turns, events and outbox rows."""
    if not turns:
        return
    places, seqs = await asyncio.to_thread(_number_turns, turns, present)
    sessions = await asyncio.to_thread(_to_sessions, document, present, turns, seqs, cleaning)
    await importing.put_sessions(conn, subject, sessions)
    await importing.put_summaries(conn, subject, await asyncio.to_thread(_to_summaries, document, present, cleaning))
    for at in range(0, len(turns), importing.BATCH):
        part = turns[at : at + importing.BATCH]
        rows, events, envelopes = await asyncio.to_thread(_to_rows, subject, part, places, policy_version)
        await importing.put_turns(conn, subject, rows, events)
        await importing.announce(conn, subject, envelopes)


def _number_turns(turns: Sequence[ImportedTurn], present: Present) -> tuple[dict[UUID, int], dict[str, int]]:
    """The sequence number of each new turn in its session, and the next number of each session."""
    seqs = dict(present.seqs)
    places: dict[UUID, int] = {}
    for each in sorted(turns, key=lambda imported: imported.turn.seq):
        session = each.turn.session_id
        # a session that is new here keeps its numbers
        number = seqs.get(session, 1) if session in present.seqs else max(each.turn.seq, seqs.get(session, 1))
        places[each.turn.turn_id], seqs[session] = number, number + 1
    return places, seqs


def _to_rows(
    subject: Subject, turns: Sequence[ImportedTurn], places: Mapping[UUID, int], policy_version: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[Envelope]]:
    """The rows of the turns and their events, and the events for the workers."""
    rows: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    envelopes: list[Envelope] = []
    for each in turns:
        number, event_id = places[each.turn.turn_id], clock.uuid7()
        rows.append(_to_row(each, number, event_id, policy_version))
        events += [{"turn_id": each.turn.turn_id, "session_id": each.turn.session_id, **event} for event in each.events]
        envelopes.append(_to_envelope(subject, each, number, event_id, policy_version))
    return rows, events, envelopes


def _to_sessions(
    document: ExportDocument,
    present: Present,
    turns: Sequence[ImportedTurn],
    seqs: Mapping[str, int],
    cleaning: Cleaning,
) -> list[dict[str, Any]]:
    said = {each.turn.session_id: each.turn.created_at for each in turns}
    by_name = {each.session_id: each for each in document.sessions}
    rows: list[dict[str, Any]] = []
    for n, (name, last) in enumerate(said.items()):
        row: dict[str, Any] = {"session_id": name, "next_seq": seqs[name], "created_at": last, "last_turn_at": last}
        row |= {"summary_seq": 0, "open_tokens": 0, "entity_slots": {}, "metadata": {}}
        if each := by_name.get(name):
            row |= each.model_dump(mode="json", exclude={"summaries"})
            row["metadata"] = clean_json(row["metadata"], f"sessions.{n}.metadata", cleaning)
            row["entity_slots"] = clean_json(row["entity_slots"], f"sessions.{n}.entity_slots", cleaning)
        rows.append(row)
    return rows


def _to_summaries(document: ExportDocument, present: Present, cleaning: Cleaning) -> list[dict[str, Any]]:
    """The summaries of sessions that are new here; in others the numbers of turns differ."""
    rows: list[dict[str, Any]] = []
    for n, session in enumerate(document.sessions):
        for place, each in enumerate(session.summaries if session.session_id not in present.seqs else ()):
            at = f"sessions.{n}.summaries.{place}"
            row = {"session_id": session.session_id, **each.model_dump(mode="json")}
            row["text"] = clean_text(each.text, f"{at}.text", cleaning)
            row["block_text"] = clean_text(each.block_text, f"{at}.block_text", cleaning) if each.block_text else None
            row["summary_json"] = clean_json(row["summary_json"], f"{at}.summary_json", cleaning)
            rows.append(row)
    return rows


def _to_row(each: ImportedTurn, number: int, event_id: UUID, policy_version: str) -> dict[str, Any]:
    turn = each.turn
    kinds = [event["event_type"] for event in each.events]
    accepted = Accepted(
        messages=sum(kind.endswith("_message") or kind == "system" for kind in kinds),
        tool_calls=kinds.count("tool_call"),
        refs=kinds.count("ref"),
        items=kinds.count("item"),
    )
    result = CommitResult(
        turn_id=turn.turn_id,
        session_id=turn.session_id,
        seq=number,
        outbox_event_id=event_id,
        committed_at=clock.now(),
        accepted=accepted,
        deferred=(),
        remember=turn.remember,
    )
    return {
        "turn_id": turn.turn_id,
        "session_id": turn.session_id,
        "seq": number,
        "request_hash": each.digest,
        "event_id": event_id,
        "trace_id": event_id.hex,
        "policy_version": policy_version,
        "said_at": turn.created_at,
        "result": result.model_dump(mode="json"),
        "org_id": turn.org_id,
    }


def _to_envelope(subject: Subject, each: ImportedTurn, number: int, event_id: UUID, policy_version: str) -> Envelope:
    turn_id = each.turn.turn_id
    return Envelope(
        event_id=event_id,
        event_type=TurnCommitted.event_type,
        idempotency_key=f"turn.committed:{turn_id}",
        trace_id=event_id.hex,
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        session_id=each.turn.session_id,
        occurred_at=clock.now(),
        policy_version=policy_version,
        payload=TurnCommitted(turn_id=turn_id, seq=number).model_dump(mode="json"),
    )
