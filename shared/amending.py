"""The memory that a statement amends: its sentence with one value in the place of another. Pure."""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from difflib import SequenceMatcher

from schemas.vocabulary import MemoryType
from shared.reading import dates
from shared.reading.clauses import split
from shared.reading.edited import Content, edited
from shared.reading.model import Found
from shared.reading.related import about
from shared.reading.slots import with_due
from shared.reading.values import like, values, whole
from shared.relate import ALSO, AMENDS, SPELLING, Known, Statement
from shared.text import meanings
from shared.text.patterns import to_pattern
from shared.text.within import has_word

LONGEST_VALUE = 32
"""Characters of a value at most; what is longer is a statement of its own."""
_UNAMENDED: frozenset[MemoryType] = frozenset({"case", "summary"})
SELF_BENEFIT = "self_benefit"
"""Flags a claim of money or authority, which stays one whatever its sum."""
DAYS = frozenset({"date", "event_date"})
"""Where the value of a memory holds the day that its words name."""
ALIKE, ALIKE_CODE = 0.6, 0.5
"""What two spellings of one word have in common; of Chinese, and of letters with digits."""
LONGEST_CONTRAST = 120
"""Characters at most of a sentence that names an old value beside the new one; a longer one tells of more than that."""
RECENT = 3
"""So many of the newest memories of a conversation may be put right by a short message."""
_MARKS = to_pattern(r"^(?:(?:no|sorry|it'?s|but|是|应该是|而是|叫|姓)[\s,，]*)+", re.I)
_IS = r"(?:现在)?(?:是|叫|姓|：|:|(?:'s name)? (?:is|was)(?: called)? |, |'s | )?"
_SHARED = to_pattern(
    r"\b(?:friend|colleague|co-?worker|neighbou?r|classmate|room-?mate|flat-?mate|pet|dog|cat)s?\b|朋友|同事|邻居|同学|室友|宠物|猫|狗",
    re.I,
)
"""Roles that several hold at a time, beside those of the family."""
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

    target: Known
    content: Content


def amend(new: Statement, known: Sequence[Known]) -> Amendment | None:
    """What the statement amends, the newest first: None where it is a statement of its own."""
    if new.retracts or new.chosen:
        return None
    live = [k for k in known if k.type not in _UNAMENDED and not k.name_alone and k.valid_at <= new.said_at]
    live.sort(key=lambda k: (k.valid_at, k.memory_id), reverse=True)
    if AMENDS in new.flags:
        return _put_right(new, live)
    if found := _by_role(new, live):
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


def _takes_its_place(new: Statement, target: Known) -> bool:
    """Whether the statement says all that the memory says, of today: then its own words are the next version."""
    if new.key != target.key or new.key is None or target.also or len(split(target.text)) > 1:
        return False
    return not _is_bare(new) and not has_word(new.text, new.old_value or "")


def _put_right(new: Statement, live: Sequence[Known]) -> Amendment | None:
    """The newest memory of this conversation that has one value like one of the message, with that in its place."""
    said = [k for k in live if new.session_id in k.source_sessions][:RECENT] or list(live[:1])
    given = [] if SPELLING in new.flags else values(_without(new.text, (new.old_value or "",)))
    rest = _MARKS.sub("", new.value).strip(" ,，.。")
    short = len(rest.split()) <= 2 if rest.isascii() else len(rest) <= 8
    for target in said:
        if new.old_value and has_word(target.text, new.old_value):
            better = rest if short else next((value for value in given if like(new.old_value, value)), rest)
            if better and len(better) <= LONGEST_VALUE:
                return _amend_value(target, new.old_value, better, new)
        if new.old_value:
            continue
        for value in sorted(given, key=len, reverse=True):
            found = {target.text[slice(*place)] for place in like(target.text, value)}
            if len(found) == 1 and not _is_name(value):
                return _amend_value(target, found.pop(), value, new)
        value = re.split(r"[,，]", rest)[0].strip()
        if (alike := _spelt_alike(target.text, value)) and len(value) <= LONGEST_VALUE:
            return _amend_value(target, alike, value, new)
    return None


def _spelt_alike(text: str, value: str) -> str | None:
    """The words of the text, as many as the value has, that are spelt most like it: 三号楼 for 四号楼, Karen for Karin."""
    if value.isascii() and not (value[:1].isupper() or any(map(str.isdigit, value))):
        return None
    if not value.isascii():
        windows = (
            {text[at : at + len(value)] for at in range(len(text) - len(value) + 1)} if len(value) > 1 else set[str]()
        )
        scored = sorted(((_letters_in_place(each, value), each) for each in windows), reverse=True)
    else:
        words = [
            word.strip(".'’-") for word in re.findall(r"[\w'’.-]+" if text.isascii() else r"[A-Za-z0-9'’.-]+", text)
        ]
        count = len(value.split())
        windows = {" ".join(words[at : at + count]) for at in range(len(words) - count + 1)}
        windows = {each for each in windows if each[:1].isupper() == value[:1].isupper() and each in text}
        scored = sorted(
            ((SequenceMatcher(None, each.lower(), value.lower()).ratio(), each) for each in windows), reverse=True
        )
    if (
        not scored
        or scored[0][1].lower() == value.lower()
        or scored[0][0] < (ALIKE if value.isalpha() and value.isascii() else ALIKE_CODE)
    ):
        return None
    return scored[0][1] if len(scored) == 1 or scored[0][0] > scored[1][0] else None


def _by_contrast(new: Statement, live: Sequence[Known]) -> Amendment | None:
    """The newest memory of several clauses of which the statement names a value beside another of its sort."""
    said, given = about(new.quote or new.text).terms, _read_contrasted_values(new)
    for target in live if len(given) > 1 else ():
        if (
            said & about(target.text).terms
            and len(split(target.text)) > 1
            and (found := _find_contrast(target.text, given))
        ):
            return _amend_value(target, *found, new)
    return None


def amend_by_contrast(new: Statement, old: Known) -> Amendment | None:
    """The memory that the statement ends, with the value in its place that the statement names beside its own."""
    found = _find_contrast(old.text, _read_contrasted_values(new)) if len(split(old.text)) > 1 else None
    return _amend_value(old, *found, new) if found else None


def _read_contrasted_values(new: Statement) -> Sequence[str]:
    said = new.quote or new.text
    return values(said) if len(said) <= LONGEST_CONTRAST else ()


def _find_contrast(text: str, given: Sequence[str]) -> tuple[str, str] | None:
    """Of the values given one that the text has too, and the one other of its sort that is given beside it."""
    for old in given:
        if not has_word(text, old):
            continue
        others = {value for value in given if value != old and like(old, value) and not has_word(text, value)}
        others = {each for each in others if not any(each != other and each in other for other in others)}
        if len(others) == 1:
            return old, others.pop()
    return None


def _by_role(new: Statement, live: Sequence[Known]) -> Amendment | None:
    """The memory that says who or what holds a role, where the statement says who or what holds it now."""
    match = _HOLDS_NOW.search(new.quote or new.text)
    if match is None:
        return None
    role = (match["en_role"] or match["zh_role"]).strip().lower()
    holder = (match["en"] or match["en_now"] or match["zh"]).strip()
    if _SHARED.search(role) or any("family" in each.sorts for each in meanings.named(role)):
        return None
    for target in live:
        found = re.search(
            rf"{re.escape(role)}{_IS}(?P<old>{_HOLDER_EN if role.isascii() else _HOLDER_ZH})", target.text, re.I
        )
        if found and found["old"].lower() != holder.lower():
            start, end = found.span("old")
            return _build_amendment(target, target.text[:start] + holder + target.text[end:], found["old"], holder, new)
    return None


def _is_name(value: str) -> bool:
    return (
        value.isascii() and value[:1].isupper() and not any(meanings.named(value)) and not any(map(str.isdigit, value))
    )


def _letters_in_place(one: str, other: str) -> float:
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(other)


def _is_bare(new: Statement) -> bool:
    """Whether the words are a value and nothing else."""
    return len(new.text) <= 8 if not new.text.isascii() else len(new.text.split()) <= 3


def _find_holding(new: Statement, old: str, live: Sequence[Known]) -> Known | None:
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


def _amend_value(target: Known, old: str, value: str, new: Statement) -> Amendment | None:
    text = _put_value(target.text, old, value)
    return _build_amendment(target, text, old, value, new) if text else None


def _build_amendment(target: Known, text: str, old: str, given: str, new: Statement) -> Amendment:
    was = Content(target.type, target.key, target.value, target.text, target.polarity, target.flags, target.valid_until)
    content = edited(was, text, None, new.said_at)
    also = {key: given if value == old else value for key, value in target.also.items()}
    if content.key is None and target.key and target.key.startswith("profile:"):
        content = replace(content, key=target.key)
    value = {**content.value, "quote": text, **({ALSO: also} if also else {})}
    claims = tuple(flag for flag in dict.fromkeys((*target.flags, *content.flags)) if flag == SELF_BENEFIT)
    return Amendment(target, _renew_days(replace(content, value=value, flags=claims), new.said_at.date()))


def _renew_days(content: Content, today: date) -> Content:
    """The memory with the day that its words name now, where it had one."""
    if content.type == "task":
        due = with_due(Found("task", None, dict(content.value), content.text, "", ""), content.text, today)
        return replace(content, value=due.value, valid_until=due.valid_until or content.valid_until)
    days = DAYS & content.value.keys()
    if not days:
        return content
    said = dates.coming(content.text, today)
    rest = {name: part for name, part in content.value.items() if name not in DAYS}
    return replace(content, value=rest | (dict.fromkeys(days, said.iso) if said else {}))


def _put_value(text: str, old: str, new: str) -> str | None:
    """The text with the new value where the old one stood last; None where it does not stand there."""
    edge = (r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])") if old.isascii() else ("", "")
    places = list(re.finditer(f"{edge[0]}{re.escape(old)}{edge[1]}", text, re.IGNORECASE))
    if not places or old.lower() == new.lower():
        return None
    start, end = whole(text, places[-1].span(), new)
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
