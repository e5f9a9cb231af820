"""Whether the text near the name of a secret is its value."""

import re

from shared.language.patterns import to_pattern
from shared.language.segment import ENGLISH_STOPWORDS
from shared.secrets.gap import Gap
from shared.secrets.lexicon import ARTICLES, NO_WORD, PLACES
from shared.secrets.values import is_call, is_hash, is_placeholder, is_varied, look, look_alike, looks_generated

_UNIT = to_pattern(
    r"\s?-?(?:[位个次天秒分年月号点块元条种遍版款集季期届名人台小多以余平米斤度岁层楼轮]|%|％|characters?|chars?|"
    r"digits?|"
    r"letters?|times?\b|attempts?|days?|hours?|min(?:ute)?s?\b"
    r"|sec(?:ond)?s?\b|weeks?|months?|years?|percent|dollars|bucks|users?|accounts?|sites?|people|devices?|bits?\b|"
    r"bytes?|words?|tokens?|steps?"
    r"|st\b|nd\b|rd\b|th\b|errors?\b|ms\b|ways?\b|options?|fields?|requests?|calls?|per\b|/)",
    re.I,
)
_NO_COUNT = to_pattern(r"\s*(?:$|[^\u3400-\u9fff\s]|[加再就然后井键进开按即可])")
_MEANING = to_pattern(r"什么|啥|mean|\?|？")
_YEAR = to_pattern(r"(?:19|20)\d\d")
_ENDINGS = to_pattern(r"(?:ed|ing|able|ible|ive|ly|less|ful|ous|tion|ment|'s|n't|'t|'re|'ll|'ve)$")
_CLOSES = to_pattern(
    r"\s*(?:$|\n|[,，.。;；!！)）(（、…\"'”’—–|~]|[-]\s|[\u3400-\u9fff]|[\U0001f300-\U0001faff]|(?:and|but|btw|lol|"
    r"haha|if|for"
    r"|in case|with|all|no|so|thanks|thx|please|pls|both|capital|"
    r"lower\w*|upper\w*|don'?t|can|could|just|i|you|,)\b)",
    re.I,
)


def unit_behind(text: str, end: int) -> bool:
    """Whether the digits that end here are a count or a measurement."""
    return bool(_UNIT.match(text, end)) and not re.match(r"\s?(?:个\d|号[码]|点[击开])", text[end : end + 4])


def admits(sort: str, value: str, gap: Gap, text: str, end: int, *, quoted: bool = False) -> bool:
    """Whether the value matches this kind of name, given the words between and after them."""
    if is_placeholder(value) and not (
        value.lower() in ("admin", "test", "root", "secret") and gap.direct and sort == "pass" and len(value) > 9
    ):
        return False
    if is_hash(value) or (not quoted and re.search(r"[(\[]", value) and is_call(value)):
        return False
    if not quoted and re.match(r"[A-Za-z_]\w*=", value):
        return False
    if sort == "login" and not gap.linked and not gap.bare:
        return False
    if sort == "site":
        return _distinct(value, gap)
    if gap.bare and sort in ("pass", "login"):
        return is_bare(sort, value, gap, text, end)
    seen = look(value)
    if seen is None:
        return False
    if sort == "token":
        return _token(value, gap, quoted=quoted)
    if seen == "digits":
        return _digits(sort, value, gap, text, end)
    if sort in ("code", "lock"):
        return _code(sort, value, gap, text, end)
    if sort == "answer":
        return (
            gap.linked and gap.direct and (seen in ("mixed", "signed") or _word(value, gap, text, end, quoted=quoted))
        ) or (quoted and gap.linked)
    near = gap.direct and (gap.linked or not gap.words)
    if near and not gap.hops and re.fullmatch(r"[a-z]{16}", value):
        return True
    if seen == "mixed":
        if value.lower().startswith(("http://", "https://")) or (
            look_alike(value) and not (near and gap.linked and not value.isdigit() and _odd(value))
        ):
            return False
        if gap.blocked and not (gap.linked and gap.direct):
            return False
        least = (4 if gap.linked or gap.zh else 6) if near else 6 if gap.linked or gap.words <= 3 else 8
        return len(value) >= least and bool(re.search(r"[A-Za-z]", value) or near)
    if seen == "signed":
        return near and len(value) >= 6 and not look_alike(value) and not gap.blocked and (gap.linked or _odd(value))
    if near and gap.zh and not gap.linked and not quoted and not gap.hops:
        closed = len(value) >= 12 or re.match(r"\s*(?:$|[，,。.;；!！)）\n])", text[end : end + 3])
        return bool(closed) and _word(value, gap, text, end, quoted=quoted)
    return near and not gap.blocked and (gap.linked or quoted) and _word(value, gap, text, end, quoted=quoted)


def is_bare(sort: str, value: str, gap: Gap, text: str, end: int) -> bool:
    """Whether an ambiguous word (a pass, an admin) refers to a password here."""
    seen = look(value)
    if look_alike(value) or gap.blocked or (gap.words > 1 and not gap.marked) or gap.hops or not gap.direct:
        return False
    if seen == "mixed":
        return len(value) >= 6 and (
            gap.linked or bool(re.search(r"[@#$%^&*_+!~]|[a-z]{3,}\d{2,}|[a-z]-[a-z]+-?\d", value))
        )
    if seen == "signed":
        return gap.linked and len(value) >= 6 and value[0] != "_" and bool(re.search(r"[#$%^&*+!~]", value))
    if seen == "word":
        return gap.marked and sort == "pass" and _word(value, gap, text, end, quoted=False)
    return (
        gap.linked
        and sort == "pass"
        and value.isdigit()
        and not unit_behind(text, end)
        and len(value) in (4, 6, 8)
        and gap.last not in PLACES
    )


def _distinct(value: str, gap: Gap) -> bool:
    """Whether the value can only be a password: letters, digits and signs, no address, version or mention."""
    if gap.linked and gap.last.endswith(("用", "输", "输入", "填", "use", "enter")):
        return not gap.blocked and len(value) >= 8 and look(value) == "mixed" and not look_alike(value)
    value = value.rpartition("/")[2] if value.count("/") == 1 else value
    return (
        not gap.blocked
        and 7 <= len(value) <= 40
        and bool(
            re.search(r"[A-Za-z]", value)
            and re.search(r"\d", value)
            and re.search(r"[@#$%^&*!]|[a-z][_-][A-Z]|[A-Z][a-z]+[_-][a-z]+\d", value[1:])
        )
        and not look_alike(value)
        and (gap.zh or not re.fullmatch(r"[\w.-]+#\d{1,4}", value))
        and not re.search(r"@[\w-]+\.|@\d+\.|[=?/]", value)
    )


def _odd(value: str) -> bool:
    return (
        bool(re.search(r"[@#$%^&*_+!~]", value)) or len(value) >= 10 or bool(re.fullmatch(r"[A-Za-z]{3,}\d{3,}", value))
    )


def _token(value: str, gap: Gap, *, quoted: bool) -> bool:
    if re.match(r"https?:|v\d+\.", value, re.I) or (gap.crossed and not gap.linked):
        return False
    value = value.removeprefix("0x")
    if re.fullmatch(r"[0-9a-f]{7,31}", value) and not gap.linked and gap.words:
        return False
    least = 8 if gap.linked and gap.direct else 12 if gap.words <= 3 else 16
    if quoted and gap.linked and look(value) == "mixed" and len(value) >= 6 and not look_alike(value):
        return True
    if gap.shown and (gap.linked or gap.words <= 2) and re.fullmatch(r"(?=[A-Z0-9]*\d)[A-Z0-9]{5,8}", value):
        return True
    if re.fullmatch(r"[A-Za-z+/=_-]{16,}", value):
        return (
            gap.direct
            and bool(re.search(r"[a-z]", value) and re.search(r"[A-Z]", value))
            and not re.search(r"[a-z]{6}", value)
        )
    if not gap.linked and re.fullmatch(r"[A-Za-z_]\w*(?:[.:]+[A-Za-z_]\w*)+", value) and not is_varied(value):
        return False
    return (
        looks_generated(value, least)
        and (not look_alike(value) or is_varied(value))
        and (not value.isdigit() or gap.direct)
    )


def _digits(sort: str, value: str, gap: Gap, text: str, end: int) -> bool:
    count = sum(char.isdigit() for char in value)
    if (
        gap.blocked
        or gap.owned
        or gap.last in PLACES
        or unit_behind(text, end)
        or not 3 <= count <= (12 if gap.linked else 10)
    ):
        return False
    if sort == "login":
        return gap.linked and gap.direct and count >= 4
    if gap.crossed and not gap.linked:
        return False
    if sort == "lock":
        if value[-1] in "#*" and gap.words <= 3:
            return True
        if not gap.linked and not gap.words and gap.opens:
            return (
                (3 if gap.short else 4) <= count <= 8
                and not _YEAR.fullmatch(value)
                and bool(_CLOSES.match(text, end) and _NO_COUNT.match(text, end))
            )
        return gap.linked and gap.direct and count >= (3 if gap.short else 4) and gap.words <= 8
    if gap.linked and gap.direct:
        return (count > 3 or sort == "code" or gap.short or gap.marked) and (
            not gap.bare or bool(_CLOSES.match(text, end) and not _MEANING.search(text, end, end + 16))
        )
    if _YEAR.fullmatch(value) and (gap.words or not gap.direct):
        return False
    least = 3 if gap.shown or gap.short or (gap.linked and sort == "code") else 4
    return count >= least and gap.words <= (8 if gap.linked or gap.zh else 4)


def _code(sort: str, value: str, gap: Gap, text: str, end: int) -> bool:
    """A code of letters and digits."""
    if sort == "lock" and gap.last == "with" and not gap.words and re.fullmatch(r"[A-Za-z]{3,20}\d{1,8}", value):
        return not look_alike(value)
    if sort == "lock" and not re.fullmatch(r"[#*]?[A-Za-z]?\d{3,8}[#*]", value):
        return False
    if not re.fullmatch(
        r"[A-Za-z0-9]{3,10}(?:-[A-Za-z0-9]{3,10}){0,3}[#*]?|[#*]\d{3,8}[#*]?|[A-Za-z]\d{2,8}[#*]|"
        r"\d{2,6}[A-Za-z]{1,3}\d{0,6}",
        value,
    ):
        return False
    if not any(c.isdigit() for c in value) or gap.blocked or gap.owned or unit_behind(text, end):
        return False
    if look_alike(value) and not re.fullmatch(r"[A-Z0-9]{4,10}", value):
        return False
    return (gap.linked and gap.direct) or (not gap.bare and len(value) >= 4 and gap.words <= 3 and not gap.crossed)


def describes(word: str) -> bool:
    """Whether the lower-case word describes a quality."""
    return word in NO_WORD or (bool(_ENDINGS.search(word)) and 5 < len(word) < 14)


def _word(value: str, gap: Gap, text: str, end: int, *, quoted: bool) -> bool:
    """A password that is an ordinary word, in an unambiguous context."""
    low = value.lower().strip(".,!?")
    if len(low) < 4 or low in NO_WORD or low in ENGLISH_STOPWORDS or not value.isascii():
        return False
    if quoted:
        return gap.linked or (not gap.words and not gap.crossed)
    if gap.zh or gap.last[-1:] >= "\u3400":
        return gap.hops == 0
    if gap.last in ARTICLES:
        return False
    if describes(low):
        return False
    return bool(_CLOSES.match(text, end))
