"""Text from stores is checked before it may enter a package; the source row is never changed (004 4.1, step 1.5)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from shared.text import calls, disguise, orders, tags
from shared.text.calls import REMOVED
from shared.text.hostile import CODE, foreseen, looks_like_code
from shared.text.normalise import visible
from shared.text.patterns import to_pattern
from shared.text.recall import Recall
from shared.text.secrets import redact

Outcome = Literal["pass", "sanitized", "blocked"]
LIKELY = 0.985
"""From here on a stored text gives orders though no pattern foresaw it: chosen on texts that the fit had not seen."""
CERTAIN = 0.998
"""The same of one sentence of a conversation: what users ask of their own assistant is an order to it, and theirs."""
DOUBT = 0.2
"""Below it a text only talks of orders or code: what a pattern finds in it stays."""
BARE, BARE_HAN = 64, 28
"""Characters below which a text has no room for an order and for talk about it."""
BUILT = frozenset({"breakout", "encoded"})
"""What nobody writes who only talks of it."""
FEW_LETTERS, FEW_HAN = 24, 18
"""Characters below which a text is weighed with more doubt."""
TALKED_OF = frozenset({"sql", "code"})
"""What people who work with machines write about, and what attacks carry."""
SURE = 0.998
"""The same of a text of a few words."""
FEW = 2
"""Letters below which a text says nothing."""
_ADDRESS = 4
"""So many times as long as other runs the address of a page may be."""
_MAY_BE_SECRET = to_pattern(
    r"\d{3}|[A-Za-z0-9_+/=-]{16}|(?i:pass|secret|token|key|\bpin\b|code|login|credential|mnemonic|phrase|bearer|://\S{1,300}@)"
    r"|密[码碼钥鑰]|口令|暗号|令牌|验证码|驗證碼|助记词|凭[证据]|私钥"
)
"""A cheap look: stored texts were cleaned of secrets when they were written."""
_NAME = to_pattern(r"[\w.\-]{0,64}", re.ASCII)
"""One word, such as the name of a tool, is no sentence."""
_SENTENCE = to_pattern(r"(?:[^。！？!?；;.\n]|\.(?=\S))+(?:[。！？!?；;.]+[”」』\"')）]*|\n|$)\s*")

escape = tags.escape


@dataclass(frozen=True, slots=True)
class SanitizePolicy:
    """Which checks run and how long an unbroken run of characters may be; `learned`: texts are weighed as well."""

    injection: bool = True
    learned: bool = True
    code: bool = True
    max_run: int = 256


@dataclass(frozen=True, slots=True)
class Screened:
    """What may be injected of a text, and the rule that decided."""

    outcome: Outcome
    text: str
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    """A text in the spellings that it may be read in, the plain one first, and what it says in a code."""

    forms: list[str]
    coded: list[str]


DEFAULT_SANITIZE = SanitizePolicy()
OWN_WORDS = SanitizePolicy(learned=False)
"""For the conversation itself: what users order their own assistant is theirs to order, and code is no order."""
_HARMLESS = Recall[bool]()
"""Texts that lately passed every check of a policy unchanged."""


def screen(text: str, policy: SanitizePolicy = DEFAULT_SANITIZE) -> Screened:
    """`blocked` where the text gives orders to the agent, `sanitized` where something was taken out or masked."""
    return _recalled(text, policy, _screened)


def defused(text: str, policy: SanitizePolicy = DEFAULT_SANITIZE) -> Screened:
    """A message of the conversation itself: only the sentences that give orders are replaced, code and runs stay."""
    return _recalled(text, policy, _defused)


def forget() -> None:
    """Every text is looked at again."""
    _HARMLESS.clear()


def _recalled(text: str, policy: SanitizePolicy, look: Callable[[str, SanitizePolicy], Screened]) -> Screened:
    if not text:
        return Screened("pass", "")
    key = (text, policy, look.__name__)
    if _HARMLESS.get(key):
        return Screened("pass", text)
    screened = look(text, policy)
    if screened.outcome == "pass" and screened.text == text:
        _HARMLESS.put(key, value=True)
    return screened


def _screened(text: str, policy: SanitizePolicy) -> Screened:
    """What patterns foresee is blocked; of the rest what can be taken out is, and what is left is weighed.

    Patterns and code count only where the whole does not read as talk about such things.
    """
    read = _read(text) if policy.injection else None
    if read and (rule := _foreseen(read)) and (rule in BUILT or _may_order(read)):
        return Screened("blocked", "", rule)
    clean, rule = _without_code(text)
    if read and policy.learned and (learned := _weighed(text, clean, read, _least(read))):
        return Screened("blocked", "", learned)
    if not policy.code or (rule in TALKED_OF and read and not _may_order(read)):
        clean, rule = text, None
    shorter = _shortened(clean, policy.max_run)
    if shorter != clean:
        clean, rule = shorter, rule or "long_run"
    return _masked(clean, rule)


def _defused(text: str, policy: SanitizePolicy) -> Screened:
    """Sentence by sentence where the whole gives orders; all of it where a pattern says so of no sentence alone."""
    clean, rule = text, None
    if policy.injection and (rule := _ordering(text, policy)):
        clean = _SENTENCE.sub(lambda match: _or_removed(match.group(), policy), text)
        if not clean.replace(REMOVED, "").strip() or _foreseen(_read(clean)):
            return Screened("blocked", REMOVED, rule)
        rule = None if clean == text else rule
    clean, called = calls.without(clean)
    clean, headers = tags.without_headers(clean, "")
    return _masked(clean, rule or ("call" if called else "marker" if headers else None))


def _or_removed(sentence: str, policy: SanitizePolicy) -> str:
    if not _ordering(sentence, policy):
        return sentence
    return REMOVED + sentence[len(sentence.rstrip()) :]


def _masked(text: str, rule: str | None) -> Screened:
    """The text with secrets blanked, invisible characters gone and our tags escaped."""
    clean, hits = redact(text, pii=False) if _MAY_BE_SECRET.search(text) else (text, ())
    shown = escape(visible(clean))
    rule = rule or ("secret" if hits else None) or ("tag" if shown.count("&lt;") > clean.count("&lt;") else None)
    return Screened("sanitized" if rule else "pass", shown, rule)


def _ordering(text: str, policy: SanitizePolicy) -> str | None:
    """The rule by which the text gives orders to the agent; what is code, or was taken out, gives none."""
    read = _read(text)
    weighed = policy.learned and _weighed(text, _without_code(text)[0], read, CERTAIN)
    return _foreseen(read) or weighed or None


def _least(read: _Read) -> float:
    """From where a text counts as an order: a few words say too little of whom they are for."""
    plain = read.forms[0]
    return SURE if len(plain) < (FEW_LETTERS if plain.isascii() else FEW_HAN) else LIKELY


def _weighed(text: str, clean: str, read: _Read, least: float) -> str | None:
    left = tags.without_ours(clean.replace(REMOVED, " "))
    return _learned(read if left == text else _read(left), least)


def _read(text: str) -> _Read:
    return _Read(disguise.forms(text), [disguise.plain(each) for each in disguise.decoded(text)])


def _may_order(read: _Read) -> bool:
    """False where the text reads as talk about orders or code, by what texts like it were; an order alone is short."""
    plain = read.forms[0]
    if len(plain) < (BARE if plain.isascii() else BARE_HAN):
        return True
    return any(orders.likelihood(form) >= DOUBT for form in (*read.forms, *read.coded))


def _foreseen(read: _Read) -> str | None:
    for form in read.forms:
        if rule := foreseen(form):
            return rule
    if tags.breaks_out(read.forms[0]):
        return "breakout"
    return "encoded" if any(map(foreseen, read.coded)) else None


def _learned(read: _Read, least: float) -> str | None:
    """The rule, by what texts like it were."""
    if _NAME.fullmatch(read.forms[0]) or sum(map(str.isalpha, orders.said(read.forms[0]))) < FEW:
        return None
    if any(orders.likelihood(form) >= least for form in read.forms[:2]):
        return "learned"
    return "encoded" if any(orders.likelihood(form) >= least for form in read.coded) else None


def _without_code(text: str) -> tuple[str, str | None]:
    clean, called = calls.without(text)
    rule = "call" if called else None
    clean, headers = tags.without_headers(clean, "")
    rule = rule or ("marker" if headers else None)
    if looks_like_code(clean):
        for name, pattern in CODE:
            clean, removed = pattern.subn(REMOVED, clean)
            rule = name if removed and rule is None else rule
    return clean, rule


def _shortened(text: str, most: int) -> str:
    """Runs of letters and digits without a break, beyond `most`, end there; languages without spaces break anywhere."""
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
