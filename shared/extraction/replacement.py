"""Which value of an earlier text a later one puts another in the place of: fitted by `tests/training/replacement.py`.

Every phrase of the one text is put beside every phrase of the other: `2区` beside `三区`, `hazelnuts` beside
`almonds`. What is alike in kind and place may be replaced; what is denied, or told a second time, may not.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.cache import of_texts
from shared.classifiers import meanings
from shared.classifiers.judges import load_hidden_layer, load_text_sum
from shared.classifiers.static_encoder import load_static_encoder
from shared.extraction.values import PART, is_denied, is_denied_at, sort_of, spans
from shared.language import segment
from shared.language.patterns import to_pattern
from shared.language.segment import STOPWORDS

Numbers = NDArray[np.float64]
Span = tuple[int, int]
SIGNS = (
    "likely",
    "near",
    "one_sort",
    "other_sort",
    "one_meaning",
    "both_names",
    "both_numbers",
    "letters",
    "length_differs",
    "length_old",
    "length_new",
    "old_denied",
    "new_denied",
    "old_said",
    "new_known",
    "covers",
    "begins",
    "ends",
    "same_before",
    "same_behind",
    "late",
    "words",
    "nearest_old",
    "nearest_new",
    "same",
)
"""What is counted of a phrase of each text, in the order of the weights."""
LONGEST_EN, LONGEST_ZH = 14, 26
"""Words, or Chinese characters, of a text that may put one value right and say no more."""
LONGEST_MESSAGE = 200
"""Characters at most of a message whose first words may put a value right; a longer one tells of other things."""
LONGEST = 4
"""Words of a phrase at most."""
LIKELIEST = 12
"""So many of the likeliest pairs are looked at for those that come to the same."""
MOST = 80
"""Phrases of a text that are looked at, at most."""
_LATIN = to_pattern(r"[A-Za-z0-9\u00c0-\u024f](?:[A-Za-z0-9\u00c0-\u024f'’.:/%&+-]*[A-Za-z0-9\u00c0-\u024f%+])?")
_HAN = to_pattern(r"[\u3400-\u9fff]+")
_SENTENCE = to_pattern(r"[^.。!！?？\n]*(?:\.(?=\d)[^.。!！?？\n]*)*[.。!！?？\n]*")
_ASKS = to_pattern(r"[?？]|[吗呢么]$")
_INSIDE = to_pattern(r"\b(?:not|but|instead|or|with(?:out)? (?:the|an?) [a-z])\b|不是|而是|，|,")
"""What stands in no value."""
_INSIDE_NUMBER, _GOES_ON = to_pattern(r"\d[:.,/]$"), to_pattern(r"[:.,/]\d")
"""Say that a number begins before, or goes on behind."""
_TELLS_NOTHING = to_pattern(
    r"(?:i|you|we|they|he|she|it|that|there|who|what|let)['’](?:m|s|re|ve|ll|d)|(?:do|does|did|is|are|was|were|ca|wo|would|could|should|have|has)n['’]t"
    r"|wo+w|whoa|phew|a+h+|o+h+|a+w+|m+|hm+|ye+a?h?|yup|yep|yes|nope|no|hey|hi|hello|thanks?|ok(?:ay)?|please|sorry|oops|lol|haha\w*|definitely|absolutely"
    r"|exactly|awesome|great|cool|nice|wonderful|amazing|哈+|哇|嗯+|好的?|谢谢|是的|对|行|可以|嘿",
    re.I,
)
"""Words that are no value."""
_OWNS_SLIP = to_pattern(
    r"[打说写记搞弄看听]错|手快|手滑|口误|^不是|笔误"
    r"|\b(?:typo|autocorrect(?:ed)?|misspoke|mistyped|i mean|my bad|wrong one"
    r"|with(?:out)? (?:the|an?) ['\"]?[a-z]['\"]?)(?=$|\W)|^\*",
    re.I,
)


@dataclass(frozen=True)
class Replacement:
    """Where the old value stands in what was said before, where the new one in the later text, how likely that is."""

    old: Span
    new: Span
    probability: float


@dataclass(frozen=True)
class Phrases:
    """The phrases of a text: where they are, and what is known of each."""

    text: str
    places: tuple[Span, ...]
    vectors: Numbers
    sorts: tuple[str, ...]
    meanings: tuple[frozenset[str], ...]
    lengths: Numbers

    @property
    def words(self) -> list[str]:
        """What the phrases say."""
        return [self.text[slice(*place)].lower() for place in self.places]


def find_repair(text: str) -> tuple[int, int, float] | None:
    """Where the words stand that may put something right, and how likely they are to do so."""
    short = find_short(text) if len(text) <= LONGEST_MESSAGE else None
    if short is None:
        return None
    at = text.find(short)
    return at, at + len(short), estimate_repairing(short)


def find_short(text: str) -> str | None:
    """The message, or its first sentence, if that is short and asks nothing."""
    first = _SENTENCE.match(text)
    found = (each.strip() for each in (text, first[0] if first else ""))
    return next((said for said in found if is_short(said) and not _ASKS.search(said)), None)


@of_texts(64)
def estimate_repairing(said: str) -> float:
    """How likely the text, by itself, is to put something right that was said just before."""
    return load_text_sum("repairing").estimate(said, count_own_signs(said))


def count_own_signs(said: str) -> list[float]:
    """The signs of a text that may put something right."""
    return [min(30, _size(said)) / 10, float(len(PART.findall(said))) / 2, float(not said.isascii())]


def is_short(said: str) -> bool:
    """Whether the text is so short that it may put one value right and say no more."""
    return 0 < _size(said) <= (LONGEST_EN if said.isascii() else LONGEST_ZH)


def owns_slip(said: str) -> bool:
    """Whether the text says that something was said wrong, or how it is spelt."""
    return _OWNS_SLIP.search(said) is not None


def find_replacement(before: str, repair: str) -> Replacement | None:
    """The likeliest pair of phrases; None where a text has none. Of a slip that is owned one pair must be meant."""
    old, new = read_phrases(before), read_phrases(repair)
    if not old.places or not new.places:
        return None
    odds = load_hidden_layer("replacement").score(count_signs(old, new, estimate_repairing(repair)))
    shares = share_out(odds, certain=owns_slip(repair))
    places = [(old.places[n // len(new.places)], new.places[n % len(new.places)]) for n in range(len(shares))]
    best, share = find_best(
        shares, lambda n: before[: places[n][0][0]] + repair[slice(*places[n][1])] + before[places[n][0][1] :]
    )
    return Replacement(*places[best], share)


def find_best(shares: Numbers, result: Callable[[int], str]) -> tuple[int, float]:
    """The likeliest, and its share with those of the others of the likeliest that come to the same text."""
    first = np.argsort(-shares)[:LIKELIEST].tolist()
    told = result(first[0])
    return first[0], float(sum(shares[n] for n in first if result(n) == told))


def share_out(odds: Numbers, *, certain: bool = False) -> Numbers:
    """How likely each pair is, of all and of none of them; where it is certain that one is meant, of all."""
    top = float(odds.max()) if certain else max(0.0, float(odds.max()))
    raised = np.exp(odds - top)
    return raised / (raised.sum() + (0.0 if certain else np.exp(-top)))


@of_texts(64)
def read_phrases(text: str) -> Phrases:
    """The phrases of the text, values first."""
    tokens = _tokens(text)
    ordered: dict[Span, None] = dict.fromkeys(place for place in spans(text) if _is_whole(text, place))
    for length in range(1, LONGEST + 1):
        for at in range(len(tokens) - length + 1):
            start, end = tokens[at][0], tokens[at + length - 1][1]
            if length > 1 and (PART.fullmatch(text[start:end]) is None or _INSIDE.search(text[start:end].lower())):
                continue
            edges = text[slice(*tokens[at])].lower(), text[slice(*tokens[at + length - 1])].lower()
            if not any(edge in STOPWORDS or _TELLS_NOTHING.fullmatch(edge) for edge in edges):
                ordered[start, end] = None
    places = tuple(ordered)[:MOST]
    words = [text[slice(*place)] for place in places]
    encode = load_static_encoder().encode
    vectors = np.stack([encode(word) for word in words]).astype(np.float64) if words else np.zeros((0, 1))
    lengths = np.asarray([float(_size(word)) for word in words])
    sorts = tuple(sort_of(word) for word in words)
    kinds = tuple(frozenset(sort for each in meanings.find_known_words(word) for sort in each.sorts) for word in words)
    return Phrases(text, places, vectors, sorts, kinds, lengths)


def _is_whole(text: str, place: Span) -> bool:
    """Whether no word of Latin letters or digits is cut at an edge: not the 4 of 4B, not the 40 of 7:40."""
    start, end = place
    if any(0 < at < len(text) and _is_latin(text[at - 1]) and _is_latin(text[at]) for at in place):
        return False
    return not (_INSIDE_NUMBER.search(text[:start]) and text[start].isdigit()) and not (
        text[end - 1].isdigit() and _GOES_ON.match(text, end)
    )


def _is_latin(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()


def _tokens(text: str) -> list[Span]:
    tokens = [match.span() for match in _LATIN.finditer(text)]
    for run in _HAN.finditer(text):
        at = run.start()
        for word in segment.words(run[0]):
            tokens.append((at, at + len(word)))
            at += len(word)
    return sorted(tokens)


def _size(text: str) -> int:
    return len(text.split()) if text.isascii() else len(text.strip())


def count_signs(old: Phrases, new: Phrases, likely: float) -> Numbers:
    """The signs of each phrase of `old` beside each of `new`: a row a pair, those of one old phrase together."""
    shape = (len(old.places), len(new.places))
    olds, news = old.words, new.words
    near = old.vectors @ new.vectors.T
    before, after = old.text.lower(), new.text.lower()
    clause = PART.search(new.text)
    first, begin = (clause.end(), clause.start()) if clause else (len(new.text), 0)
    around = (
        [list_beside(old.text, place) for place in old.places],
        [list_beside(new.text, place) for place in new.places],
    )
    numbers = [any(map(_is_digit, word)) for word in olds], [any(map(_is_digit, word)) for word in news]
    names = [_is_name(old.text, place) for place in old.places], [_is_name(new.text, place) for place in new.places]
    same_behind = _equal([word[-1] for word in olds], [word[-1] for word in news])
    same_behind |= _equal([behind for _, behind in around[0]], [behind for _, behind in around[1]])
    one_sort = _equal(old.sorts, new.sorts)
    of_old = {
        "length_old": np.minimum(old.lengths, 6),
        "old_denied": [is_denied(after, word) for word in olds],
        "old_said": [word in after for word in olds],
        "late": [start / max(1, len(old.text)) for start, _ in old.places],
    }
    of_new = {
        "length_new": np.minimum(new.lengths, 6),
        "new_denied": [is_denied_at(after, place[0]) for place in new.places],
        "new_known": [word in before for word in news],
        "covers": [(end - start) / max(1, first) if end <= first else 0.0 for start, end in new.places],
        "begins": [start == begin for start, _ in new.places],
        "ends": [new.text[end:].lstrip()[:1] in ",，.。;；!！…" for _, end in new.places],
    }
    signs = {
        "likely": math.log(max(1e-3, likely) / max(1e-3, 1 - likely)),
        "near": near * 2,
        "one_sort": one_sort,
        "other_sort": np.asarray(old.sorts)[:, None] != np.asarray(new.sorts)[None, :],
        "one_meaning": _share_any(old.meanings, new.meanings),
        "both_names": np.outer(names[0], names[1]),
        "both_numbers": np.outer(numbers[0], numbers[1]),
        "letters": _share_letters(olds, news),
        "length_differs": np.minimum(4, np.abs(old.lengths[:, None] - new.lengths[None, :])),
        **{name: np.asarray(numbers, np.float64)[:, None] for name, numbers in of_old.items()},
        **{name: np.asarray(numbers, np.float64)[None, :] for name, numbers in of_new.items()},
        "same_before": _equal([word for word, _ in around[0]], [word for word, _ in around[1]]),
        "same_behind": same_behind,
        "words": min(30, _size(new.text)) / 10,
        "nearest_old": near == near.max(axis=0, keepdims=True),
        "nearest_new": near == near.max(axis=1, keepdims=True),
        "same": _equal(olds, news),
    }
    columns = [np.broadcast_to(np.asarray(signs[name], np.float64), shape) for name in SIGNS]
    return np.stack(columns, axis=-1).reshape(-1, len(SIGNS))


def _equal(one: Sequence[str], other: Sequence[str]) -> NDArray[np.bool_]:
    """For each two whether they are the same, and not empty."""
    first, second = np.asarray(one)[:, None], np.asarray(other)[None, :]
    return np.asarray((first == second) & (first != ""))


def _share_any(one: Sequence[frozenset[str]], other: Sequence[frozenset[str]]) -> NDArray[np.bool_]:
    """For each two sets whether they have anything in common."""
    first, second = _mark(one, other)
    return np.asarray(first @ second.T > 0)


def _share_letters(one: Sequence[str], other: Sequence[str]) -> Numbers:
    """For each two words how many pairs of letters both have, of all; of single letters whether they are the same."""
    first, second = _mark(*([_pairs_of(word) for word in words] for words in (one, other)))
    return 2 * (first @ second.T) / (first.sum(axis=1)[:, None] + second.sum(axis=1)[None, :])


def _mark(one: Sequence[frozenset[str]], other: Sequence[frozenset[str]]) -> tuple[Numbers, Numbers]:
    """A row a set, a column a member of any."""
    every = {member for members in (*one, *other) for member in members}
    at = {member: place for place, member in enumerate(sorted(every))}
    marked = np.zeros((len(one), len(at))), np.zeros((len(other), len(at)))
    for rows, sets in zip(marked, (one, other), strict=True):
        for row, members in zip(rows, sets, strict=True):
            row[[at[member] for member in members]] = 1.0
    return marked


def _pairs_of(word: str) -> frozenset[str]:
    return frozenset(word[at : at + 2] for at in range(max(1, len(word) - 1)))


def _is_digit(letter: str) -> bool:
    return letter.isdigit() or letter in "一二两三四五六七八九十百千万半"


def _is_name(text: str, place: Span) -> bool:
    return text[place[0]].isascii() and text[place[0]].isupper()


def list_beside(text: str, place: Span) -> tuple[str, str]:
    """The word or character on both sides of a place, empty at an edge of a clause."""
    before = re.search(r"(?:[a-z'’]+ ?|[\u3400-\u9fff])$", text[: place[0]].lower())
    behind = re.match(r"(?: ?[a-z'’]+|[\u3400-\u9fff])", text[place[1] :].lower())
    return before[0].strip() if before else "", behind[0].strip() if behind else ""
