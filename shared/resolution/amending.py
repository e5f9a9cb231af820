"""The memory that a statement amends: its sentence with one value in the place of another. Pure."""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from schemas.memory_types import types_with
from shared.classifiers import meanings
from shared.domain.statements import ALSO, AMENDS, MAY_AMEND, ActiveMemory, Statement
from shared.extraction import dates
from shared.extraction.clauses import split
from shared.extraction.edited import Content, edit_content
from shared.extraction.model import Finding
from shared.extraction.replacement import find_replacement
from shared.extraction.slots import with_due
from shared.extraction.values import is_denied, like, values, widen_span
from shared.language import segment
from shared.language.patterns import to_pattern
from shared.language.segment import has_word
from shared.resolution.moved_days import find_moved_day
from shared.resolution.related import about

LONGEST_VALUE = 32
"""Characters of a value at most; what is longer is a statement of its own."""
_UNAMENDED = types_with("lasting")
SELF_BENEFIT = "self_benefit"
"""Flags a claim of money or authority, which stays one whatever its sum."""
DAYS = frozenset({"date", "event_date"})
"""Where the value of a memory holds the day that its words name."""
LEAST_SHARED, _STOPS = 4, " ,，.。!！?？"
PUTS_RIGHT = 0.4
"""How likely it must be that a short message puts a value of a memory right."""
LONGEST_CONTRAST = 120
"""Characters at most of a sentence that names an old value beside the new one; a longer one tells of more than that."""
RECENT, MOST_NAMED = 3, 60
"""So many of the newest memories of a conversation may be put right by a short message, and as many of the newest of
all that have a value which it denies."""
_IS = r"(?:现在)?(?:是|叫|姓|：|:|(?:'s name)? (?:is|was)(?: called)? |, |'s | )?"
_SHARED = to_pattern(
    r"\b(?:friend|colleague|co-?worker|neighbou?r|classmate|room-?mate|flat-?mate|pet|dog|cat)s?\b|朋友|同事|邻居|同学|室友|宠物|猫|狗",
    re.I,
)
"""Roles that several hold at a time, beside those of the family."""
_ADDS = to_pattern(
    r"\b(?:besides|apart from|aside from|as well as|in addition|on top of|too|also|another|a second)\b|除了|也|另外|另一|同时|都",
    re.I,
)
"""Says that a thing comes beside another, and takes no place."""
_HOLDER_EN = r"(?-i:(?:Dr\.? |Mrs?\.? |Ms\.? |Prof\.? )?[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*)"
_HOLDER_ZH = r"[老小阿]?[\u4e00-\u9fffA-Za-z0-9]{1,6}(?=[，,。；\s]|$|特别|很|比较|要|让)"
_HOLDS_NOW = to_pattern(
    rf"\b(?:my|our|the)\s+(?:new\s+)?(?P<en_role>[a-z]+(?: [a-z]+)?)\s+(?:(?:is now|has changed to|changed to|switched to)\s+(?P<en>{_HOLDER_EN})(?=$|[.,;!])|is\s+(?P<en_now>{_HOLDER_EN})(?= now\b| these days\b))"
    r"|(?:我们?的?|新)?(?P<zh_role>[\u4e00-\u9fff]{2,4}?)(?:已经|最近|刚)?(?:换成了?|换了|改成了?|变成了?|现在是|现在换成了?)(?P<zh>[\u4e00-\u9fffA-Za-z][\u4e00-\u9fffA-Za-z0-9]{0,7}?)(?:了)?(?=$|[，,。；！])",
    re.I,
)


@dataclass(frozen=True)
class Amendment:
    """The memory that is amended, and what it says then."""

    target: ActiveMemory
    content: Content


def amend(new: Statement, known: Sequence[ActiveMemory]) -> Amendment | None:
    """What the statement amends, the newest first: None where it is a statement of its own."""
    if new.retracts or new.chosen:
        return None
    live = [k for k in known if k.type not in _UNAMENDED and not k.name_alone and k.valid_at <= new.said_at]
    live.sort(key=lambda k: (k.valid_at, k.memory_id), reverse=True)
    if AMENDS in new.flags or MAY_AMEND in new.flags:
        found = _put_right(new, live)
        if found or AMENDS in new.flags:
            return found
    if found := _by_day(new, live) or _by_role(new, live):
        return found
    if new.assertion == "correction" and (found := _by_contrast(new, live)):
        return found
    if not new.value or len(new.value) > LONGEST_VALUE or (new.value == new.text and not _is_bare(new)):
        return None
    if new.key and (beside := next((k for k in live if new.key in k.also), None)):
        return _amend_value(beside, beside.also[new.key], new.value, new)
    if new.assertion == "correction" and new.old_value and len(new.old_value) <= LONGEST_VALUE:
        target = _find_holding(new, new.old_value, live)
        if target is None or _takes_its_place(new, target):
            return None
        return _amend_value(target, new.old_value, new.value, new)
    return None


def _takes_its_place(new: Statement, target: ActiveMemory) -> bool:
    """Whether the statement says all that the memory says, of today: then its own words are the next version."""
    if new.key != target.key or new.key is None or target.also or len(split(target.text)) > 1:
        return False
    return not _is_bare(new) and not has_word(new.text, new.old_value or "")


def _put_right(new: Statement, live: Sequence[ActiveMemory]) -> Amendment | None:
    """Of the newest memories of this conversation the one with a value that the message puts another in the place of."""
    denied = [value for value in values(new.quote) if is_denied(new.quote, value)]
    before = [k for k in live if k.valid_at < new.said_at]
    recent = [k for k in before if new.session_id in k.source_sessions][:RECENT]
    naming = [k for k in before[:MOST_NAMED] if k not in recent and any(has_word(k.text, value) for value in denied)]
    near = [k for k in (*recent, *naming[:RECENT]) if not _says_it_all(new.quote, k.words_said)]
    pairs = [(found, k) for k in near if (found := find_replacement(k.words_said, new.quote))]
    best, target = max(pairs, key=lambda pair: pair[0].probability, default=(None, None))
    if best is None or target is None or best.probability < PUTS_RIGHT:
        return None
    (start, end), value, words = best.old, new.quote[slice(*best.new)], target.words_said
    return _build_amendment(target, words[:start] + value + words[end:], words[start:end], value, new)


def _says_it_all(said: str, text: str) -> bool:
    """Whether the message has most of its words from the text: a statement of its own, not a repair."""
    words = {word for word in segment.words(said.lower()) if word.strip(_STOPS)}
    shared = words & set(segment.words(text.lower()))
    return len(shared) >= LEAST_SHARED and 5 * len(shared) >= 3 * len(words)


def _by_contrast(new: Statement, live: Sequence[ActiveMemory]) -> Amendment | None:
    """The newest memory of several clauses of which the statement names a value beside another of its sort."""
    said, given = about(new.quote or new.text).terms, _read_contrasted_values(new)
    for target in live if len(given) > 1 else ():
        if (
            said & about(target.text).terms
            and len(split(target.text)) > 1
            and (found := _find_contrast(target.text, new.quote or new.text, given))
        ):
            return _amend_value(target, *found, new)
    return None


def amend_by_contrast(new: Statement, old: ActiveMemory) -> Amendment | None:
    """The memory that the statement ends, with the value in its place that the statement names beside its own."""
    if len(split(old.text)) == 1:
        return None
    found = _find_contrast(old.text, new.quote or new.text, _read_contrasted_values(new))
    return _amend_value(old, *found, new) if found else None


def _read_contrasted_values(new: Statement) -> Sequence[str]:
    said = new.quote or new.text
    return values(said) if len(said) <= LONGEST_CONTRAST and not _ADDS.search(said) else ()


def _find_contrast(text: str, said: str, given: Sequence[str]) -> tuple[str, str] | None:
    """Of the values given one that the text has and the statement denies, and the one other of its sort beside it."""
    for old in given:
        if not has_word(text, old) or not is_denied(said, old):
            continue
        others = {value for value in given if value != old and like(old, value) and not has_word(text, value)}
        others = {each for each in others if not any(each != other and each in other for other in others)}
        if len(others) == 1:
            return old, others.pop()
    return None


def _by_day(new: Statement, live: Sequence[ActiveMemory]) -> Amendment | None:
    """The memory that says when something is, where the statement moves it and says no more."""
    moved = find_moved_day(new.quote or new.text, [k for k in live if k.valid_at < new.said_at])
    if moved is None:
        return None
    text, (start, end) = moved.target.words_said, moved.place
    return _build_amendment(moved.target, text[:start] + moved.value + text[end:], text[start:end], moved.value, new)


def _by_role(new: Statement, live: Sequence[ActiveMemory]) -> Amendment | None:
    """The memory that says who or what holds a role, where the statement says who or what holds it now."""
    match = _HOLDS_NOW.search(new.quote or new.text)
    if match is None:
        return None
    role = (match["en_role"] or match["zh_role"]).strip().lower()
    holder = (match["en"] or match["en_now"] or match["zh"]).strip()
    if (
        not about(role).topics
        or _SHARED.search(role)
        or any("family" in each.sorts for each in meanings.find_known_words(role))
    ):
        return None
    for target in live:
        found = re.search(
            rf"{re.escape(role)}{_IS}(?P<old>{_HOLDER_EN if role.isascii() else _HOLDER_ZH})", target.words_said, re.I
        )
        if found and found["old"].lower() != holder.lower():
            start, end = found.span("old")
            text = target.words_said[:start] + holder + target.words_said[end:]
            return _build_amendment(target, text, found["old"], holder, new)
    return None


def _is_bare(new: Statement) -> bool:
    """Whether the words are a value and nothing else."""
    return len(new.text) <= 8 if not new.text.isascii() else len(new.text.split()) <= 3


def _find_holding(new: Statement, old: str, live: Sequence[ActiveMemory]) -> ActiveMemory | None:
    """The memory that says the old value: under the statement's key, else of what it speaks, else the newest."""
    holding = [k for k in live if has_word(k.text, old)]
    if new.key and (own := next((k for k in holding if new.key in (k.key, *k.also)), None)):
        return own
    rest = about(_without(new.quote or new.text, (old, new.value))).terms
    shares = {k.memory_id: len(rest & about(k.text).terms) for k in holding}
    if not rest:
        return next(iter(holding), None)
    return max(
        (k for k in holding if shares[k.memory_id]), key=lambda k: (shares[k.memory_id], k.valid_at), default=None
    )


def _amend_value(target: ActiveMemory, old: str, value: str, new: Statement) -> Amendment | None:
    text = _put_value(target.words_said, old, value)
    return _build_amendment(target, text, old, value, new) if text else None


def _build_amendment(target: ActiveMemory, words: str, old: str, given: str, new: Statement) -> Amendment:
    text = target.label + words
    was = Content(target.type, target.key, target.value, target.text, target.polarity, target.flags, target.valid_until)
    content = edit_content(was, text, None, new.said_at)
    also = {key: given if value == old else value for key, value in target.also.items()}
    if content.key is None and target.key and target.key.startswith("profile:"):
        content = replace(content, key=target.key)
    speaker = {"speaker": target.speaker} if target.speaker else {}
    value = {**content.value, **speaker, "quote": words, **({ALSO: also} if also else {})}
    claims = tuple(flag for flag in dict.fromkeys((*target.flags, *content.flags)) if flag == SELF_BENEFIT)
    return Amendment(target, _renew_days(replace(content, value=value, flags=claims), new.said_at.date()))


def _renew_days(content: Content, today: date) -> Content:
    """The memory with the day that its words name now, where it had one."""
    if content.type == "task":
        due = with_due(Finding("task", None, dict(content.value), content.text, "", ""), content.text, today)
        return replace(content, value=due.value, valid_until=due.valid_until or content.valid_until)
    days = DAYS & content.value.keys()
    if not days:
        return content
    said = dates.find_coming(content.text, today)
    rest = {name: part for name, part in content.value.items() if name not in DAYS}
    return replace(content, value=rest | (dict.fromkeys(days, said.iso) if said else {}))


def _put_value(text: str, old: str, new: str) -> str | None:
    """The text with the new value where the old one stood last; None where it does not stand there."""
    edge = (r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])") if old.isascii() else ("", "")
    places = list(re.finditer(f"{edge[0]}{re.escape(old)}{edge[1]}", text, re.IGNORECASE))
    if not places or old.lower() == new.lower():
        return None
    start, end = widen_span(text, places[-1].span(), new)
    start -= _overlap(text[:start], new)
    return text[:start] + new + text[end:]


def _overlap(before: str, new: str) -> int:
    """How many letters at the end of what stands before are the first of the new value: `喜欢看` and `看小说`."""
    for length in range(min(len(new), 12), 0, -1):
        if before.lower().endswith(new[:length].lower()) and (not new.isascii() or new[length - 1].isspace()):
            return length
    return 0


def _without(text: str, words: Sequence[str]) -> str:
    for word in filter(None, words):
        text = re.sub(re.escape(word), " ", text, flags=re.IGNORECASE)
    return text
