"""What of an old message still holds: words behind a superseded or retracted memory are not evidence (X45)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from shared.domain.blocks import Recognized
from shared.language.patterns import to_pattern
from shared.language.segment import query_terms
from shared.language.within import has_word

_ANY = to_pattern(r"[^\W_]")
_BLANKS = to_pattern(r"[^\S\n]{16,}|(?<=\S)[^\S\n]{6,}")
"""More than indents and columns have."""
MIN_TERMS = 2
"""A message that has fewer terms left than this says nothing any more."""


def current_text(text: str, ordinal: int, ended: Sequence[Mapping[str, Any]]) -> str | None:
    """The message without the words that no longer hold; None when nothing of it is left.

    `ended` names the memories learnt from the message's turn that were superseded or retracted: ordinal and span of
    their words, and their value. Another message of the turn that repeats such a value does not hold either.
    """
    if not ended:
        return text
    spans = [each["span"] for each in ended if each.get("ordinal") == ordinal and each.get("span")]
    # the whole sentence goes: what is left of one that lost its point would mislead
    cuts = sorted(sentence(text, (int(start), int(end))) for start, end in spans)
    left = _without(text, cuts)
    words = [str(each["word"]) for each in ended if each.get("ordinal") != ordinal and each.get("word")]
    if any(has_word(left, word) for word in words):
        return None
    return left if not cuts or len(query_terms(left)) >= MIN_TERMS else None


@dataclass(frozen=True, slots=True)
class CurrentText:
    """What of a chunk may be shown: its text, and where in it stands what was recognised in which media.

    `until` says until when what it states held, where that is over.
    """

    text: str
    recognized: tuple[Recognized, ...] = ()
    until: datetime | None = None


def held_until(text: str, ordinal: int, ended: Sequence[Mapping[str, Any]]) -> datetime | None:
    """Until when the last of what the message states held; None where nothing of it has ended."""
    concerned = (
        each["until"]
        for each in ended
        if each.get("until")
        and (
            (each.get("ordinal") == ordinal and each.get("span"))
            or (each.get("ordinal") != ordinal and each.get("word") and has_word(text, str(each["word"])))
        )
    )
    moments = [each if isinstance(each, datetime) else datetime.fromisoformat(each) for each in concerned]
    return max(moments, default=None)


def keep_what_holds(
    text: str,
    ordinal: int,
    ended: Sequence[Mapping[str, Any]],
    media: Sequence[Mapping[str, Any]],
    *,
    past: bool = False,
) -> CurrentText | None:
    """The message without words that no longer hold, and without what was recognised in media that is not safe now.

    `media` says where in the text that stands, after all words and fallbacks. None when no words are left. With `past`
    words that no longer hold stay, unless they are to be forgotten, and it is said until when they held.
    """
    said = text[: media[0]["start"]].rstrip("\n") if media else text
    over = [each for each in ended if past and not each.get("forgotten")]
    until = held_until(said, ordinal, over) if over else None
    current = current_text(said, ordinal, [each for each in ended if each.get("forgotten")] if past else ended)
    if current is None:
        return None
    recognized: list[Recognized] = []
    for each in media:
        piece = "" if each["unsafe"] else text[each["start"] : each["end"]]
        start = len(current) + bool(piece)
        current = f"{current}\n{piece}" if piece else current
        if piece or each["rule"]:
            recognized.append(Recognized(each["media_id"], each["type"], start, len(current), each["rule"]))
    return CurrentText(current, tuple(recognized), until)


def join_pieces(text: str) -> str:
    """The text with a gap where what a package had shown was cut out of it, which left as many blanks as it had."""
    if "    " not in text:
        return text
    lines = [
        GAP if "    " in line and not _ANY.search(line) else _BLANKS.sub(f" {GAP} ", line) for line in text.split("\n")
    ]
    return "\n".join(
        line for line, before in zip(lines, ["", *lines], strict=False) if (line, before) != (GAP, GAP)
    ).strip()


def _without(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in cuts:
        if start >= at:
            pieces.append(text[at:start])
        at = max(at, end)
    pieces.append(text[at:])
    return GAP.join(pieces) if cuts else text


GAP = "…"
MOST_QUOTED = 200
_END = to_pattern(r"[。！？!?\n；;]+|\.(?=\s|$)")


def sentence(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Where the sentence or sentences around the span begin and end."""
    start, end = span
    before = [match.end() for match in _END.finditer(text, 0, start)]
    after = _END.search(text, max(start, end - 1))
    return before[-1] if before else 0, after.end() if after else len(text)


def quote(text: str, span: tuple[int, int], most: int = MOST_QUOTED) -> str:
    """The sentence or sentences around the span, at most `most` characters with what was cut marked."""
    start, end = (max(0, min(place, len(text))) for place in span)
    first, last = sentence(text, (start, end))
    whole = text[first:last]
    if len(whole.strip()) <= most:
        return whole.strip()
    room = most - 2 * len(GAP)
    lead = max(0, (room - (end - start)) // 2)
    at = min(max(first, start - lead), max(first, last - room))
    piece = text[at : at + room].strip()
    return (GAP if at > first else "") + piece + (GAP if at + room < last else "")
