"""Secrets of several words or spelled out: recovery phrases, passphrases, combinations, digits as words."""

import re
from collections.abc import Iterator

from shared.language.patterns import to_pattern
from shared.language.segment import ENGLISH_STOPWORDS
from shared.secrets.model import SecretHit

_WORDY = (
    "seed",
    "recover",
    "mnemonic",
    "back",
    "wallet",
    "metamask",
    "ledger",
    "phrase",
    "words",
    "助记",
    "恢复",
    "钱包",
    "种子",
    "短语",
    "单词",
)
_LATIN = to_pattern(
    r"(?<![A-Za-z])(?:\d{1,2}[.):]? ?)?[a-z]{3,8}(?:(?:[ ,\n]|, |\s{0,2}\d{1,2}[.):]? ?){1}(?:\d{1,2}[.):]? "
    r"?)?[a-z]{3,8}){10,23}(?![A-Za-z])"
)
_APART = to_pattern(r"[ 、,，\u3000][\u4e00-\u9fff][ 、,，\u3000]")
_HAN = to_pattern(r"(?<![\u3400-\u9fff])[\u4e00-\u9fff](?:[ 、,，\u3000][\u4e00-\u9fff]){11,23}(?![\u4e00-\u9fff])")


_CALLED = frozenset(
    ("seed", "phrase", "words", "recovery", "backup", "mnemonic", "wallet", "secret", "are", "following")
)


def recovery_words(low: str) -> Iterator[SecretHit]:
    """Runs of twelve to twenty-four unconnected words in a text that mentions such a phrase."""
    if any(sign in low for sign in _WORDY):
        for match in _LATIN.finditer(low):
            words = re.findall(r"[a-z]{3,8}", match.group())
            start = match.start()
            while words and words[0] in _CALLED:
                start = low.index(words.pop(0), start)
                start = low.index(words[0], start + 3) if words else match.end()
            if (
                len(words) >= 11
                and sum(word in ENGLISH_STOPWORDS for word in words) <= 1
                and len(set(words)) >= len(words) - 2
            ):
                yield SecretHit("password", start, match.end())


def single_characters(text: str) -> Iterator[SecretHit]:
    """Twelve to twenty-four separate Chinese characters: a recovery phrase, whatever it is called."""
    if not text.isascii() and _APART.search(text):
        for match in _HAN.finditer(text):
            yield SecretHit("password", match.start(), match.end())


def turns(low: str) -> Iterator[SecretHit]:
    """Three or more dial turns in a text that mentions a lock."""
    if ("left" in low or "左" in low) and _A_TURN.search(low) and _DIAL.search(low):
        for match in _TURNS.finditer(low):
            yield SecretHit("code", match.start(), match.end())


_A_TURN = to_pattern(r"(?:left|\bl|左)\D{0,4}\d|\d (?:to the )?left")
_DIAL = to_pattern(r"safe|lock|vault|dial|保险|转盘|箱|柜|锁")
_TURNS = to_pattern(
    r"(?:(?:right|left|clockwise|anticlockwise|[rl]|[左右])(?: to)?[转到拧]{0,2} ?\d{1,2}\b[圈格]?[ "
    r",，、;.-]{0,3}(?:then |and |再|到|back )?){3,8}"
    r"|(?:\d{1,2} (?:to the )?(?:right|left)[ ,;]{0,3}(?:then |and )?){3,8}"
)
_DIGIT = r"(?:zero|oh|o|one|two|three|four|five|six|seven|eight|nine|double|triple|hash|star|pound)"
_TIMES = r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve|\d)"
_HAN_DIGIT = r"[\d零〇一二三四五六七八九幺两]"
SPELLED = to_pattern(
    rf"{_DIGIT}(?:(?:[ ,-]|, ){_DIGIT}){{2,15}}(?![a-z])|{_TIMES} (?:\d|zero|one|two|three|four|five|sixe?|seven|"
    rf"eight|nine)'?e?s(?![a-z])"
    rf"(?:,? (?:and|then) {_TIMES} (?:\d|zero|one|two|three|four|five|sixe?|seven|eight|nine)'?e?s(?![a-z]))*"
    rf"|(?:1|one) (?:through|to|thru) (?:\d|six|eight|nine)(?![a-z\d])"
    rf"|"
    rf"(?:[两二三四五六七八九十2-9]个{_HAN_DIGIT}(?!\d)(?:[加和跟、，后接再]{{0,3}}[一两二三四五六七八九1-9]个{_HAN_DIGIT}(?!\d))*)"
    r"|[零〇一二三四五六七八九幺洞拐]{4,12}(?![十百千万亿个年月天次位])|[一1]到[六八九689]",
    re.I,
)
"""Digits as words."""
COMBINATION = to_pattern(
    r"(?:(?:[RLrl]|[左右]|right|left|clockwise|counter-?clockwise|顺时针|逆时针|顺|逆)(?: to)?[转到拧]{0,2} "
    r"?\d{1,2}(?:圈|格)?(?:[ ,，、;-]|then|再|到|—|→| and ){0,5}){2,8}"
    r"|\d{1,2}(?: ?[-–/] ?\d{1,2}){2,8}(?!\d|-\d)|\d{1,2} (?:right|left)(?:[, ]+(?:then )?\d{1,2} (?:right|left)){1,5}"
    r"|\d(?:(?:[ ,，、]|\s?(?:再按?|然后|then)\s?)\d){2,11}(?!\d)",
    re.I,
)
"""The turns of a dial, the dots of a pattern, separated digits."""
