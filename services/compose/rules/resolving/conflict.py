"""Knowledge first: a preference that a rule of the enterprise forbids stays out of the package (seed 004 section 4.3).

Facts about the user, their limits, decisions and goals are no preferences and stay, as does what they say now.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.memory_types import types_with
from schemas.vocabulary import Epistemic, MemoryType
from services.compose.rules.candidates import Candidate, CandidateConflict, CoreMemory, RankedCandidate
from services.compose.rules.resolving.norms import EnterpriseRule, PreferenceClaim, against, norms, says_taste, wish
from shared.language.segment import query_terms
from shared.screening.sanitize import DEFAULT_SANITIZE, TAKEN_OUT, SanitizePolicy, screen
from shared.screening.tags import REMOVED

TASTES = types_with("taste")
VIEWS: frozenset[Epistemic] = frozenset({"preference", "opinion"})
VIEWED = types_with("view")
MAX_READ = 2000


@dataclass(frozen=True, slots=True)
class ConflictResolution:
    """What may be packed, and which preferences gave way to which rule."""

    evidence: tuple[RankedCandidate, ...]
    core: tuple[CoreMemory, ...]
    conflicts: tuple[CandidateConflict, ...] = ()


def resolve_conflicts(
    evidence: Sequence[RankedCandidate],
    core: Sequence[CoreMemory],
    message: str,
    policy: SanitizePolicy = DEFAULT_SANITIZE,
) -> ConflictResolution:
    """The evidence and core memory without the preferences that a rule among the evidence stands against.

    A document that may not be shown rules nothing.
    """
    tastes = any(_yields(each.candidate) for each in evidence) or any(_pinned_yields(each) for each in core)
    rules = list(_rules(evidence, policy)) if tastes else []
    if not rules:
        return ConflictResolution(tuple(evidence), tuple(core))
    now = frozenset(query_terms(message, 64))
    lost: dict[str, CandidateConflict] = {}
    turns: set[str] = set()
    for each in evidence:
        source = each.candidate
        if _yields(source):
            conflict = _conflict(each.key, source.text, rules, now, each.score)
            if conflict:
                lost[each.key] = conflict
                turns |= {source.turn_id} if source.turn_id else set()
    for memory in core:
        key = f"memory:{memory.memory_id}"
        if key not in lost and _pinned_yields(memory):
            conflict = _conflict(key, memory.text, rules, now, memory.confidence)
            if conflict:
                lost[key] = conflict
                turns |= {memory.turn_id} if memory.turn_id else set()
    for each in evidence:
        source = each.candidate
        if source.kind == "turn" and source.role == "user" and source.turn_id in turns:
            conflict = _conflict(each.key, source.text, rules, now, each.score)
            if conflict:
                lost[each.key] = conflict
    return ConflictResolution(
        tuple(each for each in evidence if each.key not in lost),
        tuple(each for each in core if f"memory:{each.memory_id}" not in lost),
        tuple(lost.values()),
    )


def _yields(source: Candidate) -> bool:
    return source.memory_id is not None and yields(source.memory_type, source.epistemic, source.text)


def _pinned_yields(memory: CoreMemory) -> bool:
    return yields(memory.type, memory.epistemic, memory.text)


def yields(kind: MemoryType | None, epistemic: Epistemic, text: str = "") -> bool:
    """Whether a memory is a taste or a view, or a note of one: only these may a rule of the enterprise overrule."""
    return kind in TASTES or (kind in VIEWED and (epistemic in VIEWS or says_taste(text)))


def _rules(
    evidence: Iterable[RankedCandidate], policy: SanitizePolicy = DEFAULT_SANITIZE
) -> Iterable[tuple[Candidate, EnterpriseRule]]:
    for each in evidence:
        source = each.candidate
        if source.is_resource and not _gives_orders(source.text[:MAX_READ], policy):
            yield from ((source, norm) for norm in norms(source.text[:MAX_READ]))


def _gives_orders(text: str, policy: SanitizePolicy = DEFAULT_SANITIZE) -> bool:
    """Whether a document gives orders to the agent anywhere: then it rules nothing."""
    shown = screen(text, policy)
    return shown.outcome == "blocked" or (REMOVED in shown.text and shown.rule not in TAKEN_OUT)


def _conflict(
    key: str, text: str, rules: Sequence[tuple[Candidate, EnterpriseRule]], now: frozenset[str], score: float
) -> CandidateConflict | None:
    wanted: PreferenceClaim | None = wish(text)
    if wanted is None:
        return None
    rule = next(((source, norm) for source, norm in rules if against(norm, wanted, now)), None)
    return CandidateConflict(key, rule[0].key, rule[0].uri, rule[1].force, score) if rule else None
