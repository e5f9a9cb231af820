"""Drops an older statement for a newer one of the same speaker, and a preference for a rule of the enterprise.

Statements are compared as messages or memories; `services/compose/rules/resolving/replacing.py` decides whether the
newer one replaces or adds. Knowledge overrules preferences; facts about the user, constraints, decisions, goals and the
current message stay.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from schemas.memory_types import types_with
from schemas.vocabulary import Epistemic, MemoryType
from services.compose.rules.candidates import Candidate, CandidateConflict, CoreMemory, RankedCandidate
from services.compose.rules.planning.questions import asks_for_one
from services.compose.rules.ranking.fuse import FusionResult
from services.compose.rules.resolving.norms import (
    EnterpriseRule,
    PreferenceClaim,
    contradicts,
    read_rules,
    read_wish,
    says_taste,
)
from services.compose.rules.resolving.outdated import OutdatedStatement, OutdatedStatements, says_one_thing
from services.compose.rules.resolving.replacing import (
    find_way,
    gives_other_value,
    read_phrasing,
    stands_beside,
    without_common_change,
)
from services.compose.rules.searching.nearness import compare_nearness
from shared.extraction import signals
from shared.extraction.clauses import split
from shared.extraction.guards import stances
from shared.language.patterns import to_pattern
from shared.language.segment import query_terms
from shared.resolution.related import SentenceRelation, about, relations
from shared.resolution.resolve import APART, ENDS_UNSAID
from shared.screening.orders import REMOVED
from shared.screening.sanitize import DEFAULT_SANITIZE, TAKEN_OUT, SanitizePolicy, screen

LEAST_SHARED = 1 / 3
"""The share of the older message that the newer one must have: a story about a place is not ended by leaving it."""
MOST_COMPARED = 16
"""The most statements to compare, the highest ranked."""
NEAR = 0.6
"""The nearness at which a newer statement may replace an older one without a common word."""
AGAINST = 0.5
"""The score from which the learned relation says that both are valid or equal."""
CAUSE = "newer_message"
_SPEAKER = to_pattern(r"^([A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)?|[\u4e00-\u9fff]{2,4})[:：] ?(?=\S)")
"""The speaker prefix of a memory, if several people talk."""


def drop_superseded(fused: FusionResult, question: str, *, past: bool) -> FusionResult:
    """The order without what a newer candidate ends, and without replies that repeat it.

    With `past` it stays, with the time until which it was valid.
    """
    ended = _find_ended(fused, question)
    if not ended:
        return fused
    if past:
        dated = [
            replace(each, candidate=replace(each.candidate, until=ended[each.key])) if each.key in ended else each
            for each in fused.ranked
        ]
        return replace(fused, ranked=tuple(dated))
    return fused.without(ended, "superseded", CAUSE)


@dataclass(frozen=True, slots=True)
class _SpokenStatement:
    """A statement of a user, with the speaker and without the speaker's prefix."""

    candidate: Candidate
    speaker: str | None
    text: str

    @property
    def at(self) -> datetime:
        return self.candidate.valid_at

    @property
    def key(self) -> str:
        return self.candidate.key


def _find_ended(fused: FusionResult, question: str) -> Mapping[str, datetime]:
    """Since when each candidate is no longer valid, by key."""
    current = [each.candidate for each in fused.ranked if each.candidate.until is None]
    replies = [each for each in current if each.kind == "turn" and each.role == "assistant"]
    answered = {each.turn_id for each in replies}
    unseen = [
        each.candidate
        for each in (fused.judged if answered else ())
        if each.candidate.turn_id in answered and each.candidate.until is None
    ]
    by_time = sorted(_told_by_users(current, unseen), key=lambda each: each.at)
    one = asks_for_one(question)
    ended: dict[str, datetime] = {}
    statements: list[OutdatedStatement] = []
    enders: dict[str, set[str]] = {}
    for at, newer in enumerate(by_time):
        if not at or not _may_end(newer):
            continue
        older = [each for each in by_time[:at] if _may_be_ended(each, newer)]
        weighed = zip(older, relations([each.text for each in older], newer.text), strict=True)
        over = {each.key for each, relation in weighed if _ends(each, newer, relation, one=one)}
        # a replacement of an earlier replacement is about the same thing
        over |= {key for each in over for key in enders.get(each, ())}
        for each in older:
            if each.key in over:
                enders.setdefault(each.key, set()).add(newer.key)
                if each.key not in ended:
                    ended[each.key] = newer.at
                    statements.append(_to_outdated_statement(each, newer))
    gone = OutdatedStatements(statements)
    for each in replies:
        if until := gone.ended_at(each.text, each.valid_at, each.role, each.turn_id):
            ended[each.key] = until
    return ended


def _told_by_users(ranked: Sequence[Candidate], unseen: Iterable[Candidate]) -> list[_SpokenStatement]:
    """The one-sentence statements of users, as messages or memories: the highest ranked, and those with replies."""
    names = {each.name for each in (*ranked, *unseen) if each.kind == "turn" and each.name}
    statements: dict[str, _SpokenStatement] = {}
    for each in ranked:
        if len(statements) == MOST_COMPARED:
            break
        if (statement := to_statement(each, names)) and says_one_thing(statement.text):
            statements[each.key] = statement
    for each in unseen:
        if (statement := to_statement(each, names)) and says_one_thing(statement.text):
            statements.setdefault(each.key, statement)
    return list(statements.values())


def to_statement(candidate: Candidate, names: set[str]) -> _SpokenStatement | None:
    """The candidate as a statement; None if it is of no user, or a memory of somebody without a message."""
    if candidate.kind == "turn":
        return _SpokenStatement(candidate, candidate.name, candidate.text) if candidate.role == "user" else None
    if candidate.kind != "memory" or not candidate.is_own or candidate.memory_type in APART:
        return None
    named = _SPEAKER.match(candidate.text)
    if named is None:
        return _SpokenStatement(candidate, None, candidate.text)
    if named[1] in names:
        return _SpokenStatement(candidate, named[1], candidate.text[named.end() :])
    return None


def _may_end(newer: _SpokenStatement) -> bool:
    """Whether the text may say that something has changed for the speaker."""
    if find_way(newer.text) in ("replaces", "now"):
        return True
    if newer.candidate.kind != "turn":
        return False
    clauses = split(newer.text)
    return any(map(signals.correction, clauses)) and all(each.subject != "agent" for each in stances(clauses))


def _may_be_ended(older: _SpokenStatement, newer: _SpokenStatement) -> bool:
    """Whether the older one has the same speaker and was said before, in another message."""
    turn = older.candidate.turn_id
    before = older.at < newer.at and (turn is None or turn != newer.candidate.turn_id)
    return before and older.speaker == newer.speaker and not stands_beside(older.text, newer.text)


def _ends(older: _SpokenStatement, newer: _SpokenStatement, relation: SentenceRelation, *, one: bool) -> bool:
    """Whether the newer one ends the older one.

    The learned weights decide if both share words. If the newer one states a change in another conversation, the
    question has one answer and the weights do not object, another value or nearness in meaning is enough.
    """
    way = find_way(newer.text)
    turns = older.candidate.kind == newer.candidate.kind == "turn"
    if relation.ends >= ENDS_UNSAID and (turns or way) and _is_about(older.text, about(newer.text).terms):
        return True
    if (
        not one
        or way is None
        or _is_one_talk(older, newer)
        or read_phrasing(older.text).happened
        or relation.both >= AGAINST
        or relation.same >= AGAINST
    ):
        return False
    if gives_other_value(older.text, newer.text):
        return True
    return compare_nearness(*without_common_change(older.text, newer.text)) >= NEAR


def _is_one_talk(older: _SpokenStatement, newer: _SpokenStatement) -> bool:
    """Whether both are of one conversation, in which a change may be about anything that was said."""
    return older.candidate.session_id is not None and older.candidate.session_id == newer.candidate.session_id


def _is_about(older: str, words: frozenset[str]) -> bool:
    terms = about(older).terms
    return bool(terms) and len(terms & words) >= LEAST_SHARED * len(terms)


def _to_outdated_statement(older: _SpokenStatement, newer: _SpokenStatement) -> OutdatedStatement:
    """The older one in the form that replies are compared with; the newer one names what ends too, so that `instead` is
    empty."""
    turn = older.candidate.turn_id
    return OutdatedStatement(newer.at, older.text, turns=frozenset({turn} if turn else ()))


TASTES = types_with("taste")
VIEWS: frozenset[Epistemic] = frozenset({"preference", "opinion"})
VIEWED = types_with("view")
MAX_READ = 2000


@dataclass(frozen=True, slots=True)
class ConflictResolution:
    """What may be packed, and the preferences that a rule overruled."""

    evidence: tuple[RankedCandidate, ...]
    core: tuple[CoreMemory, ...]
    conflicts: tuple[CandidateConflict, ...] = ()


def resolve_conflicts(
    evidence: Sequence[RankedCandidate],
    core: Sequence[CoreMemory],
    message: str,
    policy: SanitizePolicy = DEFAULT_SANITIZE,
) -> ConflictResolution:
    """Drops preferences from evidence and core memory that a rule among the evidence contradicts.

    A document that may not be shown has no rules.
    """
    tastes = any(_yields(each.candidate) for each in evidence) or any(_pinned_yields(each) for each in core)
    rules = list(_list_rules(evidence, policy)) if tastes else []
    if not rules:
        return ConflictResolution(tuple(evidence), tuple(core))
    now = frozenset(query_terms(message, 64))
    lost: dict[str, CandidateConflict] = {}
    turns: set[str] = set()
    for each in evidence:
        source = each.candidate
        if _yields(source):
            conflict = _find_conflict(each.key, source.text, rules, now, each.score)
            if conflict:
                lost[each.key] = conflict
                turns |= {source.turn_id} if source.turn_id else set()
    for memory in core:
        key = f"memory:{memory.memory_id}"
        if key not in lost and _pinned_yields(memory):
            conflict = _find_conflict(key, memory.text, rules, now, memory.confidence)
            if conflict:
                lost[key] = conflict
                turns |= {memory.turn_id} if memory.turn_id else set()
    for each in evidence:
        source = each.candidate
        if source.kind == "turn" and source.role == "user" and source.turn_id in turns:
            conflict = _find_conflict(each.key, source.text, rules, now, each.score)
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
    """Whether a memory is a taste or an opinion, or a note of one: only these can be overruled."""
    return kind in TASTES or (kind in VIEWED and (epistemic in VIEWS or says_taste(text)))


def _list_rules(
    evidence: Iterable[RankedCandidate], policy: SanitizePolicy = DEFAULT_SANITIZE
) -> Iterable[tuple[Candidate, EnterpriseRule]]:
    for each in evidence:
        source = each.candidate
        if source.is_resource and not _gives_orders(source.text[:MAX_READ], policy):
            yield from ((source, norm) for norm in read_rules(source.text[:MAX_READ]))


def _gives_orders(text: str, policy: SanitizePolicy = DEFAULT_SANITIZE) -> bool:
    """Whether a document gives orders to the agent anywhere; then its rules do not count."""
    shown = screen(text, policy)
    return shown.outcome == "blocked" or (REMOVED in shown.text and shown.rule not in TAKEN_OUT)


def _find_conflict(
    key: str, text: str, rules: Sequence[tuple[Candidate, EnterpriseRule]], now: frozenset[str], score: float
) -> CandidateConflict | None:
    wanted: PreferenceClaim | None = read_wish(text)
    if wanted is None:
        return None
    rule = next(((source, norm) for source, norm in rules if contradicts(norm, wanted, now)), None)
    return CandidateConflict(key, rule[0].key, rule[0].uri, rule[1].force, score) if rule else None
