"""A value after the word for it: `the gate code is 4471`, `密码是 hunter22`."""

import re
from collections.abc import Iterator

from shared.language.patterns import to_pattern
from shared.language.segment import ENGLISH_STOPWORDS
from shared.secrets.gap import TOKEN, Gap
from shared.secrets.lexicon import ARTICLES, FILL, LINKS, OPENS_TALK
from shared.secrets.values import GROUPED, look
from shared.secrets.weigh import admits, describes, unit_behind

FORWARD = 120
"""The distance after its name within which a value is searched."""
SEEDED = to_pattern(r"助记|恢复|种子")
HAN_NAMES = to_pattern(r"口令|暗号|暗语|密语|passphrase|safe ?word|code ?word", re.I)
MANY_SENSES = frozenset(
    ("code", "codes", "pass", "root", "admin", "administrator", "2fa", "mfa", "verification", "sms")
)
_CLOSING = {"“": "”", "‘": "’", "「": "」", "『": "』", "《": "》"}
_BASE32 = to_pattern(r"(?:[A-Za-z2-7]{4}[ -]){3,15}[A-Za-z2-7]{2,4}(?![A-Za-z0-9])")
_LOCKS = to_pattern(r"lock|safe|vault|suitcase|luggage|case|cabinet|箱|柜|锁", re.I)
_SEVERAL_WORDS = to_pattern(
    r"[a-z]{2,10}(?:[ -][a-z]{2,10}){1,23}(?=\s*(?:[(（,.;!，。；)）\n\"'—-]|$|[\u3400-\u9fff]))"
)
_NUMERAL = to_pattern("[零〇一二三四五六七八九十幺两洞拐]")
_TURN = to_pattern("[左右顺逆]")
"""Without these, no spelled number and no dial combination begins within a run of Chinese."""
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
_SHOWN = to_pattern(r"令牌|cv[vcn]|csc|三位|on the back|steam guard")
_THREE = to_pattern(r"箱|锁|suitcase|luggage|\block\b|cv[vc]|exp|card|卡", re.I)
_HAN_WORDS = to_pattern(r"[\u3400-\u9fff]{1,6}(?:[ 、,，\u3000]{1,2}[\u3400-\u9fff]{1,6}){2,23}")
_OPENS = to_pattern(
    r"lock ?box|key ?safe|keypad|padlock|.*lock|.*safe|(?:解|开)锁|.*门.*|.*锁|锁屏|.*图案|.*柜子?|.*箱子?|车库", re.I
)
_HAN_MIXED = to_pattern(r"[\u4e00-\u9fff]{2,8}[A-Za-z0-9!@#$%&*_]{2,16}(?![\u4e00-\u9fff])")
_DESCRIBED = to_pattern(r"[是为成用改设换叫填输按位个次年月日号后前]|[有含]")
_HAN_VALUE = to_pattern(r"[\u3400-\u9fff]{2,14}[A-Za-z0-9!@#$%&*_]{0,16}")
_HAN_NO_VALUE = to_pattern(
    r"什么|多少|啥|哪|怎么|忘|不对|错|^没|不(?:对|是|行|能|用|会|要|知|记|好|变)|"
    r"^[很太给发要能在由用我你他她大跟和]|[的了吗呢吧]$|我们|大家|红包|游戏|"
    r"密码|验证|随机|默认|管理"
    r"|老样子|之前|以前|原来|同样|一样|手机|生日|名字|拼音|电话|那个|这个"
)


def find_after(text: str, name: re.Match[str], sort: str, until: int) -> Iterator[tuple[int, int, bool]]:
    """The spans after the name that are its value, and whether each is weak: plain words or digits."""
    gap, at = _open_gap(text, name, sort), name.end()
    stop = min(until, at + FORWARD)
    plural = bool(re.match(r"['’]?s\b", text[at : at + 3]))
    if plural:
        at += 2 if text[at] != "s" else 1
        gap.linked = text[at - 2 : at] in ("'s", "’s")
    while at < stop and gap.words <= 12:
        token = TOKEN.match(text, at)
        if token is None:
            return
        kind, at = token.lastgroup, token.end()
        match kind:
            case "line" | "stop":
                if not gap.stop(token.group()):
                    return
            case "mark":
                gap.mark()
            case "comma":
                gap.comma()
            case "dash" if sort == "login" and "/" in token.group():
                gap.linked = True
            case "blanked":
                return
            case "compared":
                gap.blocked, gap.direct = True, False
            case "open":
                span = find_quoted(text, name, token, gap)
                if span is None:
                    continue
                if _admits_quoted(text, span, sort, gap):
                    yield (*span, look(text[slice(*span)]) != "mixed")
                    return
                gap.words += 1
                at = span[1] + 1
            case "han" | "run":
                for span in _values(text, name, sort, gap, token):
                    yield span
                    if sort in ("code", "login", "lock"):
                        yield from find_listed(text, span, stop + 60)
                    return
            case _:
                pass
        at = max(at, token.end())


def _open_gap(text: str, name: re.Match[str], sort: str) -> Gap:
    """The initial gap after the name: what the name itself requires of its value."""
    label = name.group().lower()
    gap = Gap()
    gap.shown = bool(_SHOWN.search(label))
    gap.opens = bool(_OPENS.fullmatch(label))
    gap.linked = label.startswith(("opens ", "unlocks "))
    gap.last = "with" if gap.linked else ""
    gap.bare = label in MANY_SENSES
    gap.short = bool(_THREE.search(text, max(0, name.start() - 24), name.end())) and sort != "token"
    return gap


def _admits_quoted(text: str, span: tuple[int, int], sort: str, gap: Gap) -> bool:
    """Whether the quoted text is the value; after a direct connection Chinese words are one too."""
    value = text[slice(*span)]
    return admits(sort, value, gap, text, span[1], quoted=True) or (
        sort in ("pass", "answer")
        and gap.direct
        and gap.linked
        and 2 <= len(value) <= 60
        and not value.isascii()
        and _HAN_VALUE.fullmatch(value) is not None
        and not _HAN_NO_VALUE.search(value)
    )


def _weak(value: str) -> bool:
    """Whether the value may be invented for a story or an example."""
    return look(value) != "mixed" or len(value) < 8


def find_quoted(text: str, name: re.Match[str], token: re.Match[str], gap: Gap) -> tuple[int, int] | None:
    """The content of the quotes that open here; None if they do not close."""
    quote = token.group()
    if quote not in _CLOSING and text.count(quote, max(0, name.start() - 40), name.start()) % 2:
        gap.crossed = not gap.crossed
        return None
    end = text.find(_CLOSING.get(quote, quote), token.end(), token.end() + 80)
    if end <= token.end() or "\n" in text[token.end() : end]:
        return None
    return token.end(), end


def _values(
    text: str, name: re.Match[str], sort: str, gap: Gap, token: re.Match[str]
) -> Iterator[tuple[int, int, bool]]:
    """The value that begins in this token; otherwise the gap has consumed it."""
    at, run = token.start(), token.group()
    if token.lastgroup == "han":
        spelled = SPELLED.search(text, at, token.end() + 8) if _NUMERAL.search(run) else None
        if (
            spelled
            and spelled.start() < token.end()
            and sort in ("pass", "code", "lock")
            and not unit_behind(text, spelled.end())
        ):
            gap.han(text[at : spelled.start()])
            if not gap.blocked and (gap.linked or spelled.start() == name.end() or gap.words <= 2):
                yield spelled.start(), spelled.end(), True
                return
        combined = COMBINATION.search(text, at, token.end() + 40) if _TURN.search(run) else None
        if combined and combined.start() < token.end() and sort in ("lock", "code", "pass"):
            yield combined.start(), _trim(text, combined.start(), combined.end()), False
            return
        if SEEDED.search(name.group()) and gap.direct and (listed := _HAN_WORDS.match(text, at)):
            yield at, listed.end(), False
            return
        if gap.direct and (gap.linked or not gap.words) and (sort == "answer" or HAN_NAMES.search(name.group())):
            value = _HAN_VALUE.match(text, at)
            rest = re.match(r"(?:就)?(?:是|叫|为)", run)
            if rest and rest.end() < len(run):
                value = _HAN_VALUE.match(text, at + rest.end())
            if (
                value
                and (gap.linked or rest or name.group().endswith("答案"))
                and not _HAN_NO_VALUE.search(value.group())
            ):
                yield value.start(), value.end(), True
                return
        if sort == "pass" and gap.direct and at > name.end() and (gap.linked or not gap.words):
            value = _HAN_MIXED.match(text, at)
            if value and not _HAN_NO_VALUE.search(value.group()) and not _DESCRIBED.search(value.group()):
                yield value.start(), value.end(), True
                return
        gap.han(run)
        return
    yield from _latin(text, name, sort, gap, token)


def _find_shaped(text: str, name: re.Match[str], sort: str, gap: Gap, token: re.Match[str]) -> tuple[int, int] | None:
    """The value that begins in this token, if its form shows it: grouped, as dial turns, spelled out."""
    at = token.start()
    for pattern in (GROUPED, COMBINATION, SPELLED):
        if (
            sort in ("pass", "code", "lock")
            and (match := pattern.match(text, at))
            and (match.end() > token.end() - 2 or text[match.end()] in "-#*")
        ):
            end = _trim(text, at, match.end())
            ok = gap.linked or gap.words <= 3
            if pattern is GROUPED:
                ok = admits(sort, match.group(), gap, text, end)
            elif pattern is COMBINATION:
                ok = ok and not gap.blocked and (gap.linked or not gap.words) and not unit_behind(text, end)
                ok = ok or (sort == "lock" and gap.words <= 3 and not gap.blocked and match.group().count("-") >= 2)
                if (
                    name.group().lower().startswith("comb")
                    and not gap.linked
                    and not re.search(r"[a-z左右]", match.group(), re.I)
                ):
                    ok = ok and bool(_LOCKS.search(text, max(0, at - 90), end + 60))
            else:
                ok = ok and not gap.blocked and not unit_behind(text, end)
            if ok:
                return at, end
    return None


def _find_words(text: str, at: int, gap: Gap) -> int | None:
    """The end of the words that begin here, if they are a passphrase; None if they are ordinary text."""
    if not gap.direct or not gap.linked or gap.last in ARTICLES or not (several := _SEVERAL_WORDS.match(text, at)):
        return None
    words = re.split(r"[ -]", several.group())
    uncommon = sum(word in ENGLISH_STOPWORDS for word in words) * 4 <= len(words) and words[0] not in OPENS_TALK
    return several.end() if uncommon and (len(words) > 2 or not any(map(describes, words))) else None


def _latin(
    text: str, name: re.Match[str], sort: str, gap: Gap, token: re.Match[str]
) -> Iterator[tuple[int, int, bool]]:
    at = token.start()
    if shaped := _find_shaped(text, name, sort, gap, token):
        yield *shaped, True
        return
    if sort == "token" and (match := _BASE32.match(text, at)) and any(c.isdigit() for c in match.group()):
        yield at, match.end(), False
        return
    end = _trim(text, at, token.end())
    value = text[at:end]
    low = value.lower().replace("’", "'")
    if sort == "site" and re.match(r"\s/\s\S", text[end : end + 4]):
        gap.linked, gap.last = True, "use"
        return
    if sort == "login" and gap.linked and re.match(r"\s?[/:|]\s?\S|\s(?:and|then|pw|pass)\s", text[end : end + 6]):
        gap.direct = True
        return
    if low in LINKS or low in FILL:
        if low not in ("word", "words"):
            gap.word(value)
        else:
            gap.linked = gap.direct = True
            gap.last = low
        return
    if sort == "pass" and (end_of_words := _find_words(text, at, gap)):
        yield at, end_of_words, True
        return
    if (sort == "pass" and gap.direct and value.isalpha() and (name.lastgroup or "")[0] == "z"
            and (second := re.compile(r" (?=[A-Za-z]*\d)[A-Za-z0-9]{4,32}").match(text, end))):  # fmt: skip
        yield at, second.end(), False
        return
    gap.zh = gap.zh or ((name.lastgroup or "").startswith("z"))
    if value and admits(sort, value, gap, text, end):
        yield at, end, _weak(value)
        return
    if re.fullmatch(r"[A-Za-z'’-]+", value):
        gap.word(value)
    else:
        gap.words += 1
        gap.direct = False
        gap.last = low


_NEXT = to_pattern(
    r"(?:\s*(?:改成了?|换成了?|变成了?|->|→|\bto\b)\s*"
    r"|\s*[,，、;；/\n]+\s*(?:and |then |or )?|\s+(?:and|then|or|&)\s+|\s*[和跟及]\s*|\s{1,2}|"
    r"。\s*)(?P<label>(?:[A-Za-z]{2,10}\s){0,3}(?:is\s|=\s?|:\s?)?"
    r"|[\u3400-\u9fff]{0,8}(?:是|：|:)?\s?)(?P<value>[A-Za-z0-9][A-Za-z0-9*#-]{2,16})(?![A-Za-z0-9.])"
)


def find_listed(text: str, first: tuple[int, int, bool], stop: int) -> Iterator[tuple[int, int, bool]]:
    """Further codes of the same form that follow the first."""
    build = _build(text[first[0] : first[1]])
    at = first[1]
    while (after := _NEXT.match(text, at, stop)) and _build(after["value"]) == build:
        if unit_behind(text, after.end()):
            return
        at = after.end()
        yield after.start("value"), after.end("value"), first[2]


def _build(value: str) -> tuple[int, bool, bool]:
    return len(value), any(c.isdigit() for c in value), value.count("-") > 0


def _trim(text: str, start: int, end: int) -> int:
    """The end of the value without the punctuation of the sentence."""
    while end > start and text[end - 1] in ".,;:?)]}>'\" |、，-":
        if text[end - 1] in ")]}" and {")": "(", "]": "[", "}": "{"}[text[end - 1]] in text[start:end]:
            break
        end -= 1
    if end > start and text[end - 1] == "!" and text[start : end - 1].isalpha() and text[start : end - 1].islower():
        return end
    return end
