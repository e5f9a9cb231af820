"""Manual changes of a memory other than to its text: pinned, unpinned, merged, separated."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from services.evolver import chosen
from services.evolver.changes import MemoryChanges, end, find_twins, report_change, to_changed
from services.evolver.chosen import UserChoice
from shared.domain.memories import Memory
from shared.domain.observations import ObservationRow
from shared.domain.statements import candidate_id
from shared.extraction.turn_texts import EDIT, MERGE, OTHERS, PIN, RESTORE, UNPIN
from shared.resolution.from_rows import known_of, statement_of
from shared.resolution.operations import Reject
from shared.store import keeping, memory, versions
from shared.store.chunks import show_memories

ACTS = frozenset({PIN, UNPIN, MERGE})
MERGED, BY_HAND = "merged", "by_hand"
"""The provenance field of a manually merged memory that lists its sources."""
NOT_THERE = Reject("skip", "no_such_version")
ALREADY: Mapping[str, str] = {PIN: "already_pinned", UNPIN: "not_pinned", MERGE: "already_merged"}
"""The reason of an act without effect."""


async def govern(changes: MemoryChanges, seen: ObservationRow) -> Reject | None:
    """Carries out the act; or the reason if it is impossible: the named memory does not exist or is not active."""
    if seen.pattern == MERGE:
        return await _merge(changes, seen)
    target = await find_active_version(changes, seen.related_memory_id)
    if target is None:
        return NOT_THERE
    pinned = seen.pattern == PIN
    if target.pinned == pinned:
        changes.mark(seen, f"{seen.pattern}:{ALREADY[seen.pattern]}", target.memory_id)
        return None
    await keeping.pin(changes.conn, changes.subject, target.memory_id, pinned=pinned)
    if target.fused_at and pinned:
        await show_memories(changes.conn, changes.subject, [target.memory_id])
        changes.fused -= {target.memory_id}
    changes.mark(seen, f"{seen.pattern}:{BY_HAND}", target.memory_id)
    report_change(
        changes, seen, to_changed(known_of(target), "pinned" if pinned else "unpinned", "active"), seen.observation_id
    )
    return None


async def find_active_version(changes: MemoryChanges, memory_id: UUID | None) -> Memory | None:
    """The active version of the line with this id; None without one."""
    line = await versions.line(changes.conn, changes.subject, memory_id) if memory_id else []
    last = versions.follow(line, memory_id)
    return last if last and last.status == "active" else None


async def _merge(changes: MemoryChanges, seen: ObservationRow) -> Reject | None:
    keep = await find_active_version(changes, seen.related_memory_id)
    others = [await find_active_version(changes, UUID(each)) for each in seen.value.get(OTHERS, ())]
    if keep is None or None in others:
        return NOT_THERE
    members = list({each.memory_id: each for each in (keep, *others) if each}.values())
    if len(members) == 1:
        changes.mark(seen, f"{MERGE}:{ALREADY[MERGE]}", keep.memory_id)
        return None
    fresh = await _unite(changes, seen, keep, members)
    await end(changes, seen, [known_of(each) for each in members], "superseded", fresh.memory_id, fresh.valid_at)
    await _insert(changes, seen, fresh)
    changes.mark(seen, f"{MERGE}:{BY_HAND}", fresh.memory_id)
    return None


async def _unite(changes: MemoryChanges, seen: ObservationRow, keep: Memory, members: Sequence[Memory]) -> Memory:
    """The merged memory: the text of the kept one, or the one given by the user, and the evidence of all."""
    surest = max(each.fused_from or each.confidence for each in members)
    cap = changes.rt.policy.confidence.provenance_cap(keep.provenance_class, keep.flags)
    validated = [each.last_validated_at for each in members if each.last_validated_at]
    united = replace(
        keep,
        memory_id=seen.observation_id,
        version=await keeping.latest_version(changes.conn, changes.subject, keep.root_id) + 1,
        confidence=max(keep.fused_from or keep.confidence, min(surest, cap)),
        provenance={**keep.provenance, MERGED: [str(each.memory_id) for each in members], BY_HAND: True},
        flags=tuple(dict.fromkeys(flag for each in members for flag in each.flags)),
        supersedes=tuple(each.memory_id for each in members),
        valid_at=max(each.valid_at for each in members),
        last_validated_at=max(validated, default=None),
        source_sessions=tuple(sorted({session for each in members for session in each.source_sessions})),
        source_turns=memory.turns_kept([*(turn for each in members for turn in each.source_turns), seen.turn_id]),
        pinned=any(each.pinned for each in members),
        created_at=None,
        fused_at=None,
        fused_from=None,
    )
    return await _reword(changes, seen, keep, united) if seen.text else united


async def _reword(changes: MemoryChanges, seen: ObservationRow, keep: Memory, united: Memory) -> Memory:
    """The memory with the text given by the user, who thereby confirms it."""
    wanted = replace(seen, pattern=EDIT, value={}, related_memory_id=keep.memory_id)
    filled = await chosen.fill_observation(changes.conn, changes.subject, wanted, [keep])
    assert filled is not None  # noqa: S101 # the line contains the named version
    standing = changes.rt.policy.confidence.level_of(chosen.DIRECTIVE, filled.flags)
    return replace(
        united,
        type=filled.kind,
        key=filled.key,
        value=filled.value,
        content_text=filled.text,
        content_hash=statement_of(filled).sense,
        language=filled.language,
        polarity=filled.polarity,
        epistemic_type=filled.epistemic,
        confidence=max(united.confidence, standing.initial),
        provenance_class="confirmed_by_user",
        assertion=chosen.DIRECTIVE,
        flags=tuple(dict.fromkeys((*united.flags, *filled.flags))),
        valid_at=seen.said_at,
        valid_until=filled.valid_until,
        last_validated_at=seen.said_at,
    )


def is_separation(choice: UserChoice) -> bool:
    """Whether the restored version was manually merged into the active one: the whole merge is undone."""
    now = choice.active[0] if choice.seen.related_memory_id and choice.active else None
    return bool(
        choice.restored
        and now
        and choice.seen.pattern == RESTORE
        and now.provenance.get(BY_HAND)
        and str(choice.restored) in now.provenance.get(MERGED, ())
    )


async def part(changes: MemoryChanges, choice: UserChoice) -> None:
    """Restores all merged memories, each as a version of its own line, and ends the merged one."""
    seen, merged = choice.seen, choice.active[0]
    members = await memory.by_ids(changes.conn, changes.subject, [UUID(each) for each in merged.provenance[MERGED]])
    await end(changes, seen, [known_of(merged)], "superseded", seen.observation_id)
    for each in sorted(members, key=lambda member: member.memory_id != choice.restored):
        is_named = each.memory_id == choice.restored
        fresh = replace(
            each,
            memory_id=seen.observation_id if is_named else candidate_id(seen.turn_id, f"parted {each.memory_id}"),
            version=await keeping.latest_version(changes.conn, changes.subject, each.root_id) + 1,
            status="active",
            provenance={**each.provenance, versions.RESTORED: str(each.memory_id)},
            supersedes=(each.memory_id, merged.memory_id) if is_named else (each.memory_id,),
            superseded_by=None,
            valid_at=seen.said_at,
            invalid_at=None,
            created_at=None,
            source_turns=memory.turns_kept((*each.source_turns, seen.turn_id)),
        )
        await versions.supersede_again(changes.conn, changes.subject, each.memory_id, fresh.memory_id)
        await _insert(changes, seen, fresh)
    changes.mark(seen, "supersede:parted", seen.observation_id)


async def _insert(changes: MemoryChanges, seen: ObservationRow, fresh: Memory) -> None:
    """Activates and reports the version, and ends conflicting ones: another under its key, or with the same text."""
    twins = await find_twins(changes, seen, fresh)
    await end(changes, seen, twins, "superseded", fresh.memory_id)
    fresh = replace(fresh, supersedes=tuple(dict.fromkeys((*fresh.supersedes, *(each.memory_id for each in twins)))))
    await memory.insert(changes.conn, changes.subject, fresh)
    changes.add(seen, fresh)
