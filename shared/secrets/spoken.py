"""Secrets in ordinary sentences: a word for one with its value beside it, recovery phrases, the turns of a dial."""

import re
from collections.abc import Iterator

from shared.language.patterns import to_pattern
from shared.language.segment import ENGLISH_STOPWORDS
from shared.secrets import names
from shared.secrets.before import BACK, find_before, find_unnamed_codes
from shared.secrets.behind import FORWARD, HAN_NAMES, MANY_SENSES, SEEDED, find_after
from shared.secrets.model import SecretHit, SecretKind

_BEYOND = 60
"""The additional length of a value that begins within a run of Chinese."""
_SORTS = {"zshort": "pass"}
_KINDS: dict[str, SecretKind] = {"code": "code", "lock": "code", "token": "token"}
_SHORT_NAMES = to_pattern(r"codes?|pass|pw|pwd?s?|keys?|tokens?|secrets?|log ?ins?|the code", re.I)
_WORD_NAMES = to_pattern(rf"{SEEDED.pattern}|{HAN_NAMES.pattern}", re.I)
"""Names whose value can be Chinese words."""
_HURRY = to_pattern(r"\d\d[^\n\d]{1,28}?(?:填|输|快|赶紧|马上|type|enter|put it|punch|hurry|quick|before it)")
_FIGURE = to_pattern("[0-9零一二三四五六七八九]")
_EN = names.SIGNS_EN + names.OPENERS_EN
_ZH = names.SIGNS_ZH + names.OPENERS_ZH
_BEGINS_ZH = to_pattern(f"[{''.join({sign[0] for sign in _ZH})}]")
_VALUE = to_pattern(r"[A-Za-z\d@#$%&!^*_+~\\零〇一二三四五六七八九十幺两洞拐左右顺逆\"'`“‘「『《]")
"""Characters of which every value has one, except Chinese words."""
_VALUE_AHEAD = to_pattern(r"[A-Za-z\d]")


def find_named(text: str, low: str) -> Iterator[SecretHit]:
    """Values named by a word for a secret; `low` is the text in lower case."""
    names_found = [match for window in _windows(low) for match in names.NAME.finditer(low, *window)]
    if _HURRY.search(low):
        yield from (SecretHit("code", *span) for span in find_unnamed_codes(text))
    made_up: bool | None = None
    for n, match in enumerate(names_found):
        name = match.lastgroup or ""
        sort = _SORTS.get(name, name.removeprefix("z"))
        if name[0] == "z" and is_bare(low, match, sort):
            continue
        if _other_sense(text, match, sort):
            continue
        until = next((later.start() for later in names_found[n + 1 : n + 7] if _parts(text, match, later)), len(text))
        for start, end, weak in (*find_after(text, match, sort, until), *find_before(text, match, sort)):
            if weak:
                if made_up is None:
                    made_up = bool(names.FICTION.search(text))
                if made_up and names.FICTION.search(text, max(0, match.start() - 100), end + 60):
                    continue
            yield SecretHit(_KINDS.get(sort, "password"), start, end)


def is_bare(low: str, name: re.Match[str], sort: str) -> bool:
    """Whether nothing near a Chinese name can be its value."""
    return (
        not _VALUE.search(low, name.end(), name.end() + FORWARD + _BEYOND)
        and not _VALUE_AHEAD.search(low, max(0, name.start() - BACK), name.start())
        and sort != "answer"
        and not _WORD_NAMES.search(name.group())
    )


def _windows(low: str) -> list[tuple[int, int]]:
    """The separate spans of the text that can contain a name, in order."""
    figures = bool(_FIGURE.search(low))
    latin = low
    signs: list[str] = []
    if not low.isascii():
        latin = low.encode("ascii", "ignore").decode()
        begins = set(_BEGINS_ZH.findall(low))
        signs = [sign for sign in (_ZH if figures else names.SIGNS_ZH) if sign[0] in begins]
    if len(latin) > 1:
        signs += [sign for sign in (_EN if figures else names.SIGNS_EN) if sign in latin]
    around: list[tuple[int, int]] = []
    for sign in signs:
        at = low.find(sign)
        while at >= 0:
            around.append((max(0, at - 26), at + len(sign) + 22))
            at = low.find(sign, at + len(sign))
    around.sort()
    apart: list[tuple[int, int]] = []
    for start, end in around:
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _parts(text: str, name: re.Match[str], later: re.Match[str]) -> bool:
    """Whether a later word is the name of what follows."""
    if (later.lastgroup or "").removeprefix("z") in ("lock", "login", "answer", "site"):
        return False
    if re.search(r"\b(?:for|of|to|on|in)\s+(?:[a-z']+\s+){0,2}$", text[name.end() : later.start()], re.I):
        return False
    return not re.fullmatch(r"[\s]*(?:and|&|/|和|跟|、|以及|,|，|the|\s)*", text[name.end() : later.start()])


def _other_sense(text: str, name: re.Match[str], sort: str) -> bool:
    """Whether the word means something else here: a zip code, a cache key, a topic of conversation."""
    before = text[max(0, name.start() - 16) : name.start()]
    plain = sort in ("code", "login", "lock") or name.group().lower() in MANY_SENSES
    if re.search(r"\$\{?\w*$", before):
        return True
    if plain and (re.search(r"\w[_.]$", before) or text[name.end() : name.end() + 1] == "("):
        return True
    if sort not in ("lock", "answer", "site") and names.TOPIC.match(text, name.end()):
        return True
    if sort == "code":
        return bool(_SHORT_NAMES.fullmatch(name.group()) and names.NOT_CODE.search(before)) or (
            name.group().lower().startswith("pin") and bool(re.search(r"gpio |\bto $|header ", before, re.I))
        )
    if sort == "token":
        return bool(names.NOT_KEY.search(before))
    return False


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


def find_recovery_words(low: str) -> Iterator[SecretHit]:
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


def find_single_characters(text: str) -> Iterator[SecretHit]:
    """Twelve to twenty-four separate Chinese characters: a recovery phrase, whatever it is called."""
    if not text.isascii() and _APART.search(text):
        for match in _HAN.finditer(text):
            yield SecretHit("password", match.start(), match.end())


def find_dial_turns(low: str) -> Iterator[SecretHit]:
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
