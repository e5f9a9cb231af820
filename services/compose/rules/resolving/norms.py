"""Reads rules of the enterprise (what a text forbids, requires or fixes) and preferences, in Chinese and English."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from services.compose.rules.resolving import norms_words as words
from services.compose.rules.resolving.norms_words import Manner
from shared.cache import of_texts
from shared.classifiers import meanings
from shared.language.normalise import normalise
from shared.language.patterns import to_pattern
from shared.language.segment import ENGLISH_STOPWORDS, query_terms, stem
from shared.language.segment import words as cut

Force = Literal["forbids", "requires"]
MAX_SENTENCES = 60
MAX_SENTENCE = 400
MAX_NORMS = 20
MAX_WISH = 400
_SENTENCE = to_pattern(r"(?<=[。！？；!?;\n])|(?<=[.])\s+(?=[A-Z\u4e00-\u9fff])")
_HAN = to_pattern(r"[\u3400-\u9fff]")
_PIECE = to_pattern(r"[\u3400-\u9fff]+|[A-Za-z0-9][\w'’+#.-]*")


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun phrase without words of manner; the last word is its head."""

    words: tuple[str, ...]

    @property
    def head(self) -> str:
        return self.words[-1]


@dataclass(frozen=True, slots=True)
class EnterpriseRule:
    """One rule: what it forbids or requires, and where, if not everywhere."""

    force: Force
    manners: frozenset[Manner]
    things: tuple[NounPhrase, ...]
    fixed: frozenset[str]
    """The member that it selects from a sort of things."""
    sorts: frozenset[str]
    scope: frozenset[str]


@dataclass(frozen=True, slots=True)
class PreferenceClaim:
    """What somebody wants and does not want, with manners and things; `private` if it is only about their home."""

    manners: frozenset[Manner]
    against: frozenset[Manner]
    things: tuple[NounPhrase, ...]
    things_against: tuple[NounPhrase, ...]
    named: frozenset[str]
    sorts: frozenset[str]
    terms: frozenset[str]
    private: bool


@of_texts(512)
def read_rules(text: str) -> tuple[EnterpriseRule, ...]:
    """The current rules in a text of the enterprise about itself, without questions, history and others' rules."""
    sentences = [each for each in _SENTENCE.split(normalise(text)) if each and each.strip()]
    found = (norm for each in sentences[:MAX_SENTENCES] for norm in _read_sentence(each.strip()[:MAX_SENTENCE]))
    return tuple(islice(found, MAX_NORMS))


def _read_sentence(sentence: str) -> Iterator[EnterpriseRule]:
    if words.ASKS.search(sentence):
        return
    cues = list(_find_cues(sentence))
    for n, (force, start, end) in enumerate(cues):
        before = sentence[cues[n - 1][2] if n else 0 : start]
        until = cues[n + 1][1] if n + 1 < len(cues) else len(sentence)
        after = sentence[end:until]
        whole = sentence[max(0, start - 12) : until]
        now = words.NOW.split(sentence[:until])[-1]
        if words.LIFTED.search(whole) or words.NOT_NOW.search(now) or words.OTHERS.search(before):
            continue
        if norm := _read_rule(force, sentence[start:end], before, after):
            yield norm


def _read_rule(force: Force, cue: str, before: str, after: str) -> EnterpriseRule | None:
    stop = words.STOPS.search(after)
    clause = (after[: stop.start()] if stop else after).strip(" 。.!！;；,，:：")
    scope = before
    if (
        words.PASSIVE.search(cue)
        or (words.PASSIVE_AFTER.match(clause) and not find_manners(clause))
        or not _find_content(clause)
    ):
        # what is forbidden comes first: 表情符号禁止使用, emoji are not allowed in letters
        clause, scope = _last_clause(before), clause
    placed = None if _HAN.search(clause) else words.PLACED_EN.search(clause)
    inside, where = (clause[: placed.start()], clause[placed.end() :]) if placed and placed.start() else (clause, "")
    manner = find_manners(clause) if force == "requires" else find_manners(inside) or find_manners(clause)
    things = () if manner else tuple(_find_things(inside))
    fixed = list_fixed(clause) if force == "requires" else []
    if not manner and not things and not fixed:
        return None
    sorts = frozenset(sort for each in fixed for sort in each.sorts & words.SAME_SORT)
    if fixed or _find_content(inside) or find_manners(inside):
        scope = f"{scope} {where}"
    named = frozenset(each.word for each in fixed)
    return EnterpriseRule(force, manner, things, named, sorts, _find_scope(scope) - named)


def list_fixed(clause: str) -> list[meanings.KnownWord]:
    """The things that the rule selects, from sorts of which one is chosen for all."""
    if not words.USES.match(clause.strip()):
        return []
    return [each for each in meanings.find_known_words(clause) if each.sorts & words.SAME_SORT]


def _last_clause(text: str) -> str:
    parts = [part for part in re.split(r"[:：。]", text) if part.strip()]
    return parts[-1] if parts else text


_CUES: tuple[tuple[Force, re.Pattern[str]], ...] = (
    ("forbids", to_pattern("|".join((words.FORBID_ZH, words.FORBIDDEN_EN, words.FORBID_EN)), re.IGNORECASE)),
    ("requires", to_pattern("|".join((words.REQUIRE_ZH, words.REQUIRED_EN, words.REQUIRE_EN)), re.IGNORECASE)),
)


def _find_cues(sentence: str) -> list[tuple[Force, int, int]]:
    """The cues of rules, in order; of overlapping ones the negated counts: 必须禁止, must never."""
    matches: list[tuple[Force, int, int]] = []
    for force, cue in _CUES:
        for match in cue.finditer(sentence):
            matches.append((force, match.start(), match.end()))
    matches.sort(key=lambda each: (each[1], each[0]))
    joined_cues: list[tuple[Force, int, int]] = []
    for force, start, end in matches:
        if joined_cues and start <= joined_cues[-1][2] + 1:
            joined: Force = "forbids" if "forbids" in (force, joined_cues[-1][0]) else "requires"
            joined_cues[-1] = (joined, joined_cues[-1][1], max(end, joined_cues[-1][2]))
        else:
            joined_cues.append((force, start, end))
    return joined_cues


def read_wish(text: str) -> PreferenceClaim | None:
    """The claim of a preference; None if it is not the user's own taste."""
    text = normalise(text)[:MAX_WISH]
    if words.SAFETY.search(text) or words.SOMEBODY_ELSE.search(text):
        return None
    wanted, unwanted = _split_sides(words.STILL.sub("", text))
    named = [each for each in meanings.find_known_words(wanted) if each.sorts & words.SAME_SORT]
    return PreferenceClaim(
        manners=find_manners(wanted),
        against=find_manners(unwanted),
        things=tuple(_find_things(_find_object(wanted))),
        things_against=tuple(_find_things(_find_object(unwanted))),
        named=frozenset(each.word for each in named),
        sorts=frozenset(sort for each in named for sort in each.sorts & words.SAME_SORT),
        terms=frozenset(query_terms(text, 64)),
        private=words.PRIVATE.search(text) is not None,
    )


_AGAINST = to_pattern(f"{words.AGAINST_ZH}|{words.AGAINST_EN}", re.IGNORECASE)


def _split_sides(text: str) -> tuple[str, str]:
    """The wanted and the unwanted part; a refusal extends to the end of its clause."""
    compared = words.COMPARED_ZH.search(text)
    less = compared["less"] if compared else ""
    if compared:
        text = text[: compared.start()] + text[compared.end("less") :]
    wanted: list[str] = []
    unwanted = [less]
    for clause in re.split(r"[，,。;；.!！\n]|但是?|\bbut\b", text):
        found = _AGAINST.search(clause)
        wanted.append(clause[: found.start()] if found else clause)
        if found:
            unwanted.append(clause[found.end() :])
    return "，".join(wanted), "，".join(filter(None, unwanted))


_WANTS = to_pattern(
    r"^.*?(?:更?喜欢|偏好|偏爱|喜爱|爱用?|希望|想要?|习惯于?|倾向于?|要求|愿意)"
    r"|^.*?\b(?:prefers?|likes?|loves?|enjoys?|wants?|favou?rs?|would like|would rather|wishes|tends? to|is fond of"
    r"|is used to)\b(?: to| that)?",
    re.IGNORECASE,
)


def says_taste(text: str) -> bool:
    """Whether somebody says explicitly what they like or want."""
    return _WANTS.match(text) is not None or _AGAINST.match(text) is not None


def _find_object(text: str) -> str:
    return "，".join(_WANTS.sub("", clause) for clause in text.split("，"))


def find_manners(text: str) -> frozenset[Manner]:
    """The manners in the text; an adjective of another thing is none: short walks."""
    if not words.ANY_MANNER.search(text):
        return frozenset()
    return frozenset(
        manner
        for manner, named in words.MANNERS
        if any(_stands_alone(text[found.end() :]) for found in named.finditer(text))
    )


_NEXT = to_pattern(r"的?(?P<han>[\u3400-\u9fff]+)|[ -](?P<word>[A-Za-z]+)")


def _stands_alone(rest: str) -> bool:
    """Whether what follows a manner is not a thing that it describes, unless that is speech or writing."""
    following = _NEXT.match(rest)
    if following is None:
        return True
    if following["word"]:
        word = following["word"].lower()
        return (
            word in (ENGLISH_STOPWORDS - words.MATERIAL)
            or stem(word) in words.SAID_EN
            or _is_manner(rest[following.start("word") :])
        )
    run = following["han"]
    return words.SAID_ZH.match(run) is not None or _is_manner(run)


def _is_manner(text: str) -> bool:
    return words.ANY_MANNER.match(text) is not None


def _find_content(text: str) -> list[str]:
    return [word for word in _split_words(text) if word not in words.EMPTY]


def _split_words(text: str) -> list[str]:
    """The words in order; English ones stemmed."""
    found: list[str] = []
    for piece in _PIECE.findall(text.lower()):
        found += cut(piece) if _HAN.match(piece) else [stem(piece.strip(".-'’"))]
    return found


def _find_things(text: str) -> Iterator[NounPhrase]:
    for part in words.JOINTS.split(text):
        if not part:
            continue
        placed = None if _HAN.search(part) else words.PLACED_EN.search(part.strip())
        own = part.strip()[: placed.start()] if placed and placed.start() else part.strip()
        own = words.TRAILING_ZH.sub("", own)
        if found := _find_content(own):
            yield NounPhrase(tuple(found[:8]))


def _find_scope(text: str) -> frozenset[str]:
    """The terms of where or for whom a rule holds, without those for everywhere."""
    return frozenset(query_terms(words.EVERYWHERE.sub(" ", words.ANY_MANNER.sub(" ", text)), 16))


def is_kind_of(rule: NounPhrase, wanted: NounPhrase) -> bool:
    """Whether the wanted thing is that of the rule or a kind of it: net slang is slang, a tea pot is no tea."""
    return is_alike(rule.head, wanted.head) and all(
        any(is_alike(one, other) for other in wanted.words) for one in rule.words
    )


def is_alike(one: str, other: str) -> bool:
    if one == other:
        return True
    if len(one) == 2 and len(other) == 1 and one.endswith(other):
        return True
    consumed = len(one) == 2 == len(other) and one[1] == other[1]
    return consumed and one[0] in words.CONSUMES and other[0] in words.CONSUMES


def contradicts(norm: EnterpriseRule, wanted: PreferenceClaim, message: frozenset[str]) -> bool:
    """Whether the rule contradicts the wish in this situation; `message` has its terms."""
    if wanted.private and not norm.scope & wanted.terms:
        return False
    if norm.scope and not norm.scope & (wanted.terms | message):
        return False
    if norm.force == "forbids":
        return bool(norm.manners & wanted.manners) or _any_same(norm.things, wanted.things)
    if norm.manners & wanted.against or is_excluded(norm, wanted):
        return True
    if norm.fixed and norm.sorts & wanted.sorts and wanted.named.isdisjoint(norm.fixed):
        return True
    return _any_same(norm.things, wanted.things_against)


def is_excluded(norm: EnterpriseRule, wanted: PreferenceClaim) -> bool:
    """Whether the wish is for another pole of what is required, or for what that excludes."""
    for manner in norm.manners:
        dimension = manner[0]
        required = {each for each in norm.manners if each[0] == dimension}
        asked = {each for each in wanted.manners if each[0] == dimension}
        if dimension in words.EXCLUSIVE and asked and asked.isdisjoint(required):
            return True
        if words.EXCLUDES.get(manner, frozenset()) & wanted.manners:
            return True
    return False


def _any_same(rules: Sequence[NounPhrase], wanted: Sequence[NounPhrase]) -> bool:
    return any(is_kind_of(rule, each) for rule in rules for each in wanted)
