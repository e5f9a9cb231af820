"""Slips that the same message mends: `Thursday, no wait, Friday` is read as `Friday`."""

# ruff: noqa: E501 - one family of words per line

import re
from dataclasses import dataclass

from shared.extraction.values import PART, last_like, widen_span
from shared.language.patterns import to_pattern
from shared.language.segment import STOPWORDS, words

_HESITATES = r"(?:oh,? )?(?:hang|hold) on|argh+|ugh+|ach|gah|(?:h+m+,? ?)?(?:let me|lemme) (?:check|see)|typo"
_MISREAD = r"(?:[额呃噢哦啊哎呀嗯]|emm+)*(?:看|搞|弄)?[错串混]行?了|(?:[额呃噢呸]|emm+)+"
_MARK = to_pattern(
    r"(?:\b(?:no,? wait|wait,? no|oh wait|wait|no,? sorry|oops|scratch that|strike that|make (?:that|it)|correction"
    r"|(?:sorry,? |no,? |well,? )?i mean(?:t)?(?: to say)?|(?:no,? )?actually,? (?:no|make (?:that|it))|or rather|err?m?|my bad|sorry|no no|nope"
    r"|no,? that['’]?s (?:not (?:it|right)|wrong)|h+m+,? no"
    rf"|{_HESITATES})\b"
    r"|[哦噢啊呃诶哎]+[，,]?\s*不(?:对|是)?(?=[，,。\s\d周星礼是应A-Za-z\u3400-\u9fff])|不对(?:不对)?(?=[，,。.;；:：!！…—\s])|(?<=[，,。…—\s])不对(?:不对)?|不不+|(?:我)?说错了?|口误|(?:我)?打错了?|(?:我)?记错了?|写错了?"
    r"|更正(?:一下)?|纠正一下|不是不是|我是说|准确(?:地|来)?说|(?:让?我)?(?:再)?看看|等等|等一?下"
    rf"|(?<=[，,。.…—！!\s])(?:{_MISREAD}|不是?(?=[，,])))"
    r"(?:[，,。.;；:：!！…—–\s-]*)"
    r"(?:(?:no|sorry|wait|哦|噢|不|应该)[，,\s]+)*",
    re.I,
)
_BEFORE = " ,，.。…;；:：—–-\n"
"""What stands between the wrong words and the mark."""
_WEAK = to_pattern(
    rf"(?:sorry|wait|err?m?|nope|不是?|{_HESITATES}|准确(?:地|来)?说|(?:让?我)?(?:再)?看看|等等|等一?下|{_MISREAD})"
    r"[\s,，.。…;；:：!！—–-]*$",
    re.I,
)
"""Marks that say other things as well: they mend only where a value of one sort stands on both sides."""
_ADDS = to_pattern(r"\b(?:too|also|and|as well|another|both)\b|也|还|都|和|另", re.I)
"""Says that a value comes beside another."""
_IS = to_pattern(
    r"(?:it['’]?s|it is|that['’]?s|should be|(?:现在|从.{1,6}起|应该)?(?:是说|是|用的|改成)|在(?!\w*在)|the)\s*(?=\S)",
    re.I,
)
_STATES = to_pattern(r"(?:it['’]?s|it is)\b|现在|从.{1,6}起|是", re.I)
"""Begins what states the right value, behind words that tell how it came."""
_COURTESY = to_pattern(r"[\s,]*\b(?:please|pls|thanks|thx)$", re.I)
_LATIN, _LAST_LATIN = to_pattern(r"[A-Za-z][\w.+#-]*"), to_pattern(r"(?<![\w.+#-])[A-Za-z][\w.+#-]*$", re.ASCII)
_RETRACES = frozenset("在叫姓去到从")
"""Single words that a speaker takes up again with the right value."""
_PREPOSITION = to_pattern(r"(?:to|in|at|on|for|with|from|by|near|until|before|after)\b", re.I)
_CLAUSE = to_pattern(r"(?:i|we|my|our|he|she|they|you|it|there)\b|[我咱他她它]", re.I)
_FUNCTION_EN = to_pattern(
    r"(?:a|an|the|my|our|to|in|at|on|for|with|from|by|of|is|are|was|be|it's|i'm|and|or|as|like|love|called|named|than)$",
    re.I,
)
_SENTENCE = to_pattern(r"[。！？!?\n]|\.(?=\s)")
MOST = 3
"""Slips of one message that are mended at most."""
MOST_BEHIND, LONGEST_HEAD = 3, 2
"""Parts behind a mark that are looked at, and new words before those that are said again."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """A text without its slips, and for its stretches where they stood before: (start here, start there, length)."""

    text: str
    stretches: tuple[tuple[int, int, int], ...]

    def to_original(self, span: tuple[int, int]) -> tuple[int, int]:
        """Where the stretch stood in the text as it was said."""
        return self._place(span[0], last=False), self._place(span[1] - 1, last=True) + 1 if span[1] else 0

    def _place(self, at: int, *, last: bool) -> int:
        for here, there, length in self.stretches:
            if here <= at < here + length:
                return there + at - here
        here, there, length = self.stretches[-1] if last else self.stretches[0]
        return there + length - 1 if last else there


def repair(text: str) -> Repaired | None:
    """The text as its speaker meant it; None where nothing is mended."""
    stretches = ((0, 0, len(text)),)
    repaired = text
    at = 0
    for _ in range(MOST):
        found = _next_slip(repaired, at)
        if found is None:
            break
        old, new, after = found
        at = old[0] + new[1] - new[0]
        repaired = repaired[: old[0]] + repaired[slice(*new)] + repaired[old[1] : after[0]] + repaired[after[1] :]
        stretches = move_stretches(stretches, ((0, old[0]), new, (old[1], after[0]), (after[1], _end(stretches))))
    return Repaired(repaired, stretches) if repaired != text else None


Span = tuple[int, int]


def _end(stretches: tuple[tuple[int, int, int], ...]) -> int:
    return stretches[-1][0] + stretches[-1][2]


def move_stretches(
    stretches: tuple[tuple[int, int, int], ...], spans: tuple[Span, ...]
) -> tuple[tuple[int, int, int], ...]:
    moved: list[tuple[int, int, int]] = []
    here = 0
    for start, end in spans:
        for at, there, length in stretches:
            low, high = max(start, at), min(end, at + length)
            if low < high:
                moved.append((here, there + low - at, high - low))
                here += high - low
    return tuple(moved)


def _next_slip(text: str, begin: int) -> tuple[Span, Span, Span] | None:
    """Where the wrong words stand, the right ones, and what goes with the mark; the first slip from `begin` on."""
    for mark in _MARK.finditer(text, begin):
        if not mark[0].strip(" ,，.。") or not mark.start() or _ends_sentence(text, mark):
            continue
        last = mark
        while more := _MARK.match(text, last.end()):
            last = more
        begin_mark = mark.start()
        while begin_mark and text[begin_mark - 1] in _BEFORE:
            begin_mark -= 1
        starts = [match.end() for match in _SENTENCE.finditer(text, 0, begin_mark)]
        sentence = (
            starts[-1] if starts and text[starts[-1] : begin_mark].strip() else starts[-2] if len(starts) > 1 else 0
        )
        weak = _WEAK.fullmatch(last[0]) is not None
        for number, phrase in enumerate(_phrases_behind(text, last.end())):
            if number and not _STATES.match(text, phrase[0]):
                continue
            start = is_.end() if (is_ := _IS.match(text, *phrase)) else phrase[0]
            told = text[last.end() : phrase[0]]
            if old := _wrong_words(text, (sentence, begin_mark), (start, phrase[1]), told, weak=weak):
                return old, (start, phrase[1]), (begin_mark, phrase[1])
    return None


def _ends_sentence(text: str, mark: re.Match[str]) -> bool:
    """Whether the mark speaks of what its own sentence has said before: `一袋，打错了。`"""
    return text[mark.start() - 1] in ",，" and re.search(r"[。.!！]", mark[0]) is not None and "错" in mark[0]


def _phrases_behind(text: str, at: int) -> list[Span]:
    """The first parts behind a mark, to the end of their sentence."""
    phrases: list[Span] = []
    while len(phrases) < MOST_BEHIND and (part := PART.match(text, at)):
        start, end = part.span()
        start += len(part[0]) - len(part[0].lstrip())
        phrases.append((start, start + len(part[0].strip())))
        at = end + 1
        if end >= len(text) or text[end] not in ",，":
            break
    return phrases


def _wrong_words(text: str, before: Span, phrase: Span, between: str, *, weak: bool) -> Span | None:
    """The words before the mark that the phrase takes the place of; `between` is what stands between."""
    words_before, new = text[slice(*before)], text[slice(*phrase)]
    if not words_before.strip() or not new.strip() or (weak and _ADDS.search(new)):
        return None
    if place := _find_retraced(words_before, new):
        return before[0] + place[0], before[0] + place[1]
    if _CLAUSE.match(new):
        clause = _last_clause(words_before)
        clause += len(words_before) - clause - len(words_before[clause:].lstrip())
        if weak or between or not _CLAUSE.match(words_before[clause:]):
            return None
        return before[0] + clause, before[1]
    if place := _last_latin(words_before, new) or last_like(words_before, new):
        place = widen_span(words_before, place, new)
        return before[0] + place[0], before[0] + place[1]
    if between and (named := _named_again(words_before, between)):
        return before[0] + named[0], before[0] + named[1]
    if weak or between:
        return None
    if lead := _PREPOSITION.match(new):
        places = list(re.finditer(rf"\b{re.escape(lead[0])}\b", words_before, re.IGNORECASE))
        return (before[0] + places[-1].start(), before[1]) if places else None
    return _last_words(words_before, new, before)


def _find_retraced(text: str, new: str) -> Span | None:
    """The words of the last clause from that on which the phrase takes up again, or those before its last words."""
    clause = _last_clause(text)
    ours, theirs = _words_of(text[clause:]), _words_of(new)
    if len(theirs) < 2 or not ours:
        return None
    (_, first), places = theirs[0], [at for at, _ in ours]
    again = [at for at, word in ours if word == first and (word in _RETRACES or not _FUNCTION_EN.match(word))]
    if again and (len(first) > 1 or first in _RETRACES):
        return clause + again[-1], len(text)
    same = 0
    while same < min(len(ours), len(theirs)) - 1 and ours[-1 - same][1] == theirs[-1 - same][1]:
        same += 1
    if not same or new[0] in "我你他她" or len(ours) < len(theirs) or len(theirs) - same > LONGEST_HEAD:
        return None
    return clause + places[len(ours) - len(theirs)], len(text)


def _last_latin(text: str, new: str) -> Span | None:
    """The name in Latin letters that a Chinese text ends with, for another such name."""
    last = _LAST_LATIN.search(text)
    return last.span() if last and not text.isascii() and _LATIN.fullmatch(new) else None


def _named_again(text: str, between: str) -> Span | None:
    """The word of the last clause that the words behind the mark name again: `er no we left planetscale`."""
    clause = _last_clause(text)
    names = {word for _, word in _words_of(between) if len(word) > 2 and word not in STOPWORDS}
    places = [(clause + at, clause + at + len(word)) for at, word in _words_of(text[clause:]) if word in names]
    return places[-1] if places else None


def _words_of(text: str) -> list[tuple[int, str]]:
    """The words of the text in small letters and where they stand."""
    placed: list[tuple[int, str]] = []
    at = 0
    for word in words(text.lower()):
        if word.strip(" \t,，.。!！"):
            placed.append((at, word))
        at += len(word)
    return placed


def _last_clause(said: str) -> int:
    return max((said.rfind(sign) + 1 for sign in ",，;；"), default=0)


def _last_words(text: str, new: str, before: Span) -> Span | None:
    """The words at the end of what was said that as many words are put in the place of."""
    if not new.isascii():
        tail = "的" if new.endswith("的") and text.endswith("的") else ""
        last = [word for word in words(text.removesuffix(tail)) if word.strip()]
        if not last or len(new) > 8:
            return None
        at = text.rfind(last[-1])
        return before[0] + at, before[0] + at + len(last[-1] + tail)
    places = list(re.finditer(r"[\w'’.-]+", _COURTESY.sub("", text)))
    if not places or len(new.split()) > 3:
        return None
    at = len(places)
    while at and len(places) - at < max(1, len(new.split())) and not _FUNCTION_EN.match(places[at - 1][0]):
        at -= 1
    return (before[0] + places[at].start(), before[0] + places[-1].end()) if at < len(places) else None
