"""What a long question consists of: the sentences in it that ask, and the things that it lists; both languages."""

# ruff: noqa: E501 - one family of forms per line

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from shared.language.patterns import to_pattern
from shared.language.replies import says_something
from shared.language.segment import HAN, query_terms, words
from shared.language.stopwords import ALL

MOST_PARTS = 8
LEAST_THINGS = 3
"""Two things joined by `and` are mostly one question; so many are a list."""
THING_TERMS = 4
"""A longer item between commas is a clause, and no thing that is named."""
LONGEST_HAN = 6
"""Characters of a Chinese thing between commas."""
Kind = Literal["question", "thing", "word"]

_SENTENCE = to_pattern(
    r"(?:[^?？!！。\n.]|(?<=\b[A-Z])\.|(?<=\b[A-Z][a-z])\.|(?<=\b[A-Z][a-z]{2})\.|\.(?!\s|$))+[?？!！。.]*"
)
"""A point after a capital or a short title ends none: J. K., Dr."""
_ENDS_ASKING = to_pattern(r"[?？][\W_]{0,3}$|[吗呢么][\s。！!~～]*$")
_ASKS = to_pattern(
    r"^\W*(?:(?:so|and|but|or|ok|okay|well|oh|hi|hey|hello|also|then|anyway|please)\W+)*"
    r"(?:who|whom|whose|what|when|where|why|how|which|tell|remind|show|find|list|name|recommend|suggest|describe|summari[sz]e)\b"
    r"|\b(?:wonder(?:ing)?|know|remember|remind|tell me|ask(?:ing)?)\b(?:\W+\w+){0,2}\W+(?:who|whose|what|when|where|why|how|which|if|whether)\b"
    r"|^\W*(?:请|麻烦|帮我|帮忙|告诉我|提醒我|说说|讲讲|列出|列一下|推荐|总结|回顾)"
    r"|什么|哪[里儿个些位天年月家种本部次]|谁|怎么|怎样|多少|几[个点号月岁位时天家次]|多[久大长高远]|是否|有没有|如何|为何",
    re.IGNORECASE,
)
_MARK = to_pattern(r"\s*[;；、|\n]\s*")
"""Between things of a list, and nowhere else."""
_COMMA = to_pattern(r"\s*,\s*")
_HAN_COMMA = to_pattern(rf"(?<=[{HAN}])\s*[,，]\s*")
_CLAUSE_END = to_pattern(r"[,，;；]")
_CLAUSE_ASKS = to_pattern(
    r"^\W*(?:(?:and|or|but|also)\W+)*(?:(?:who|whose|what|which)\b|(?:when|where|why|how)(?:['’]s|\s+(?:is|are|was|were|do|does|did|have|has|had|will|would|can|could|should|many|much|long|old|often|far))\b)"
    r"|什么|谁|哪[里儿个些位天年月家种本部次]|几[个点号月岁位时天家次]|多少|多[久大长高远]|怎么|怎样|如何|吗\W*$",
    re.IGNORECASE,
)
"""A clause that asks by itself; `when I was in Lisbon` does not."""
_OPENING_JOIN = to_pattern(r"^(?:and|or|plus|also)\b\s*|^(?:以及|还有|和|与|及|或)\s*", re.IGNORECASE)
_LAST_JOIN = to_pattern(r"\s+(?:and|or|plus)\s+|\s*(?:以及|还有|和|与|及|或)\s*", re.IGNORECASE)
_GAP = to_pattern(rf"\s+|(?<=[{HAN}])(?=[A-Za-z])|(?<=[A-Za-z])(?=[{HAN}])")
_WORD = to_pattern(rf"[^\W_{HAN}]+|[{HAN}]{{1,5}}")
_SUBJECT = to_pattern(
    r"\b(?:i|we|he|she|they|you|it)\b|[我你您他她它咱](?!的|们?的|爸|妈|家|哥|姐|弟|妹)", re.IGNORECASE
)
"""Somebody who does something: what is told of them is no list of things to look for."""
_POINTS_BACK = to_pattern(
    r"^.{0,10}(?:[这那](?!么|样|里|边|会|时|天)|[他她它])|^\W*(?:\w+\W+)?(?:[a-z']+\W+){0,3}(?:it|this|these|those|they|them|he|she)\b"
)
"""Near the beginning, before any name."""
_ANY = to_pattern(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Part:
    """What a question asks beside the rest of it: in a sentence, as a thing of a list, or as a word among words."""

    text: str
    kind: Kind = "question"


def list_questions(text: str) -> list[str]:
    """The sentences of the text that ask."""
    return [each for raw in _SENTENCE.findall(text) if is_question(each := raw.strip())]


def split_question(text: str) -> tuple[Part, ...]:
    """The parts that are worth a search of their own; none where the question is of one piece.

    Of several sentences those that ask; the things that these list, or a text that neither asks nor tells; words without
    a sentence.
    """
    sentences = [each for raw in _SENTENCE.findall(text) if is_question(each := raw.strip()) or says_something(each)]
    asking = [_with_what_it_means(sentences, n) for n, each in enumerate(sentences) if is_question(each)]
    alone = [clause for each in asking for clause in _asking_clauses(each)]
    parts = [Part(each) for each in alone] if len(sentences) > 1 or len(alone) > 1 else []
    listing = asking or [each for each in sentences if not _SUBJECT.search(each)]
    parts += [Part(thing, "thing") for each in listing for thing in list_things(each)]
    if len(sentences) == 1 and not parts:
        parts += [Part(word, "word") for word in list_words(sentences[0])]
    whole = query_terms(text)
    own = {part.text: part for part in parts if (terms := query_terms(part.text)) and terms != whole}
    return tuple(own.values())[:MOST_PARTS]


def _with_what_it_means(sentences: Sequence[str], at: int) -> str:
    """The sentence, behind the one before where it begins by pointing back to it."""
    return " ".join(sentences[max(at - 1, 0) : at + 1]) if _POINTS_BACK.search(sentences[at]) else sentences[at]


def is_question(sentence: str) -> bool:
    """Whether the sentence asks or wants to be told something."""
    return bool(_ENDS_ASKING.search(sentence) or _ASKS.search(sentence))


def _asking_clauses(sentence: str) -> list[str]:
    """The clauses that ask where several do, else the sentence as it is."""
    clauses = [each.strip() for each in _CLAUSE_END.split(sentence) if _CLAUSE_ASKS.search(each) and query_terms(each)]
    return clauses if len(clauses) > 1 else [sentence]


def list_things(sentence: str) -> list[str]:
    """The things that a sentence lists, the first and the last with the words around them; none of fewer than three."""
    items = _items(_MARK, sentence)
    if len(items) < LEAST_THINGS:
        items = _items(_COMMA, sentence)
        inner = items[1:-1]
        joined = items and (_OPENING_JOIN.search(items[-1]) or len(items) > LEAST_THINGS)
        if not joined or is_question(items[-1].rstrip("?")) or any(_is_long(each) for each in inner):
            items = _items(_HAN_COMMA, sentence)
            if not all(_is_plain(each) for each in items[:-1]):
                return []
    return [_OPENING_JOIN.sub("", each) for each in items] if len(items) >= LEAST_THINGS else []


def _items(mark: re.Pattern[str], sentence: str) -> list[str]:
    """What stands between these marks; where there are any, the last two may be joined by a word."""
    items = [each for each in mark.split(sentence) if _ANY.search(each)]
    if len(items) > 1 and mark is _MARK:
        items += [each for each in _LAST_JOIN.split(items.pop(), maxsplit=1) if _ANY.search(each)]
    return items


def _is_plain(item: str) -> bool:
    """Whether a Chinese item is but a word or two, none of which only holds others together."""
    return len(item) <= LONGEST_HAN and all(word not in ALL for word in words(item))


def _is_long(item: str) -> bool:
    return len(query_terms(item, THING_TERMS + 1)) > THING_TERMS


def list_words(sentence: str) -> list[str]:
    """Words side by side with none between them that only holds others together; none of fewer than three."""
    found = [each for each in _GAP.split(sentence.strip(" ?？。.!！")) if _ANY.search(each)]
    plain = all(_WORD.fullmatch(word) and word.casefold() not in ALL for word in found)
    return found if len(found) >= LEAST_THINGS and plain else []
