"""What of each slot's content goes in: wants measured, cut by priority, filled in order (seed 004 section 4.2.1)."""

from collections.abc import Iterable, Sequence

from schemas.context_package import RecentMessage
from services.compose.rules import slots, texts
from services.compose.rules.budget import COMPRESSIBLE, BudgetSignals, allocate, personal_ceiling, truncate
from services.compose.rules.model import Ranked, RecentTurn
from services.compose.rules.packing import Decision, Draft, PackInputs, PackPolicy
from services.compose.rules.render import MESSAGE_OVERHEAD
from services.compose.rules.slots import Prepared, PreparedCore
from services.compose.rules.spoken import withheld
from shared.text import tokens
from shared.text.language import detect
from shared.text.sanitize import screen

SNIPPET_LADDER: tuple[tuple[float, float], ...] = ((1.0, 0.45), (0.6, 0.35))
"""Shares of the longest snippet for the best four and for the rest, tried in turn where the longest do not fit."""

NAME_JOINT = "; "


def fill(inputs: PackInputs, policy: PackPolicy, room: int) -> tuple[Draft, dict[str, int]]:
    """Wants measured, cut by priority to the room, then each slot filled to its size (seed 004 section 4.2.1)."""
    draft = Draft(degraded=list(inputs.degraded_reason), rejected=list(inputs.withheld))
    allowed = _allowed(inputs, policy, draft)
    request = inputs.request_id or inputs.context_id
    most = policy.max_snippet_chars
    whole = slots.evidence(allowed, request, inputs.created_at, (most, most), inputs.nonce)
    pinned = _pinned(inputs, policy, draft, {each.ranked.key for each in whole})
    turns = slots.window(_earlier(inputs), policy.recent_turns_max, policy.max_tool_chars)
    summary, entities = _summary(inputs, policy, draft), _entities(inputs, policy)
    personal = sum(each.cost for each in whole if not each.is_resource) + sum(each.cost for each in pinned)
    frame = 2 * MESSAGE_OVERHEAD + 8
    wants: dict[str, int] = {
        "personal": min(personal, personal_ceiling(inputs.intent, policy.budget)),
        "knowledge": sum(each.cost for each in whole if each.is_resource),
        "window": sum(price for price, _ in turns),
        "summary": slots.cost(summary),
        "entities": slots.cost(entities),
    }
    floors = allocate(inputs.token_limit, _signals(wants, len(whole) + len(pinned), len(turns)), policy.budget)
    minimums: dict[str, int] = {slot: floors[slot] for slot in COMPRESSIBLE}
    sizes = truncate(wants, max(0, room - frame), minimums, policy.budget.order)
    _fill_memory(inputs, policy, draft, allowed, whole, pinned, sizes)
    _fill_window(draft, turns, sizes["window"])
    draft.summary = _cut(summary, sizes["summary"])
    draft.entities = _fitting(entities, sizes["entities"])
    return draft, sizes


def _allowed(inputs: PackInputs, policy: PackPolicy, draft: Draft) -> list[tuple[Ranked, slots.Screened]]:
    """The evidence that passes the guard and the counts, in order."""
    memories = (
        policy.memories_max if inputs.inject_limit is None else min(inputs.inject_limit, policy.evidence_max_items)
    )
    personal = policy.evidence_max_items if inputs.intent != "small_talk" else policy.budget.small_talk_items
    kept: list[tuple[Ranked, slots.Screened]] = []
    for each, clean in slots.screened(inputs.evidence, policy.sanitize, policy.max_snippet_chars):
        draft.rejected += withheld(slots.withheld(each.candidate, policy.sanitize))
        is_memory = each.candidate.memory_id is not None
        full = len(kept) >= policy.evidence_max_items or (is_memory and memories <= 0)
        if clean.outcome == "blocked":
            draft.rejected.append(
                Decision(each.key, False, "blocked", each.score, sanitization="blocked", rule=clean.rule)
            )
        elif full or (not each.candidate.is_resource and personal <= 0):
            draft.rejected.append(Decision(each.key, False, "relevance", each.score, sanitization=clean.outcome))
        else:
            memories -= is_memory
            personal -= not each.candidate.is_resource
            kept.append((each, clean))
    return kept


def _pinned(inputs: PackInputs, policy: PackPolicy, draft: Draft, shown: set[str]) -> list[PreparedCore]:
    """Core memory that is not already evidence; a greeting is given few, and a user who allows none gets none."""
    if inputs.inject_limit == 0:
        return []
    pinned, blocked = slots.core(inputs.core, policy.sanitize, inputs.nonce)
    draft.rejected += [Decision(each.key, False, "blocked", sanitization="blocked", rule=each.rule) for each in blocked]
    fresh = [each for each in pinned if each.key not in shown and each.memory.epistemic != "outdated"]
    return fresh[: max(0, policy.budget.small_talk_items - len(shown))] if inputs.intent == "small_talk" else fresh


def _earlier(inputs: PackInputs) -> list[RecentTurn]:
    """The turns before this one: the message being answered may already be stored."""
    turns = sorted(inputs.recent, key=lambda turn: turn.seq)
    if turns and [(each.role, each.content) for each in turns[-1].messages] == [("user", inputs.user_message)]:
        turns.pop()
    return turns


def _summary(inputs: PackInputs, policy: PackPolicy, draft: Draft) -> str:
    """The summary without the lines that give orders; that any were left out is said."""
    lines = [(line, screen(line, policy.sanitize)) for line in inputs.working_summary.splitlines()]
    blocked = [clean for _, clean in lines if clean.outcome == "blocked"]
    whole = screen("\n".join(clean.text for _, clean in lines if clean.outcome != "blocked"), policy.sanitize)
    for clean in (*blocked, *([whole] if whole.outcome == "blocked" else [])):
        draft.degraded.append("summary_blocked")
        draft.rejected.append(Decision("summary", False, "blocked", sanitization="blocked", rule=clean.rule))
    return whole.text.strip()


def _entities(inputs: PackInputs, policy: PackPolicy) -> str:
    clean = [screen(each, policy.sanitize) for each in inputs.entities]
    names = [each.text for each in clean if each.outcome != "blocked" and each.text]
    language = inputs.language or detect(inputs.user_message)
    return texts.entities(language, NAME_JOINT.join(names)) if names else ""


def _signals(wants: dict[str, int], memories: int, turns: int) -> BudgetSignals:
    return BudgetSignals(
        memory_richness=min(1.0, memories / 16) if wants["personal"] else 0.0,
        knowledge_relevance=0.75 if wants["knowledge"] else 0.0,
        conversation_depth=min(1.0, turns / 8),
    )


def _fill_memory(
    inputs: PackInputs,
    policy: PackPolicy,
    draft: Draft,
    allowed: Sequence[tuple[Ranked, slots.Screened]],
    whole: list[Prepared],
    pinned: Sequence[PreparedCore],
    sizes: dict[str, int],
) -> None:
    """Evidence first, at the longest snippets that fit; pinned memory has up to two fifths of the personal slot."""
    reserved = min(sum(each.cost for each in pinned), int(sizes["personal"] * 0.4))
    left = {False: sizes["personal"] - reserved, True: sizes["knowledge"]}
    prepared = _at_best_length(inputs, policy, allowed, whole, left)
    for each in prepared:
        if each.cost <= left[each.is_resource]:
            left[each.is_resource] -= each.cost
            draft.evidence.append(each)
        else:
            let_go(draft, each)
    spare = left[False] + reserved
    shown = {each.ranked.key for each in draft.evidence}
    for each in pinned:
        if each.key not in shown and each.cost <= spare:
            spare -= each.cost
            draft.core.append(each)
        else:
            draft.rejected.append(Decision(each.key, False, "budget_exceeded", each.memory.confidence))


def _at_best_length(
    inputs: PackInputs,
    policy: PackPolicy,
    allowed: Sequence[tuple[Ranked, slots.Screened]],
    whole: list[Prepared],
    left: dict[bool, int],
) -> list[Prepared]:
    prepared = whole
    for best, rest in SNIPPET_LADDER:
        if all(sum(each.cost for each in prepared if each.is_resource is side) <= left[side] for side in (False, True)):
            break
        limits = (int(policy.max_snippet_chars * best), int(policy.max_snippet_chars * rest))
        request = inputs.request_id or inputs.context_id
        prepared = slots.evidence(allowed, request, inputs.created_at, limits, inputs.nonce)
    return prepared


def let_go(draft: Draft, each: Prepared) -> None:
    """Take the evidence out of the draft for want of room, and say so."""
    score = each.ranked.score
    draft.rejected.append(Decision(each.ranked.key, False, "budget_exceeded", score, sanitization=each.outcome))


def _fill_window(draft: Draft, turns: Iterable[tuple[int, list[RecentMessage]]], size: int) -> None:
    """Whole turns from the newest back; the newest is shortened rather than lost."""
    for price, messages in turns:
        if price > size:
            if not draft.turns and (cut := slots.shortened(messages, size)) and slots.turn_cost(cut) <= size:
                draft.turns.append(cut)
            return
        size -= price
        draft.turns.append(messages)


def _fitting(names: str, size: int) -> str:
    """As many of the names, from the first, as fit; nothing where not one does."""
    while names and slots.cost(names) > size:
        names = names.rpartition(NAME_JOINT)[0]
    return names


def _cut(text: str, size: int) -> str:
    if slots.cost(text) <= size:
        return text
    short = tokens.head(text, size - slots.SEPARATOR - 1)
    return short[: short.rfind("\n")] if "\n" in short[len(short) // 2 :] else short
