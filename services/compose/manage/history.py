"""The history of memories: the timeline of changes, versions with evidence, restore, edit, and conflicts."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from schemas.memory_item import MemoryEdit, Settlement, WriteReceipt
from schemas.turn_events import StructuredItem
from schemas.views import (
    Cause,
    ChangeKind,
    ChangePage,
    ConflictPage,
    ConflictView,
    EvidenceView,
    MemoryChange,
    MemoryHistory,
    MemoryVersion,
    UpkeepView,
)
from services.compose.manage.memories import load_memory, make_turn, refuse_missing, refuse_words, to_item, write
from services.compose.rules.resolving.outdated import MOST_QUOTED, quote_sentence
from shared.domain.memories import Memory
from shared.domain.subjects import Subject
from shared.errors import refuse_field
from shared.extraction.edited import show_value
from shared.extraction.turn_texts import (
    BRING_UP_AGAIN,
    EDIT,
    IMPORT,
    MERGE,
    NEVER_AGAIN,
    NOT_USEFUL,
    PIN,
    RESTORE,
    SPOKEN,
    UNPIN,
)
from shared.runtime import Runtime
from shared.store import history, memory, versions
from shared.store.history import Dispute, MemorySource, StoredChange

BY_HAND: Mapping[str, ChangeKind] = {EDIT: "changed", RESTORE: "restored"}
"""Actions of the user on a memory, by the pattern of the item."""
ACTS: Mapping[str, ChangeKind] = {
    "create": "learnt",
    "supersede": "changed",
    "confirm": "confirmed",
    MERGE: "merged",
    PIN: "pinned",
    UNPIN: "unpinned",
    IMPORT: "imported",
}
UPKEEP: Mapping[str, ChangeKind] = {
    "consolidation": "merged",
    "outdated": "outdated",
    "refreshed": "confirmed",
    "fuse": "hidden",
}
"""Changes by upkeep, by job; other jobs end a memory."""
ENDING = frozenset(("ended", "taken_back"))


async def load_page(rt: Runtime, subject: Subject, limit: int, offset: int) -> ChangePage:
    """The changes with the texts before and after, without memories erased since."""
    async with rt.db.transaction(subject) as conn:
        stored = await history.load_page(conn, subject, limit, offset)
        moments = [each.said_at for each in stored if each.verb == "retract" and each.said_at]
        taken = await history.load_taken_back(conn, subject, moments)
        named = {id for each in stored for id in each.memory_ids} | {id for ids in taken.values() for id in ids}
        by_id = {each.memory_id: each for each in await memory.by_ids(conn, subject, named)}
        beside = {id for each in by_id.values() for id in (*each.supersedes, each.superseded_by) if id} - by_id.keys()
        by_id |= {each.memory_id: each for each in await memory.by_ids(conn, subject, beside)}
    texts = {id: to_item(each, subject, rt).content for id, each in by_id.items() if each.status != "erased"}
    shown = (_to_change(each, by_id, texts, taken.get(each.said_at, ()) if each.said_at else ()) for each in stored)
    return ChangePage(changes=tuple(each for each in shown if each))


def classify_change(change: StoredChange) -> ChangeKind:
    """The kind of a change."""
    if change.verb == "upkeep":
        return UPKEEP.get(change.reason, "ended")
    if change.verb == "retract":
        by_hand = change.detector == "items" or change.pattern == "forget"
        return "taken_back" if by_hand else "ended"
    if change.detector == "items" and change.verb in ("create", "supersede"):
        return BY_HAND.get(change.pattern, "changed")
    return ACTS.get(change.verb, "changed")


def _to_change(
    change: StoredChange, by_id: Mapping[UUID, Memory], texts: Mapping[UUID, str], taken: tuple[UUID, ...]
) -> MemoryChange | None:
    about = next((by_id[id] for id in change.memory_ids if id in texts), None)
    if about is None:
        return None
    what = classify_change(change)
    if change.reason == "consolidation":
        about = by_id.get(about.superseded_by or about.memory_id, about)
    if change.verb == "retract":
        before = dict.fromkeys((*change.memory_ids, *taken))
    elif what in ENDING:
        before = dict.fromkeys(change.memory_ids)
    else:
        # a confirmed or pinned version had replaced others before
        fresh = about.memory_id == change.id or change.reason == "consolidation"
        before = dict.fromkeys(about.supersedes if fresh else ())
    return MemoryChange(
        at=change.at,
        what=what,
        by=_name_actor(change),
        memory_id=about.memory_id,
        type=about.type,
        before=tuple(texts[id] for id in before if id in texts),
        after=None if what in ENDING else texts[about.memory_id],
        turn_id=change.turn_id,
        session_id=change.session_id,
        reason=change.reason or None,
    )


def _name_actor(change: StoredChange) -> Cause:
    if change.verb == "upkeep":
        return "upkeep"
    if change.pattern == IMPORT:
        return "import"
    return "edit" if change.detector == "items" else "turn"


ITEM_DETECTORS = {"structured": "item", "items": "item", "ref": "ref", "tool": "tool_result"}
"""Detectors whose observations come from items, not from sentences."""
ACTIONS = {
    "create": "created",
    "supersede": "created",
    "confirm": "confirmed",
    "retract": "retracted",
    "ask": "held",
    "skip": "passed over",
    "pin": "pinned",
    "unpin": "unpinned",
    "merge": "merged",
    "import": "imported",
    NOT_USEFUL: "of no use",
    NEVER_AGAIN: "not to be brought up",
    BRING_UP_AGAIN: "to be brought up again",
}


async def load_history(rt: Runtime, subject: Subject, memory_id: UUID) -> MemoryHistory:
    """Every version of the memory, oldest first, with its evidence."""
    async with rt.db.transaction(subject) as conn:
        line = await versions.line(conn, subject, memory_id)
        if not line:
            raise refuse_missing("memory_id")
        ids = [m.memory_id for m in line]
        restored = [UUID(m.provenance[versions.RESTORED]) for m in line if versions.RESTORED in m.provenance]
        sources = await history.sources(conn, subject, line, restored)
        upkept = await history.upkeep(conn, subject, ids)
        disputes = await history.disputes_of(conn, subject, ids)
    shown_ = [
        MemoryVersion(
            **to_item(m, subject, rt).model_dump(),
            evidence=to_evidence(m, sources),
            upkeep=tuple(UpkeepView.model_validate(vars(u)) for u in upkept if m.memory_id in u.memory_ids),
            conflicts=tuple(to_conflict(d) for d in disputes if d.memory_id == m.memory_id),
        )
        for m in line
    ]
    return MemoryHistory(memories=tuple(shown_))


def to_evidence(version: Memory, found: Sequence[MemorySource]) -> tuple[EvidenceView, ...]:
    """The observations that made the version."""
    acted = [(seen, action) for seen in found if (action := _find_action(version, seen))]
    return tuple(
        EvidenceView(
            action=action,
            observation_id=seen.observation_id,
            turn_id=seen.turn_id,
            session_id=seen.session_id,
            said_at=seen.said_at,
            source=ITEM_DETECTORS.get(seen.detector) or seen.event_type or "unknown",
            role=seen.role if seen.detector not in ITEM_DETECTORS else None,
            name=seen.name if seen.detector not in ITEM_DETECTORS else None,
            quote=_quote(seen),
            erased=seen.erased,
            detector=seen.detector,
            pattern=seen.pattern,
            reason=seen.reason,
        )
        for seen, action in acted
    )


def _find_action(version: Memory, seen: MemorySource) -> str | None:
    """What the observation did to the version; None if nothing."""
    verb = (seen.reason or "").partition(":")[0]
    if seen.observation_id == version.memory_id:
        return "created"
    if seen.observation_id == version.superseded_by:
        return "superseded" if version.status in ("superseded", "merged") else "restored"
    if str(seen.observation_id) == version.provenance.get(versions.RESTORED):
        return "said"
    if seen.related_memory_id == version.memory_id:
        return ACTIONS.get(verb, verb or "observed")
    retracted = verb == "retract" and version.status == "retracted" and seen.said_at == version.invalid_at
    return "retracted" if retracted else None


def _quote(seen: MemorySource | Dispute) -> str | None:
    if seen.erased:
        return None
    if seen.detector in ITEM_DETECTORS or seen.event_type not in SPOKEN or seen.said is None:
        return seen.text[:MOST_QUOTED] or None
    return quote_sentence(seen.said, (seen.span_start, seen.span_end)) or None


async def list_conflicts(rt: Runtime, subject: Subject, *, state: str | None, limit: int, offset: int) -> ConflictPage:
    """The user's conflicts in this state, newest first."""
    async with rt.db.transaction(subject) as conn:
        found = await history.disputes(conn, subject, state=state, limit=limit, offset=offset)
    return ConflictPage(conflicts=tuple(to_conflict(each) for each in found))


def to_conflict(each: Dispute) -> ConflictView:
    """The conflict as shown; erased text is empty."""
    given = {name: value for name, value in vars(each).items() if name in ConflictView.model_fields}
    said = "" if each.erased else each.text
    return ConflictView.model_validate({**given, "said": said, "quote": _quote(each)})


async def settle_conflict(rt: Runtime, subject: Subject, conflict_id: UUID, choice: Settlement) -> WriteReceipt:
    """Settles the conflict: the chosen side is stated again by the user. RefusedError if it is settled already."""
    async with rt.db.transaction(subject) as conn:
        dispute = await history.dispute(conn, subject, conflict_id)
    if dispute is None:
        raise refuse_missing("conflict_id")
    if dispute.state != "open":
        raise refuse_field("already_settled", "conflict_id", f"is settled already: {dispute.state}", 409)
    kept = dispute.memory_id if choice.keep == "known" else dispute.observation_id
    item = StructuredItem(type=dispute.type, key=dispute.key, memory_id=kept, restore=True)
    return await write(rt, make_turn(subject, (item,)))


async def restore(rt: Runtime, subject: Subject, memory_id: UUID) -> WriteReceipt:
    """Makes the version's content the newest version; RefusedError if it is active.

    An active memory that was hidden after too many rejections is confirmed instead.
    """
    version = await load_memory(rt, subject, memory_id)
    if version.status == "active" and version.fused_at is None:
        raise refuse_field(
            "already_active", "memory_id", "is the version that holds now; there is nothing to restore", 409
        )
    if version.status == "erased":
        raise refuse_field("erased", "memory_id", "was erased; its content is gone", 409)
    item = StructuredItem(type=version.type, key=version.key, memory_id=memory_id, restore=True)
    return await write(rt, make_turn(subject, (item,)))


async def edit(rt: Runtime, subject: Subject, memory_id: UUID, change: MemoryEdit) -> WriteReceipt:
    """Adds a version with the given text; RefusedError for a secret, or for a former version."""
    version = await load_memory(rt, subject, memory_id)
    if version.status != "active":
        raise refuse_field(
            "not_active", "memory_id", f"is {version.status}; only the version that holds now can be edited", 409
        )
    for field, given in (("text", change.text), ("value", None if change.value is None else show_value(change.value))):
        if given:
            refuse_words(field, given)
    item = StructuredItem(type=version.type, key=version.key, memory_id=memory_id, text=change.text, value=change.value)
    return await write(rt, make_turn(subject, (item,), change.idempotency_key))
