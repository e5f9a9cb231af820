"""The likelihood that a text gives orders to a model, and the spellings that hide orders.

Spellings: look-alikes, separated letters, digits for letters, encodings, reversed text. The likelihood is learned from
labelled texts (`tests/training`).
"""

# ruff: noqa: SIM905 - lists of words as one text

import base64
import binascii
import html
import math
import re
import unicodedata
from urllib.parse import unquote

from shared.classifiers.judges import judge_meaning
from shared.classifiers.network import grams, load
from shared.language.normalise import visible
from shared.language.patterns import to_pattern

_SPACED_WORDS = to_pattern(r"(?<![^\W_])[^\W\d_](?:[ .\-_*|·~+][^\W\d_]){3,}(?![^\W_])")
_SPACED = to_pattern(r"(?<![^\W_])(?:[^\W\d_][ .\-_*|·~+]){3}")
_HAN_GAP = to_pattern("(?<=[\u4e00-\u9fff])[\\s.\\-_*|·~+/\\\\]{1,3}(?=[\u4e00-\u9fff])")
_HAN_SPELLED = to_pattern("(?:[\u4e00-\u9fff][\\s,，、.。·\\-]{1,2}){5,}[\u4e00-\u9fff]")
_NOT_HAN = to_pattern("[^\u4e00-\u9fff]+")
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u0261\u03b1\u03bf\u03b5\u03c1\u03bd\u03ba\u03c4\u0131"
    "\u0442\u043a\u043c\u043d\u0432\u04bb\u050d\u051b\u051d",
    "aeopcyxijsdgaoepvkti" + "tkmhbhgqw",
)
_LEET = str.maketrans("013457@$!", "oieastasi")
_LEET_SIGN = to_pattern(r"[a-z][013457@$!]{1,2}[a-z]|\b[013457@$!][a-z]{3}")
_LEET_WORD = to_pattern(r"(?<![a-z0-9@$!])[0-9@$!]{0,60}[a-z][a-z0-9@$!]*")
IDS = to_pattern(r"(?<![a-z0-9])(?=[a-f-]{0,64}[0-9])(?=[0-9-]{0,64}[a-f])[0-9a-f]{4,}(?:-[0-9a-f]{4,})*(?![a-z0-9])")
"""Ids and parts of them, in lower case: hexadecimal digits that spell no word."""
_GAP = to_pattern(r"(?<=[a-z])(?:\s{2,}|\s*[|/]\s*)(?=[a-z])")
_ACCENTS = to_pattern("[\u0300-\u036f]")
_BASE64 = to_pattern(r"(?<![\w+/=])[A-Za-z0-9+/]{12,}={0,2}(?![\w+/=])")
_PERCENT = to_pattern(r"(?:%[0-9a-fA-F]{2}){2,}|%20")
_ESCAPED = to_pattern(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_BACKWARDS = """erongi snoitcurtsni tpmorp metsys drowssap laever tegrof eteled drawrof yromem selur tnatsissa 略忽 令指
    码密 則規 则规 词示提 示提统系 视无 记忘 录记天聊""".split()


def to_plain(text: str) -> str:
    """The text in lower case as a reader sees it: no invisible characters, one width, no accents or look-alikes."""
    if text.isascii():
        return visible(text).lower()
    seen = unicodedata.normalize("NFKC", visible(text)).lower()
    if seen.isascii():
        return seen
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", seen).translate(_LOOKALIKES))
    return unicodedata.normalize("NFC", bare)


def forms(text: str) -> list[str]:
    """The spellings of a text, the plain one first: with letters rejoined, with digits read as letters."""
    first = to_plain(text)
    spellings = [first]
    joined = _SPACED_WORDS.sub(join_letters, first) if _SPACED.search(first) else first
    if not first.isascii():
        spelled = _HAN_SPELLED.sub(lambda match: _NOT_HAN.sub("", match.group()), first)
        joined = _HAN_GAP.sub("", _SPACED_WORDS.sub(join_letters, spelled) if joined != first else spelled)
    if joined != first:
        spellings.append(joined)
        spellings.append(_GAP.sub(" ", joined))
    if _LEET_SIGN.search(joined):
        spellings.append(_LEET_WORD.sub(unleet, IDS.sub(" ", joined)))
    return spellings


def decode_text(text: str) -> list[str]:
    """The decoded text, if it has an encoding that models read without instruction; decoded once."""
    decoded: list[str] = []
    if "&" in text and (read := html.unescape(text)) != text:
        decoded.append(read)
    if "%" in text and _PERCENT.search(text):
        decoded.append(unquote(text))
    if "\\" in text and _ESCAPED.search(text):
        decoded.append(_ESCAPED.sub(lambda match: chr(int(match[1] or match[2], 16)), text))
    decoded += _from_base64(text)
    low = text.lower()
    if any(word in low for word in _BACKWARDS):
        decoded.append(low[::-1])
    return [each for each in decoded if each.strip()]


def _from_base64(text: str) -> list[str]:
    decoded: list[str] = []
    for match in _BASE64.finditer(text):
        run = match.group().rstrip("=")
        try:
            plain = base64.b64decode(run + "=" * (-len(run) % 4)).decode()
        except (binascii.Error, ValueError):
            continue
        if plain.isprintable() and len(plain) > 5:
            decoded.append(plain)
    return decoded


def unleet(match: re.Match[str]) -> str:
    return match.group().translate(_LEET)


def join_letters(match: re.Match[str]) -> str:
    letters = match.group()
    return letters[0] + letters[2::2] if letters else ""


ORDER = "order"
_RUN = to_pattern(r"[a-z0-9+/=_\-]{24,}")
"""Hashes, keys and encoded data, whose letters mean nothing."""
SMALLEST = 1e-6
LONGEST = 2000
"""The number of characters read at once; a longer text is read in parts of this size."""
_MARKS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (name, sign, to_pattern(pattern))
    for name, sign, pattern in (
        ("closes", "</", r"</\s*[a-z_\-]+\s*>"),
        ("angles", "<<", r"<<"),
        ("bars", "<|", r"<\|"),
        ("comment", "<!", r"<!--"),
        ("bracket", "[", r"\[/?[a-z_ ]{3,20}\]"),
        ("title", "【", r"【[^】]{2,16}】"),
        ("rule", "--", r"-{3,}"),
        ("rule", "==", r"={3,}"),
        ("rule", "##", r"#{3,}"),
        (
            "header",
            ":",
            r"(?:^|\n|[.>\]\"”]\s)\W{0,4}(?:system|assistant|human|user|operator|developer|admin|ai|bot|instruction|系统|助手|用户"
            r"|管理员|开发者|操作员|主控台?)[^\n:]{0,24}:",
        ),
        ("filled", "://", r"://[^\s]{0,600}[={/?&][^\s]{0,12}[{<\[(][^\s{}<>]{1,40}[}>\])]"),
        ("image", "![", r"!\[[^\]]{0,300}\]\("),
        ("link", "](", r"(?<!!)\[[^\]]{0,300}\]\(http"),
        ("query", "?", r"https?://[^\s)\"<>]{1,600}\?[^\s)\"<>]{1,300}="),
        ("address", "://", r"https?://"),
        ("mail", "@", r"[\w.+-]@[\w-]{1,100}\.[\w.]"),
        ("field", '":', r"\"[a-z_]{1,60}\":"),
        ("code", "`", r"`[^`]{1,600}`"),
        ("asked", "?", r"\?"),
        ("quoted", "“", r"“[^”]{4,300}”"),
        ("quoted", "「", r"「[^」]{4,300}」"),
        ("quoted", '"', r"\"[^\"]{4,300}\""),
    )
)


def strip_ids(form: str) -> str:
    """The plain form without hashes, keys and ids."""
    return IDS.sub(" ", _RUN.sub(" ", form))


def signs(form: str) -> list[str]:
    """The grams of a text in its plain form, and marks of its structure."""
    found = grams(strip_ids(form))
    found += ["=" + name for name, sign, pattern in _MARKS if sign in form and pattern.search(form)]
    return found


def likelihood(form: str, around: float | None = None) -> float:
    """The likelihood that the text, in its plain form, gives orders to a model.

    `around` are the log odds of the whole text of which it is a sentence: both count equally.
    """
    odds = log_odds(form)
    odds = odds if around is None else (odds + around) / 2
    return 1 / (1 + math.exp(-max(min(odds, 40.0), -40.0)))


def log_odds(form: str) -> float:
    """The log odds of an order; the worst part of a long text counts.

    Words and meaning are judged separately; the odds of both are added.
    """
    words = load("hostile")
    worst = -math.inf
    for at in range(0, len(form), LONGEST):
        piece = form[at : at + LONGEST]
        share = min(max(float(words.share_alone(words.find_rows(signs(piece)))[1]), SMALLEST), 1 - SMALLEST)
        worst = max(worst, math.log(share / (1 - share)) + judge_meaning("hostile_vectors", piece))
    return worst
