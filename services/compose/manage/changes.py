"""The timeline of changes to a user's memory, newest first."""

from collections.abc import Mapping
from uuid import UUID

from schemas.changes import Cause, ChangeKind, ChangePage, MemoryChange
from services.compose.manage.memories import to_item
from shared.domain.memories import Memory
from shared.domain.subjects import Subject
from shared.extraction.turn_texts import EDIT, IMPORT, MERGE, PIN, RESTORE, UNPIN
from shared.runtime import Runtime
from shared.store import changes, memory
from shared.store.changes import StoredChange

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
        stored = await changes.load_page(conn, subject, limit, offset)
        moments = [each.said_at for each in stored if each.verb == "retract" and each.said_at]
        taken = await changes.load_taken_back(conn, subject, moments)
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
