"""Of two messages of one speaker that are found together the newer may say that the older holds no longer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from services.compose.rules.fuse import Fused
from services.compose.rules.model import Candidate, Dropped
from services.compose.rules.outdated import OutdatedStatement, OutdatedStatements, says_one_thing
from shared.reading import signals
from shared.reading.clauses import split
from shared.reading.guards import stances
from shared.reading.related import about, relations
from shared.resolve import ENDS_UNSAID

LEAST_SHARED = 1 / 3
"""So much of the older message the newer must have too: an anecdote of a place is not ended by leaving it."""
MOST_COMPARED = 16
"""So many messages at most are compared, those that stand highest."""
CAUSE = "newer_message"


def without_superseded(fused: Fused, *, past: bool) -> Fused:
    """The order without messages that a newer one among them ends, and without what repeats them in answer.

    With `past` they stay, and it is said until when they held.
    """
    ended = _ended([each.candidate for each in fused.ranked])
    if not ended:
        return fused
    if past:
        dated = [
            replace(each, candidate=replace(each.candidate, until=ended[each.key])) if each.key in ended else each
            for each in fused.ranked
        ]
        return replace(fused, ranked=tuple(dated))
    left = tuple(each for each in fused.ranked if each.key not in ended)
    gone = [Dropped(each.key, "superseded", each.score, CAUSE) for each in fused.ranked if each.key in ended]
    return replace(fused, ranked=left, dropped=(*fused.dropped, *gone))


def _ended(found: Sequence[Candidate]) -> Mapping[str, datetime]:
    """By key since when what the candidates say holds no longer."""
    messages = [each for each in found if each.kind == "turn" and each.until is None]
    said = [each for each in messages if each.role == "user" and says_one_thing(each.text)][:MOST_COMPARED]
    said.sort(key=lambda each: each.valid_at)
    ended: dict[str, datetime] = {}
    statements: list[OutdatedStatement] = []
    for at, newer in enumerate(said):
        if not at or not _may_end(newer.text):
            continue
        words = about(newer.text).terms
        older = [
            each
            for each in said[:at]
            if each.name == newer.name
            and each.valid_at < newer.valid_at
            and each.key not in ended
            and _is_about(each.text, words)
        ]
        for each, relation in zip(older, relations([each.text for each in older], newer.text), strict=True):
            if relation.ends >= ENDS_UNSAID:
                ended[each.key] = newer.valid_at
                statements.append(_statement(each, newer))
    gone = OutdatedStatements(statements)
    for each in messages:
        if each.role == "assistant" and (until := gone.ended_at(each.text, each.valid_at, each.role, each.turn_id)):
            ended[each.key] = until
    return ended


def _is_about(older: str, words: frozenset[str]) -> bool:
    terms = about(older).terms
    return bool(terms) and len(terms & words) >= LEAST_SHARED * len(terms)


def _may_end(text: str) -> bool:
    """Whether the text may say of whoever speaks that something has changed."""
    clauses = split(text)
    return any(map(signals.correction, clauses)) and all(each.subject != "agent" for each in stances(clauses))


def _statement(older: Candidate, newer: Candidate) -> OutdatedStatement:
    """The older message as replies are compared with it: the newer names what ends, too, so nothing is `instead`."""
    turns = frozenset({older.turn_id} if older.turn_id else ())
    return OutdatedStatement(newer.valid_at, older.text, turns=turns)
