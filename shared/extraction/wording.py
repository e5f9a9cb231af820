"""Chooses the user's own words for a statement: its sentence, shortened only at its edges."""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Sequence

from shared.extraction.clauses import Clause
from shared.extraction.guards import Stance
from shared.extraction.model import Finding
from shared.language.patterns import to_pattern
from shared.language.segment import has_word

LONGEST = 300
"""A statement has at most so many characters."""
LONGEST_BEFORE = 160
"""A sentence of at most so many characters is added if the next one refers back to it."""
_CLOSED = r"(?=\s*[,:;.!-]|\s+(?:i|i['’]\w+|we|we['’]\w+|he|she|they|it|it['’]\w+|that|this|there|the|my|our|not|yes|no|sorry|wait|actually|but|and|so)\b)"
"""Follows a word that opens a sentence: not `no` in "no smokers" or `right` in "right knee"."""
LEAD = to_pattern(
    r"^(?:(?:(?:and|but|so|also|plus|oh|ah|um+|uh|er|btw|by the way|anyway|anyways|fyi|ok|okay|hi|hey|hello|yes|yeah|yep"
    r"|yup|nope|thank you|lol|haha\w*|actually|honestly|basically|anyhow)\b"
    rf"|(?:no|right|great|sure|well|thanks|because|since|though)\b{_CLOSED})[\s,:;.!-]*"
    r"|(?:而且|但是?|所以|因为|不过|另外|还有|对了|然后|其实|反正|嗯+|哦+|啊|哎呀?|唉|噢|那个|顺便说一下|话说|就是说|是的"
    r"|好的|好吧|对|没错|谢谢|你好)[，,：:。!！\s]+)+",
    re.I,
)
"""Fillers and courtesies before a statement."""
_POINTS_BACK = to_pattern(
    r"(?:he|she|they|it|that|this|these|those|both|neither|his|her|their|its)(?:'s|'re|'d|'ll|\b)|[他她它这那其]|两个都|都是",
    re.I,
)
_IN_PLACE = to_pattern(
    r"(?:I (?:have )?)?(?:now )?(?:back (?:to|on)|switched|moved (?:back|over|everything)|changed)\b|.*\binstead$|(?:[我就都也]|现在|已经)*(?:改|换|转|回)",
    re.I,
)
"""Says what replaces something; without the words before it, it says nothing."""
_SUBJECT_EN = to_pattern(
    r"(?:hate|love|like|prefer|dislike|live|work|don't|never|always|am|have|enjoy|can't|use)\b", re.I
)
_SUBJECT_ZH = to_pattern(r"[我咱俺本]|叫我|[\u3400-\u9fff]{1,6}?(?:是|叫|在|有|的)")
_TAIL = to_pattern(r"[\s,，;；:：、。.!！~～—-]+$")


def choose_words(
    text: str, clauses: Sequence[Clause], stances: Sequence[Stance], begin: int, end: int, statement: Finding
) -> tuple[str, tuple[int, int]]:
    """The words of `clauses[begin:end]` as a statement, and their span in the message.

    Questions and courtesies at the edges are left out, and what a correction denies. The subject is added if a clause
    was cut from it, and the sentence before if the words refer back to it.
    """
    first, last = _trim_edges(clauses, stances, begin, end, statement)
    start, stop = clauses[first].start, clauses[last - 1].end
    words = text[start:stop]
    if lead := LEAD.match(words):
        start += lead.end() if lead.end() < len(words) else 0
        words = text[start:stop]
    words = _TAIL.sub("", words[:LONGEST])
    if _POINTS_BACK.match(words) and (before := _find_sentence_before(text, clauses, first)):
        return f"{before} {words}" if clauses[first].language == "en" else f"{before}。{words}", (start, stop)
    return _add_subject(words, clauses, stances, first), (start, stop)


def _trim_edges(
    clauses: Sequence[Clause], stances: Sequence[Stance], begin: int, end: int, statement: Finding
) -> tuple[int, int]:
    def is_idle(at: int) -> bool:
        return stances[at].asked or _denies_old(clauses[at].text, statement)

    while (
        begin < end - 1
        and is_idle(begin)
        and not _holds_value(clauses[begin].text, statement)
        and not _POINTS_BACK.match(clauses[begin + 1].text)
        and not (_denies_old(clauses[begin].text, statement) and _IN_PLACE.match(clauses[begin + 1].text))
    ):
        begin += 1
    while end - 1 > begin and is_idle(end - 1) and not _holds_value(clauses[end - 1].text, statement):
        end -= 1
    return begin, end


def _denies_old(text: str, found: Finding) -> bool:
    """Whether the words deny the old value of a correction that has a new one."""
    corrects = found.assertion == "correction" and bool(found.value.get("value") or found.key)
    return corrects and bool(found.old_value) and has_word(text, found.old_value or "")


def stands_in_place(text: str) -> bool:
    """Whether the words say what replaces something named before them."""
    return _IN_PLACE.match(text) is not None


def _holds_value(text: str, found: Finding) -> bool:
    value = found.value.get("value")
    return isinstance(value, str) and bool(value) and value in text


def _find_sentence_before(text: str, clauses: Sequence[Clause], first: int) -> str:
    """The sentence before the clause `first`, if that clause begins a sentence and the one before is short and not asked."""
    number = clauses[first].sentence
    if first and clauses[first - 1].sentence == number:
        return ""
    before = [clause for clause in clauses[:first] if clause.sentence == number - 1]
    if not before or before[-1].asked or before[-1].end - before[0].start > LONGEST_BEFORE:
        return ""
    said = text[before[0].start : before[-1].end]
    end = text[before[-1].end : clauses[first].start].strip()[:1] if clauses[first].language == "en" else ""
    return f"{LEAD.sub('', said)}{end if end in '.!' else '.'}" if end else LEAD.sub("", said)


def _add_subject(words: str, clauses: Sequence[Clause], stances: Sequence[Stance], first: int) -> str:
    """The words with their subject before them, if their clause was cut from it."""
    stance = stances[first]
    if stance.subject != "self" or stance.explicit or not words:
        return words
    if clauses[first].language == "en":
        return f"I {words}" if first and _SUBJECT_EN.match(words) else words
    return words if _SUBJECT_ZH.match(words) else f"我{words}"
