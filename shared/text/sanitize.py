"""Text from stores is checked before it may enter a package; the source row is never changed (004 4.1, step 1.5)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from shared.text import calls, disguise, orders, tags
from shared.text.calls import REMOVED
from shared.text.hostile import CODE, foreseen, looks_like_code
from shared.text.normalise import visible
from shared.text.recall import Recall
from shared.text.secrets import redact

Outcome = Literal["pass", "sanitized", "blocked"]
LIKELY = 0.996
"""From here on a stored text gives orders though no pattern foresaw it: chosen on texts that the fit had not seen."""
CERTAIN = 0.998
"""The same of one sentence of a conversation: what users ask of their own assistant is an order to it, and theirs."""
FEW = 2
"""Letters below which a text says nothing."""
_ADDRESS = 4
"""So many times as long as other runs the address of a page may be."""
_MAY_BE_SECRET = re.compile(
    r"\d{3}|[A-Za-z0-9_+/=-]{16}|(?i:pass|secret|token|key|\bpin\b|code|login|credential|mnemonic|phrase|bearer|://\S+@)"
    r"|密[码碼钥鑰]|口令|暗号|令牌|验证码|驗證碼|助记词|凭[证据]|私钥"
)
"""A cheap look: stored texts were cleaned of secrets when they were written."""
_NAME = re.compile(r"[\w.\-]{0,64}", re.ASCII)
"""One word, such as the name of a tool, is no sentence."""
_SENTENCE = re.compile(r"(?:[^。！？!?；;.\n]|\.(?=\S))+(?:[。！？!?；;.]+[”」』\"')）]*|\n|$)\s*")

escape = tags.escape


@dataclass(frozen=True, slots=True)
class SanitizePolicy:
    """Which checks run and how long an unbroken run of characters may be."""

    injection: bool = True
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
    """What patterns foresee is blocked; of the rest what can be taken out is, and what is left is weighed."""
    read = _read(text) if policy.injection else None
    if read and (rule := _foreseen(read)):
        return Screened("blocked", "", rule)
    clean, rule = _without_code(text)
    if read and (learned := _weighed(text, clean, read, LIKELY)):
        return Screened("blocked", "", learned)
    if not policy.code:
        clean, rule = text, None
    shorter = _shortened(clean, policy.max_run)
    if shorter != clean:
        clean, rule = shorter, rule or "long_run"
    return _masked(clean, rule)


def _defused(text: str, policy: SanitizePolicy) -> Screened:
    """Sentence by sentence where the whole gives orders; all of it where no sentence alone does."""
    clean, rule = text, None
    if policy.injection and (rule := _ordering(text, CERTAIN)):
        clean = _SENTENCE.sub(lambda match: _or_removed(match.group()), text)
        if clean == text or not clean.replace(REMOVED, "").strip() or _ordering(clean, CERTAIN):
            return Screened("blocked", REMOVED, rule)
    clean, called = calls.without(clean)
    clean, headers = tags.without_headers(clean, "")
    return _masked(clean, rule or ("call" if called else "marker" if headers else None))


def _or_removed(sentence: str) -> str:
    if not _ordering(sentence, CERTAIN):
        return sentence
    return REMOVED + sentence[len(sentence.rstrip()) :]


def _masked(text: str, rule: str | None) -> Screened:
    """The text with secrets blanked, invisible characters gone and our tags escaped."""
    clean, hits = redact(text, pii=False) if _MAY_BE_SECRET.search(text) else (text, ())
    shown = escape(visible(clean))
    rule = rule or ("secret" if hits else None) or ("tag" if shown.count("&lt;") > clean.count("&lt;") else None)
    return Screened("sanitized" if rule else "pass", shown, rule)


def _ordering(text: str, least: float) -> str | None:
    """The rule by which the text gives orders to the agent; what is code, or was taken out, gives none."""
    read = _read(text)
    return _foreseen(read) or _weighed(text, _without_code(text)[0], read, least)


def _weighed(text: str, clean: str, read: _Read, least: float) -> str | None:
    left = tags.without_ours(clean.replace(REMOVED, " "))
    return _learned(read if left == text else _read(left), least)


def _read(text: str) -> _Read:
    return _Read(disguise.forms(text), [disguise.plain(each) for each in disguise.decoded(text)])


def _foreseen(read: _Read) -> str | None:
    for form in read.forms:
        if rule := foreseen(form):
            return rule
    if tags.breaks_out(read.forms[0]):
        return "breakout"
    return "encoded" if any(map(foreseen, read.coded)) else None


def _learned(read: _Read, least: float) -> str | None:
    """The rule, by what texts like it were."""
    if _NAME.fullmatch(read.forms[0]) or sum(map(str.isalpha, read.forms[0])) < FEW:
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
