"""Of what a turn says only what was dictated, where nothing else is to be remembered. Pure."""

from dataclasses import replace

from shared.extraction.model import Observation, Observed, ReadingNote

BY_THE_WAY = "settings:auto_remember"
"""Why something was not kept: it was said by the way, and the user's settings keep what is dictated alone."""
DICTATED = frozenset(("directive", "confirmed"))


def keep_dictated(observed: Observed) -> Observed:
    """What the user or the client asked to be kept or taken back, and of everything else that it was not kept."""
    dictated = tuple(each for each in observed.observations if is_dictated(each))
    passed = [each for each in (*observed.observations, *observed.suspected) if not is_dictated(each)]
    if not passed:
        return observed
    explain = tuple(_tell(note, dictated) for note in observed.explain)
    told = {(note.ordinal, note.text_span) for note in explain}
    more = [ReadingNote(one.span, "dropped", BY_THE_WAY, one.message_ordinal) for one in passed]
    unsaid = [note for note in more if not any(_within(note, *place) for place in told)]
    return replace(observed, observations=dictated, suspected=(), explain=(*explain, *dict.fromkeys(unsaid)))


def is_dictated(one: Observation) -> bool:
    """Whether somebody asked for it to be kept, or for something to be taken back."""
    by_client = (one.detector, one.pattern) == ("structured", "item")
    return one.retracts or by_client or one.assertion in DICTATED


def _tell(note: ReadingNote, dictated: tuple[Observation, ...]) -> ReadingNote:
    """The note; where nothing of what it calls kept was, it says why."""
    if note.decision == "dropped" or any(_within_note(one, note) for one in dictated):
        return note
    return replace(note, decision="dropped", reason=BY_THE_WAY)


def _within_note(one: Observation, note: ReadingNote) -> bool:
    start, end = note.text_span
    return one.message_ordinal == note.ordinal and one.span[0] < end and start < one.span[1]


def _within(note: ReadingNote, ordinal: int, span: tuple[int, int]) -> bool:
    return note.ordinal == ordinal and note.text_span[0] < span[1] and span[0] < note.text_span[1]
