"""The tokens with vectors, their probabilities, and the tokenizer for the most likely segmentation."""

import json
import math
import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import rjieba
from tokenizers import Tokenizer, models, normalizers

ENGLISH, CHINESE = 17_000, 12_500
"""Words per language; with some 4,500 single characters they stay below 10 MB at 256 numbers each."""
UNKNOWN = "[UNK]"
_HAN = re.compile(r"[一-鿿]")
_HAN_WORD = re.compile(r"[一-鿿]{2,}")
_LATIN_WORD = re.compile(r"[a-z]+")
_NAMES = ("nr", "nt", "nz", "m")
"""Parts of speech of the dictionary that are names of people and organisations, or numbers."""
LIKELY_ALONE = 0.1
"""The factor by which a single character is less likely than one in a word."""
LETTER = -14.0
"""The logarithm of the probability of a single letter, used if no word matches."""


def is_han(token: str) -> bool:
    """Whether the token is Chinese."""
    return _HAN.search(token) is not None


def latin_words(tokenizer: Path) -> list[str]:
    """The whole words of an encoder's vocabulary, the most frequent first, according to its order."""
    return [piece for piece in _pieces(tokenizer) if _LATIN_WORD.fullmatch(piece)]


def han_characters(tokenizer: Path) -> list[str]:
    """The characters of an encoder's vocabulary."""
    return [piece for piece in _pieces(tokenizer) if _HAN.fullmatch(piece)]


def _pieces(tokenizer: Path) -> list[str]:
    vocabulary: dict[str, int] = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    return sorted(vocabulary, key=vocabulary.__getitem__)


def read_dictionary(path: Path) -> dict[str, int]:
    """The frequency of each Chinese word of two to four characters, without names and numbers."""
    known: dict[str, int] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        word, count, kind = line.split()
        if len(word) <= 4 and _HAN.match(word) and (len(word) == 1 or not kind.startswith(_NAMES)):
            known[word] = int(count)
    return known


def choose_words(
    latin: Sequence[str],
    characters: Sequence[str],
    english: Sequence[str],
    chinese: Sequence[str],
    dictionary: Mapping[str, int],
) -> dict[str, float]:
    """The tokens, each with the logarithm of its probability, from the sentences and from general frequency."""
    return {**_english(latin, english), **_chinese(characters, chinese, dictionary)}


def _english(latin: Sequence[str], sentences: Sequence[str]) -> dict[str, float]:
    met = Counter(word for line in sentences for word in _LATIN_WORD.findall(line.lower()))
    whole = sum(met.values()) + 2e5
    rank = {word: n for n, word in enumerate(latin, 1)}
    best = sorted(latin, key=lambda word: (met[word] < 2, rank[word]))[:ENGLISH]
    scores = {word: math.log((met[word] + 2e4 / (rank[word] + 50)) / whole) for word in best}
    more = [word for word, count in met.most_common() if word not in rank and count >= 4 and len(word) > 2]
    scores |= {word: math.log((met[word] + 1) / whole) for word in more}
    return dict.fromkeys(string.ascii_lowercase + string.digits, LETTER) | scores


def _chinese(characters: Sequence[str], sentences: Sequence[str], dictionary: Mapping[str, int]) -> dict[str, float]:
    met = Counter(word for line in sentences for word in _words(line))
    single = Counter(each for line in sentences for each in _HAN.findall(line))
    here, there = sum(met.values()) + 0.3 * sum(single.values()), sum(dictionary.values())

    def likely(word: str) -> float:
        return 0.5 * met[word] / here + 0.5 * dictionary.get(word, 0) / there

    words = {word for word, count in met.items() if count >= 3} | {word for word in dictionary if len(word) > 1}
    best = sorted(words, key=lambda word: (-likely(word), word))[:CHINESE]
    scores = {word: math.log(max(likely(word), 1e-9)) for word in best}
    used = [each for each in characters if single[each] or dictionary.get(each, 0) >= 100]
    return scores | {each: math.log(max(LIKELY_ALONE * single[each] / here, 3e-8)) for each in used}


def _words(line: str) -> Iterator[str]:
    return (word for word in rjieba.cut(line) if _HAN_WORD.fullmatch(word))


def make_tokenizer(scores: Mapping[str, float]) -> Tokenizer:
    """Splits a text into the most likely tokens; text between them is one unknown token."""
    vocabulary = [(UNKNOWN, -30.0), *((token, round(score, 2)) for token, score in scores.items())]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=0, byte_fallback=False))
    plain = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    tokenizer.normalizer = normalizers.Sequence(plain)  # pyright: ignore[reportAttributeAccessIssue] # the stub has no setter
    return tokenizer
