"""The sentence that a memory was learnt from, as the user finds it again."""

from shared.language.patterns import to_pattern

GAP = "…"
MOST = 200
_END = to_pattern(r"[。！？!?\n；;]+|\.(?=\s|$)")


def sentence(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Where the sentence or sentences around the span begin and end."""
    start, end = span
    before = [match.end() for match in _END.finditer(text, 0, start)]
    after = _END.search(text, max(start, end - 1))
    return before[-1] if before else 0, after.end() if after else len(text)


def quote(text: str, span: tuple[int, int], most: int = MOST) -> str:
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
