"""Screens stored text before it is shown; the stored row never changes.

The source decides: `own` is text of the user or the assistant, or learnt from it; `foreign` is text of tools, knowledge
and media.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from shared.cache import BoundedMemo
from shared.language.normalise import visible
from shared.language.patterns import to_pattern
from shared.screening import orders
from shared.screening.hostile import CODE, foreseen, looks_like_code
from shared.screening.orders import REMOVED, split_pasted
from shared.secrets import redact

Outcome = Literal["pass", "sanitized", "blocked"]
Source = Literal["own", "foreign"]
LIKELY = 0.35
"""From this value on a stored text counts as an order without a pattern; chosen on texts outside the fit."""
TOGETHER = 700
"""Up to this number of characters a text is also judged as a whole, besides its sentences."""
DOUBT = 0.02
"""Below this value a text only discusses orders or code: matches of patterns in it stay."""
BARE, BARE_HAN = 64, 28
"""Texts shorter than this cannot contain both an order and a discussion of it."""
BUILT = frozenset({"breakout", "encoded"})
"""Text that occurs only in real orders, never in a discussion of them."""
FEW_LETTERS, FEW_HAN = 24, 18
"""Texts shorter than this need higher odds."""
TAKEN_OUT = frozenset({"sql", "code", "call", "marker", "long_run", "secret", "tag"})
"""Rules that remove text without orders."""
TALKED_OF = frozenset({"sql", "code"})
"""Topics of technical conversations that attacks also use."""
SURE = 0.992
"""The same for a text of a few words."""
FEW = 2
"""Texts with fewer letters mean nothing."""
_ADDRESS = 4
"""The factor by which page addresses may exceed the limit of other runs."""
_MAY_BE_SECRET = to_pattern(
    r"\d{3}|[A-Za-z0-9_+/=-]{16}|(?i:pass|secret|token|key|\bpin\b|code|login|credential|mnemonic|phrase|bearer|://\S{1,300}@)"
    r"|密[码碼钥鑰]|口令|暗号|令牌|验证码|驗證碼|助记词|凭[证据]|私钥"
)
"""A fast check: stored texts were cleared of secrets at intake."""
_NAME = to_pattern(r"[\w.\-]{0,64}", re.ASCII)
"""One word, such as the name of a tool, is no sentence."""
_REPEATED = to_pattern(rf"{re.escape(REMOVED)}(?:\s*{re.escape(REMOVED)})+")
_SENTENCE = to_pattern(r"(?:[^。！？!?；;.\n]|\.(?=\S))+(?:[。！？!?；;.]+[”」』\"')）]*|\n|$)\s*")

escape = orders.escape


class SanitizePolicy(BaseModel):
    """The checks of texts before they are shown: in packages, searches, lists of memories and summaries."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    injection: bool = Field(default=True, description="Sentences that give orders to the agent are cut out")
    learned: bool = Field(default=True, description="Foreign texts are weighed too; otherwise patterns alone count")
    code: bool = Field(default=True, description="SQL, scripts and destructive commands are cut out of foreign texts")
    max_run: int = Field(default=256, ge=16, description="Longer runs of letters without a break are cut, in these")


@dataclass(frozen=True, slots=True)
class Screened:
    """The part of a text that may be injected, and the rule that decided."""

    outcome: Outcome
    text: str
    rule: str | None = None

    @property
    def held_back(self) -> str | None:
        """The rule by which the text is hidden, completely or in part; an escaped tag is shown."""
        return self.rule if self.outcome != "pass" and self.rule != "tag" else None


@dataclass(frozen=True, slots=True)
class _Read:
    """A text in its possible spellings, the plain one first, and decoded."""

    forms: list[str]
    coded: list[str]


DEFAULT_SANITIZE = SanitizePolicy()
_HARMLESS = BoundedMemo[bool]()
"""Texts that recently passed all checks of a policy unchanged."""


def show(text: str, source: Source, policy: SanitizePolicy = DEFAULT_SANITIZE) -> Screened:
    """The part of a text that may be shown, by its source."""
    return show_own(text, policy) if source == "own" else screen(text, policy)


def screen(text: str, policy: SanitizePolicy = DEFAULT_SANITIZE) -> Screened:
    """The part of a foreign text that may be shown: from tools, knowledge, media, other people.

    Sentences with orders to the agent are replaced, code and long runs removed. `blocked` if nothing else remains, or
    if the orders span sentences.
    """
    return screen_recalled(text, policy, screen_foreign)


def show_own(text: str, policy: SanitizePolicy = DEFAULT_SANITIZE) -> Screened:
    """The part of an own text that may be shown: of the user, of the assistant, or learnt from either.

    Code and long runs stay. Removed are sentences that match a pattern, none of which occurs in natural conversation,
    secrets, invisible characters, and marks of tags, calls and other chat formats. Pasted, quoted or forwarded
    sentences are judged like foreign text.
    """
    return screen_recalled(text, policy, screen_own)


def sentences(text: str) -> list[str]:
    """The sentences of the text, each with the characters up to the next; joined they are the text."""
    ends = [match.end() for match in _SENTENCE.finditer(text) if match.group()]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def screen_recalled(text: str, policy: SanitizePolicy, look: Callable[[str, SanitizePolicy], Screened]) -> Screened:
    if not text:
        return Screened("pass", "")
    key = (text, policy, look.__name__)
    if _HARMLESS.get(key):
        return Screened("pass", text)
    screened = look(text, policy)
    if screened.outcome == "pass" and screened.text == text:
        _HARMLESS.put(key, value=True)
    return screened


def screen_own(text: str, policy: SanitizePolicy) -> Screened:
    if not policy.injection:
        return mask_text(text, None)
    patterns = policy.model_copy(update={"learned": False})
    cleaned = [
        (part, *_without_orders(part, policy if is_pasted else patterns)) for is_pasted, part in split_pasted(text)
    ]
    clean = "".join(clean or (REMOVED if part else "") for part, clean, _ in cleaned)
    rule = next((rule for *_, rule in cleaned if rule), None)
    if rule and _is_empty(clean):
        return Screened("blocked", "", rule)
    clean, called = orders.without_calls_home(clean)
    clean, headers = orders.without_headers(clean)
    return mask_text(clean, rule or ("call" if called else "marker" if headers else None))


def screen_foreign(text: str, policy: SanitizePolicy) -> Screened:
    clean, rule = text, None
    if policy.code:
        bare, taken = _without_code(text)
        if taken not in TALKED_OF or not policy.injection or _may_order(_read(text)):
            clean, rule = bare, taken
    if policy.injection:
        clean, ordering = _without_orders(clean, policy)
        if ordering and _is_empty(clean):
            return Screened("blocked", "", ordering)
        rule = ordering or rule
    shorter = cut_runs(clean, policy.max_run)
    if shorter != clean:
        clean, rule = shorter, rule or "long_run"
    return mask_text(clean, rule)


def _without_orders(text: str, policy: SanitizePolicy) -> tuple[str, str | None]:
    """The text with each order replaced, and the rule of the first one.

    A short text is also judged as a whole, and the context of a sentence counts as much as the sentence. Nothing
    remains if only the whole text gives orders: a code, or a few words.
    """
    parts = sentences(text)
    if is_encoded(_read(text)) and not any(is_encoded(_read(part)) for part in parts):
        return "", "encoded"
    short = len(text) <= TOGETHER
    around = _odds(text) if policy.learned and short and len(parts) > 1 else None
    rules = [find_order(part, policy, around) for part in parts]
    if "breakout" in rules:  # what follows claims to be outside the fence
        at = rules.index("breakout")
        rules[at:] = ["breakout"] * (len(rules) - at)
    for at in range(len(parts) - 1):  # an order may need two sentences
        if rules[at] is None and rules[at + 1] is None and len(parts[at]) + len(parts[at + 1]) <= TOGETHER:
            rules[at] = rules[at + 1] = find_order(parts[at] + parts[at + 1], policy, around)
    cleaned = [
        part if rule is None else REMOVED + part[len(part.rstrip()) :] for part, rule in zip(parts, rules, strict=True)
    ]
    rule = next(filter(None, rules), None)
    clean = text if rule is None else _REPEATED.sub(REMOVED, "".join(cleaned))
    left = find_order(clean, policy) if len(clean) <= TOGETHER else _patterns(_read(clean))
    return ("", rule or left) if left else (clean, rule)


def mask_text(text: str, rule: str | None) -> Screened:
    """The text with secrets blanked, invisible characters removed and our tags escaped."""
    clean, hits = redact(text) if _MAY_BE_SECRET.search(text) else (text, ())
    shown = escape(visible(clean))
    rule = rule or ("secret" if hits else None) or ("tag" if shown.count("&lt;") > clean.count("&lt;") else None)
    return Screened("sanitized" if rule else "pass", shown, rule)


def _is_empty(clean: str) -> bool:
    return not any(map(str.isalnum, clean.replace(REMOVED, "")))


def find_order(text: str, policy: SanitizePolicy, around: float | None = None) -> str | None:
    """The rule by which the text gives orders to the agent; `around`: the log odds of the short
    text that contains it.
    """
    read = _read(text)
    if rule := _patterns(read):
        return rule
    return weigh_text(text, read, around) if policy.learned else None


def _patterns(read: _Read) -> str | None:
    """The rule of a pattern; it counts only if the whole text does not read as a discussion of such things."""
    rule = _foreseen(read)
    return rule if rule and (rule in BUILT or _may_order(read)) else None


def find_least(read: _Read) -> float:
    """The threshold for an order: few words do not show whom they address."""
    said = " ".join(word for word in orders.strip_ids(read.forms[0]).split() if not word.isdigit())
    return SURE if len(said) < (FEW_LETTERS if said.isascii() else FEW_HAN) else LIKELY


def weigh_text(text: str, read: _Read, around: float | None) -> str | None:
    left = decode_all(text)
    return find_learned_rule(read if left == text else _read(left), find_least(read), around)


def decode_all(text: str) -> str:
    return orders.without_ours(_without_code(text)[0].replace(REMOVED, " "))


def _odds(text: str) -> float:
    """The highest log odds of an order over all spellings of the text."""
    return max(map(orders.log_odds, _read(decode_all(text)).forms[:2]))


def _read(text: str) -> _Read:
    return _Read(orders.forms(text), [orders.to_plain(each) for each in orders.decode_text(text)])


def _may_order(spelt: _Read) -> bool:
    """False if the text reads as a discussion of orders or code, judged by similar texts; an order alone is short."""
    plain = spelt.forms[0]
    if len(plain) < (BARE if plain.isascii() else BARE_HAN):
        return True
    return any(orders.likelihood(form) >= DOUBT for form in (*spelt.forms, *spelt.coded))


def _foreseen(spelt: _Read) -> str | None:
    for form in spelt.forms:
        if rule := foreseen(form):
            return rule
    if orders.breaks_out(spelt.forms[0]):
        return "breakout"
    return "encoded" if is_encoded(spelt) else None


def is_encoded(read: _Read) -> bool:
    return any(map(foreseen, read.coded))


def find_learned_rule(spelt: _Read, least: float, around: float | None) -> str | None:
    """The rule, judged by similar texts."""
    if _NAME.fullmatch(spelt.forms[0]) or sum(map(str.isalpha, orders.strip_ids(spelt.forms[0]))) < FEW:
        return None
    if any(orders.likelihood(form, around) >= least for form in spelt.forms[:2]):
        return "learned"
    return "encoded" if any(orders.likelihood(form) >= least for form in spelt.coded) else None


def _without_code(text: str) -> tuple[str, str | None]:
    clean, called = orders.without_calls_home(text)
    rule = "call" if called else None
    clean, headers = orders.without_headers(clean)
    rule = rule or ("marker" if headers else None)
    if looks_like_code(clean):
        for name, pattern in CODE:
            clean, removed = pattern.subn(REMOVED, clean)
            rule = name if removed and rule is None else rule
    return clean, rule


def cut_runs(text: str, most: int) -> str:
    """Truncates runs of letters and digits beyond `most`; languages without spaces can be split anywhere."""
    if len(text) <= most:
        return text
    return re.sub(
        rf"(?:https?://[^\s\u2e80-\uffff]{{0,{most * _ADDRESS}}}|[^\s\u2e80-\uffff]{{{most}}})[^\s\u2e80-\uffff]+",
        _cut(most),
        text,
    )


def _cut(most: int) -> Callable[[re.Match[str]], str]:
    def cut(match: re.Match[str]) -> str:
        run = match.group()
        allowed = most * _ADDRESS if run.startswith("http") else most
        return run if len(run) <= allowed else run[:allowed] + "…"

    return cut
