"""A wish not to be remembered, and its end: for the message, for the session, or for the person, in either language."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from shared.extraction import wishes_words as words
from shared.extraction.clauses import Clause, split
from shared.extraction.gates import gate, mask
from shared.extraction.guards import Stance, stances
from shared.extraction.model import ReadingNote, TurnText

Scope = Literal["message", "session", "person", "here"]
READ = 2000
"""Characters of a message in which a wish is looked for, from its beginning and up to its end."""
_KEEPS = gate(
    words.DENY_EN, words.SPLIT_EN, words.PASSIVE_EN, words.ASIDE_EN, words.SWITCH_OFF_EN, words.HALT_EN, words.LIFT_EN,
    words.DENY_ZH, words.MOVED_ZH, words.FIRST_ZH, words.PASSIVE_ZH, words.HALT_ZH, words.SWITCH_OFF_ZH, words.LIFT_ZH,
    words.SWITCH_ON_EN, words.SWITCH_ON_ZH,
)  # fmt: skip
_DENIES = (
    words.DENY_EN,
    words.SPLIT_EN,
    words.PASSIVE_EN,
    words.DENY_ZH,
    words.MOVED_ZH,
    words.FIRST_ZH,
    words.PASSIVE_ZH,
)


@dataclass(frozen=True, slots=True)
class MemoryWish:
    """What the user wishes to be remembered, or not; `here` is whatever keeps this session from being remembered."""

    scope: Scope
    remember: bool
    start: int
    end: int


def find(text: str) -> tuple[MemoryWish, ...]:
    """The wishes that the text states, in their order."""
    found: list[MemoryWish] = []
    for start, stretch in _read(text):
        clauses = split(stretch) if mask(stretch) & _KEEPS else ()
        # how clauses stand costs ten times as much as whether one is worded as a wish, which hardly any is
        if any(clause.mask & _KEEPS and _is_worded(clause, clauses) for clause in clauses):
            found += [
                MemoryWish(wish.scope, wish.remember, start + wish.start, start + wish.end)
                for clause, stance in zip(clauses, stances(clauses), strict=True)
                if clause.mask & _KEEPS and (wish := _of(clause, stance, clauses))
            ]
    return tuple(found)


def list_wishes(turn: TurnText) -> tuple[MemoryWish, ...]:
    """The wishes in the user's messages, and what the caller says for them after these."""
    worded = (wish for message in turn.messages if message.role == "user" for wish in find(message.text))
    given = () if turn.remembered is None else (MemoryWish("session", turn.remembered, 0, 0),)
    return (*worded, *given)


def find_learning_wish(turn: TurnText) -> MemoryWish | None:
    """What the user says last of being remembered at all; `here` brings it back where nothing is remembered."""
    worded = (wish for message in turn.messages if message.role == "user" for wish in find(message.text))
    return next((wish for wish in reversed([*worded]) if wish.scope in ("person", "here")), None)


def of_message(turn: TurnText) -> bool:
    """Whether the turn itself says that it is not to be remembered."""
    return any(wish.scope == "message" and not wish.remember for wish in list_wishes(turn))


def to_unread(turn: TurnText, why: str) -> tuple[ReadingNote, ...]:
    """That none of its messages was read, or nothing else of a turn without messages, and why."""
    reason = f"wish:{why}"
    spans = [((0, len(each.text)), each.ordinal) for each in turn.messages] or [((0, 0), 0)]
    return tuple(ReadingNote(span, "dropped", reason, ordinal) for span, ordinal in spans)


def _read(text: str) -> list[tuple[int, str]]:
    if len(text) <= 2 * READ:
        return [(0, text)]
    return [(0, text[:READ]), (len(text) - READ, text[-READ:])]


def _is_worded(clause: Clause, clauses: Sequence[Clause]) -> bool:
    """Whether the clause is worded as a wish, however it stands."""
    return find_denied(clause.text, clause, clauses) is not None or find_lifted(clause.text) is not None


def _of(clause: Clause, stance: Stance, clauses: Sequence[Clause]) -> MemoryWish | None:
    text = clause.text
    if stance.supposed or stance.reported or stance.ironic or words.WONDERS.search(text):
        return None
    if (stance.asked or clause.asked) and not words.ASKS.search(text):
        return None
    if denied := find_denied(text, clause, clauses):
        scope, end = denied
        return MemoryWish(scope, False, clause.start, clause.start + end)
    if stance.asked or clause.asked:
        return None
    lifted = find_lifted(text)
    return MemoryWish(lifted, True, clause.start, clause.end) if lifted else None


def find_denied(text: str, clause: Clause, clauses: Sequence[Clause]) -> tuple[Scope, int] | None:
    """For what the clause denies to be remembered, and where the words that say so end."""
    if aside := words.ASIDE_EN.match(text):
        return "message", aside.end()
    if off := words.SWITCH_OFF_EN.match(text) or words.SWITCH_OFF_ZH.match(text):
        here = off["here"] or "private" in text or off.groupdict().get("private")
        return ("session" if here else find_scope(text)), len(text)
    for pattern in _DENIES:
        if (match := pattern.match(text)) and (scope := _scope(match.groupdict(), text, clause, clauses)):
            lasting = [each.end() for each in words.LASTING.finditer(text)]
            return scope, max([match.start("rest"), *lasting])
    return ("session", len(text)) if words.HALT_EN.match(text) or words.HALT_ZH.match(text) else None


def find_scope(text: str) -> Scope:
    return "session" if "incognito" in text.lower() or "temporary" in text.lower() else "person"


def _scope(match: dict[str, str | None], text: str, clause: Clause, clauses: Sequence[Clause]) -> Scope | None:
    how = match.get("how")
    if how is not None and not _negates(how, text):
        return None
    if match.get("session"):
        return "session"
    if match.get("person"):
        return "person"
    if match.get("all"):
        lasting = any(words.LASTING.search(each.text) for each in clauses if each.sentence == clause.sentence)
        return "person" if lasting else "session"
    if match.get("this"):
        return "message"
    if match.get("it") is None:
        return "person" if how is None else None
    return None if _of_things(text, clause, clauses) else "message"


def _negates(how: str, text: str) -> bool:
    """Whether what is said of the thing is that it is not to be kept."""
    low = f"{text[:60]} {how}".lower()
    return any(sign in low for sign in ("not", "n't", "never", "nothing", "none"))


def _of_things(text: str, clause: Clause, clauses: Sequence[Clause]) -> bool:
    """Whether `this` or `it` may be something that is saved otherwise."""
    if words.KEEPS_MIND.search(text):
        return False
    return any(words.SAVED.search(each.text) for each in clauses if each.sentence <= clause.sentence)


def find_lifted(text: str) -> Scope | None:
    if on := words.SWITCH_ON_EN.match(text) or words.SWITCH_ON_ZH.match(text):
        return "session" if on["here"] else "here"
    if match := words.LIFT_EN.match(text):
        again, permits = words.AGAIN_EN.search(text), words.PERMITS_EN.search(text)
        whose: Scope | None = "session" if match["session"] else "person" if match["person"] else None
        if whose:
            return whose if again or permits else None
        sure = permits or match["all"] or "rememb" in text.lower() or words.RESUMES_EN.search(text)
        return "here" if again and sure else None
    if match := words.LIFT_ZH.match(text):
        may, again = words.PERMITS_ZH.search(text), words.AGAIN_ZH.search(text)
        if match["obj"]:
            return ("session" if match["session"] else "person") if may or again else None
        return "here" if again or (may and match["now"]) else None
    return None
