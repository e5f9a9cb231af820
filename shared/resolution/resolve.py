"""Decides what a statement does to the memories of its user. The evolver carries it out, compose foresees it. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from schemas.memory_types import types_with
from shared.domain.statements import (
    FORGETS,
    MISREAD,
    RANK,
    SUPPOSED,
    SUSPECTED,
    ActiveMemory,
    Relation,
    Statement,
    decide_confirmation,
    may_concern,
    relate,
)
from shared.extraction.edited import Content
from shared.language.patterns import to_pattern
from shared.language.segment import has_word
from shared.policy import ConfidencePolicy
from shared.resolution.amending import amend, amend_by_contrast
from shared.resolution.forgetting import find_forgotten
from shared.resolution.meant import find_counted, find_near, find_replaced
from shared.resolution.operations import (
    NO_ADVICE,
    Advice,
    Comparison,
    Comparisons,
    Confirm,
    Operation,
    Reject,
    Retract,
    Sign,
    Verdict,
    Write,
)
from shared.resolution.parts import is_parallel
from shared.resolution.related import about, may_be_same, relations
from shared.resolution.remaining import find_remaining, keep_remaining
from shared.resolution.superseding import estimate_superseding

APART = types_with("lasting")
"""Types of memory that no sentence ends: what happened has happened."""
OVERWRITTEN = types_with("overwritten")
ENDS_TOLD, ENDS, ENDS_UNSAID = 0.42, 0.78, 0.83
"""How likely it must be that a memory ends: by a correction, by a statement, by words that state nothing themselves."""
SAME, BOTH = 0.6, 0.7
"""How likely it must be that a memory is said again, or that words which state nothing by themselves add to it."""
CERTAIN = 0.95
"""How likely it must be that a passing statement ends what the user has confirmed; below, it is an open conflict."""
_QUESTION = to_pattern(r"[^.!?。！？\n]*[?？]+")


def resolve(
    new: Statement, known: Sequence[ActiveMemory], policy: ConfidencePolicy, advice: Advice = NO_ADVICE
) -> Operation:
    """What the statement does; `known` are the active memories that it may concern."""
    return weigh(new, known, policy, advice).operation


def weigh(
    new: Statement, known: Sequence[ActiveMemory], policy: ConfidencePolicy, advice: Advice = NO_ADVICE
) -> Comparisons:
    """As `resolve`, with the comparisons that decided. A verdict on a memory replaces the estimate of the weights."""
    weighed = _weigh(new, known, policy, advice)
    return replace(weighed, operation=keep_what_remains(new, weighed.operation))


def keep_what_remains(new: Statement, operation: Operation) -> Operation:
    """The operation, which keeps the parts of the ended memory that still hold."""
    match operation:
        case Write(relation, (old, *_), None) if not new.chosen and new.assertion != "behaviour":
            rest = find_remaining(old, new.quote or new.text)
            return replace(operation, left=keep_remaining(old, rest, new.key)) if rest else operation
        case Retract((old,), "denied" | "said_to_have_ended"):
            rest = find_remaining(old, new.quote or new.text)
            relation = Relation("supersede", old, old.provenance, old.assertion, old.confidence, "said_to_have_ended")
            left = keep_remaining(old, rest)
            return Write(relation, (old,), left, left) if rest else operation
        case _:
            return operation


def _weigh(new: Statement, known: Sequence[ActiveMemory], policy: ConfidencePolicy, advice: Advice) -> Comparisons:
    known = [k for k in known if may_concern(new, k)]
    if MISREAD in new.flags:
        return Comparisons(_take_back_find(new, known), "related")
    if FORGETS in new.flags:
        return Comparisons(forget_parts(new, known), "meaning")
    if found := amend_memory(new, known, policy):
        return Comparisons(found, "value")
    replaced = find_counted(new, known) if new.assertion == "behaviour" else find_replaced(new, known)
    relation = relate(new, known, policy)
    beside = compare_with_known(new, known, policy, advice) if relation.target is None and not replaced else ()
    if found := _by_meaning(new, beside, policy):
        return Comparisons(found, "meaning", beside)
    return Comparisons(_by_signs(new, relation, replaced, policy), _sign(new, relation.target, replaced), beside)


def _take_back_find(new: Statement, known: Sequence[ActiveMemory]) -> Operation:
    """Ends the memory that the rules alone made of the turn, unless it replaced another or was stated again."""
    find = next((k for k in known if k.memory_id == new.related), None)
    if find is None:
        return Reject("skip", "nothing_known_to_retract")
    alone = find.version == 1 and find.turns == 1 and find.assertion in SUPPOSED and find.provenance == "observation"
    return Retract((find,), MISREAD) if alone else Reject("skip", "stands_by_more_than_the_find")


def forget_parts(new: Statement, known: Sequence[ActiveMemory]) -> Operation:
    """Ends what the request names, in every memory that contains it; the other parts of these memories stay.

    A request never means what was said with it.
    """
    before = [k for k in known if k.valid_at < new.said_at]
    meant = find_forgotten(new.text, new.quote or new.text, new.session_id, before)
    if not meant:
        return Reject("skip", "nothing_known_to_retract")
    left = tuple((each.memory, keep_remaining(each.memory, each.rest)) for each in meant if each.rest)
    return Retract(tuple(each.memory for each in meant), "forgotten", left)


def amend_memory(new: Statement, known: Sequence[ActiveMemory], policy: ConfidencePolicy) -> Operation | None:
    """Puts the new value in place of the old one; a weaker statement becomes an open conflict."""
    found = amend(new, known)
    if found is None:
        return None
    puts_right = replace(new, assertion="correction") if SUSPECTED in new.flags else new
    return _write_amended(puts_right, found.target, found.content, policy)


def _write_amended(new: Statement, old: ActiveMemory, content: Content, policy: ConfidencePolicy) -> Operation:
    """The amended memory with the confidence of the statement; a claim of money stays under its cap."""
    new = replace(new, flags=content.flags, assertion="declared" if content.flags else new.assertion)
    if RANK[policy.level_of(new.assertion, new.flags).provenance] < RANK[old.provenance]:
        return Reject("ask", "weaker_than_known", old)
    return Write(hold_conflict(new, old, "supersede", "amended", policy), (old,), content)


def _sign(new: Statement, target: ActiveMemory | None, replaced: Sequence[ActiveMemory]) -> Sign:
    """The first that applies: a version that the user chose, a key, equal words, a memory named by id, an old value."""
    found = target or next(iter(replaced), None)
    if found is None:
        return "none"
    if new.chosen:
        return "chosen"
    if found.key is not None and found.key in (new.key, new.old_key):
        return "key"
    if found.memory_id == new.related:
        return "related"
    return "words" if target else "value"


def _as_said(new: Statement, relation: Relation, policy: ConfidencePolicy) -> Operation:
    """A correction of nothing known is stored as an ordinary statement."""
    plain = policy.level_of("declared", new.flags)
    confidence = min(new.confidence, plain.initial)
    return Write(replace(relation, provenance=plain.provenance, assertion="declared", confidence=confidence), ())


def _by_signs(
    new: Statement, relation: Relation, replaced: Sequence[ActiveMemory], policy: ConfidencePolicy
) -> Operation:
    """The operation that keys, ids, equal words and old values lead to."""
    if SUSPECTED in new.flags and not replaced:
        return Reject("skip", "nothing_known_to_change")
    if new.retracts:
        ends = _distinct((relation.target, *replaced))
        return Retract(ends, "denied") if ends else Reject("skip", relation.reason)
    if (new.assertion == "correction" or new.chosen) and relation.action != "confirm":
        ends = _distinct((relation.target, *replaced))
        if not ends and not new.chosen:
            return _as_said(new, relation, policy)
        return Write(replace(relation, reason="chosen") if new.chosen else relation, ends)
    if new.assertion == "behaviour" and relation.action in ("create", "supersede"):
        return Write(relation, _distinct((relation.target, *replaced)))
    match relation.action:
        case "create" | "supersede":
            return Write(relation, _distinct((relation.target,)))
        case "confirm" if relation.target:
            changed = () if new.assertion == "behaviour" else replaced
            ends = tuple(k for k in changed if k.memory_id != relation.target.memory_id)
            return Write(relation, (relation.target, *ends)) if ends else Confirm(relation, relation.target)
        case _:
            return Reject(relation.action, relation.reason, relation.target)


def reads(new: Statement) -> bool:
    """Whether the statement has a sentence to compare with memories; a counted habit has only its key."""
    return bool(new.quote) and not new.chosen and new.assertion != "behaviour"


def compare_with_known(
    new: Statement, known: Sequence[ActiveMemory], policy: ConfidencePolicy, advice: Advice
) -> tuple[Comparison, ...]:
    """Compares its sentence with each memory that it may concern."""
    if not reads(new):
        return ()
    others = [k for k in known if k.type not in APART and not k.name_alone]
    others = [k for k in others if k.valid_at < new.said_at and _may_meet(new, k)]
    quote = to_stated(new)
    near = find_near(about(quote), others)
    taken = {k.memory_id for k in near}
    told = [k for k in others if k.memory_id in advice and k.memory_id not in taken]
    near += sorted(told, key=lambda k: (k.valid_at, k.memory_id), reverse=True)
    said = relations([k.told for k in near], quote)
    ends = estimate_superseding(near, new, quote, said)
    found = [Comparison(k, replace(each, ends=share)) for k, each, share in zip(near, said, ends, strict=True)]
    return tuple(apply_advice(new, each, advice.get(each.known.memory_id), policy) for each in found)


def to_stated(new: Statement) -> str:
    """Its sentence; that of a passing statement without the questions beside it, which state nothing."""
    if SUSPECTED not in new.flags or not new.quote:
        return new.quote
    return _QUESTION.sub("", new.quote).strip() or new.quote


def _may_meet(new: Statement, old: ActiveMemory) -> bool:
    """Whether words may say that both are about one thing.

    Two keys say that they are about two; but a correction read as another sort of wish has a key of its new value.
    """
    wishes = new.type != old.type and {new.type, old.type} <= OVERWRITTEN
    return not (new.key and old.key) or (wishes and new.assertion == "correction" and not new.retracts)


def apply_advice(new: Statement, found: Comparison, verdict: Verdict | None, policy: ConfidencePolicy) -> Comparison:
    """The verdict in place of the weights: not for claims of the user's own benefit, nor against what they confirmed.

    It is heard where a weaker statement speaks against something confirmed: that becomes an open conflict.
    """
    old = found.known
    heard = "self_benefit" not in new.flags
    weaker = RANK[policy.level_of(new.assertion, new.flags).provenance] < RANK[old.provenance]
    apart = replace(found.said, ends=0.0, same=0.0, both=0.0)
    match verdict:
        case "ends" if heard and (weaker or old.provenance != "confirmed_by_user"):
            return Comparison(old, replace(apart, ends=1.0), told=True)
        case "same" if heard and may_be_same(old.told, new.quote):
            return Comparison(old, replace(apart, same=1.0), told=True)
        case "both" if heard:
            return Comparison(old, replace(apart, both=1.0), told=True)
        case "apart" if heard:
            return Comparison(old, apart, told=True)
        case _:
            return found


def _by_meaning(new: Statement, beside: Sequence[Comparison], policy: ConfidencePolicy) -> Operation | None:
    """What its sentence does to a memory under another key, or none: by what both say. None where they are apart."""
    ending = [each for each in beside if each.said.ends >= find_least(new, each.known) and not _misses(new, each)]
    if ending:
        ending.sort(key=lambda each: each.said.ends, reverse=True)
        return _end_others(decide_ending(new, ending[0], policy), new, ending[1:], policy)
    if new.retracts:
        return None
    again = [each for each in beside if each.told or _may_repeat(each.known, new)]
    same = max(again, key=lambda each: each.said.same, default=None)
    if same and same.said.same >= SAME:
        return Confirm(decide_confirmation(new, same.known, policy), same.known)
    if SUSPECTED in new.flags and any(each.said.both >= BOTH for each in beside):
        return Write(hold_conflict(new, None, "create", "said_beside", policy), ())
    return None


def _may_repeat(old: ActiveMemory, new: Statement) -> bool:
    """Whether one may say the other again: nothing speaks against it, and they are not one sentence of two things."""
    return may_be_same(old.told, new.quote) and not is_parallel(old.text, new.text)


def doubtful(new: Statement, found: Comparison, low: float) -> bool:
    """Whether what both say is neither plainly nothing nor enough to act upon."""
    ends = low <= found.said.ends < find_least(new, found.known)
    return not found.told and (ends or (not new.retracts and low <= found.said.same < SAME))


def _misses(new: Statement, found: Comparison) -> bool:
    """Whether it denies something else: no word that the memory has, or another thing of the same sort."""
    if not new.retracts and not (new.assertion == "correction" and new.old_key):
        return False
    if new.retracts and (not found.said.shares or not new.old_value):
        return not found.said.shares
    old_value = new.old_value or ""
    if new.retracts and old_value.isascii() and old_value.isalnum() and not has_word(found.known.told, old_value):
        return True
    denied, known = about(old_value), about(found.known.told)
    return bool(denied.sorts & known.sorts) and denied.terms.isdisjoint(known.terms)


def find_least(new: Statement, old: ActiveMemory) -> float:
    """How likely it must be that the memory ends: two that were dictated are hardly meant to end each other."""
    if new.assertion == "directive" and old.provenance == "confirmed_by_user":
        return CERTAIN
    if old.type == "event" or SUSPECTED in new.flags:
        return ENDS_UNSAID
    return ENDS_TOLD if new.assertion == "correction" or new.retracts else ENDS


def hold_conflict(
    new: Statement,
    old: ActiveMemory | None,
    action: Literal["create", "supersede"],
    reason: str,
    policy: ConfidencePolicy,
) -> Relation:
    standing = policy.level_of(new.assertion, new.flags)
    return Relation(action, old, standing.provenance, new.assertion, min(new.confidence, standing.cap), reason)


def decide_ending(new: Statement, found: Comparison, policy: ConfidencePolicy) -> Operation:
    """The memory ends; of what the user confirmed only by words that are all but certain to say so."""
    old, said = found.known, found.said
    standing = policy.level_of(new.assertion, new.flags)
    if RANK[standing.provenance] < RANK[old.provenance] and RANK[old.provenance] >= RANK["tool"]:
        if said.ends < CERTAIN or found.told or "self_benefit" in new.flags:
            return Reject("ask", "weaker_than_known", old)
        new = replace(new, assertion="correction", confidence=policy.level_of("correction").initial)
    if not new.retracts and (amended := amend_by_contrast(new, old)):
        return _write_amended(new, old, amended.content, policy)
    if new.retracts or (SUSPECTED in new.flags and said.only_denies):
        return Retract((old,), "denied" if new.retracts else "said_to_have_ended")
    return Write(hold_conflict(new, old, "supersede", "said_to_have_changed", policy), (old,))


def _end_others(
    operation: Operation, new: Statement, others: Sequence[Comparison], policy: ConfidencePolicy
) -> Operation:
    """The operation, by which what else the statement ends goes, too, unless that is stronger than it."""
    standing = RANK[policy.level_of(new.assertion, new.flags).provenance]
    also = [each.known for each in others if not each.told and RANK[each.known.provenance] <= standing]
    match operation:
        case Write(ends=ends, content=None) if ends:
            return replace(operation, ends=_distinct((*ends, *also)))
        case Retract(targets=targets):
            return replace(operation, targets=_distinct((*targets, *also)))
        case _:
            return operation


def _distinct(found: Sequence[ActiveMemory | None]) -> tuple[ActiveMemory, ...]:
    return tuple({k.memory_id: k for k in found if k}.values())
