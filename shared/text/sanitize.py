"""Text from stores is checked before it may enter a package; the source row is never changed (004 4.1, step 1.5)."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from shared.text.hostile import BLOCKED, CODE, looks_like_code, suspicious
from shared.text.normalise import visible
from shared.text.recall import Recall

Outcome = Literal["pass", "sanitized", "blocked"]
REMOVED = "[removed]"


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


DEFAULT_SANITIZE = SanitizePolicy()
_OUR_TAG = re.compile(
    r"<(?=\s*/?\s*(?:user_memory|knowledge|memory_usage_guide|agent_hints|system|assistant|developer|user|tool|instructions?"
    r"|evidence|prompt|media)\b)",
    re.IGNORECASE,
)
_SPACED_WORDS = re.compile(r"(?<![^\W_])[^\W\d_](?:[ .\-_*|·~+][^\W\d_]){3,}(?![^\W_])")
_HAN_GAP = re.compile("(?<=[\u4e00-\u9fff])[\\s.\\-_*|·~+/\\\\]{1,3}(?=[\u4e00-\u9fff])")
_HAN_SPELLED = re.compile("(?:[\u4e00-\u9fff][\\s,，、.。·\\-]{1,2}){5,}[\u4e00-\u9fff]")
_NOT_HAN = re.compile("[^\u4e00-\u9fff]+")
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u0261\u03b1\u03bf\u03b5\u03c1\u03bd\u03ba\u03c4\u0131",
    "aeopcyxijsdgaoepvkti",
)
_LEET = str.maketrans("013457@$!", "oieastasi")
_MARKS = re.compile("[\u0300-\u036f]")


_HARMLESS = Recall[bool]()
"""Texts that lately passed every check of a policy unchanged."""


def screen(text: str, policy: SanitizePolicy = DEFAULT_SANITIZE) -> Screened:
    """`blocked` where the text gives orders to the agent, `sanitized` where code or over-long runs were taken out."""
    if not text:
        return Screened("pass", "")
    if _HARMLESS.get((text, policy)):
        return Screened("pass", text)
    screened = _screened(text, policy)
    if screened.outcome == "pass" and screened.text == text:
        _HARMLESS.put((text, policy), value=True)
    return screened


def _screened(text: str, policy: SanitizePolicy) -> Screened:
    if policy.injection:
        for form in filter(suspicious, _forms(text)):
            for rule, pattern in BLOCKED:
                if pattern.search(form):
                    return Screened("blocked", "", rule)
    clean, rule = text, None
    if policy.code and looks_like_code(text):
        for name, pattern in CODE:
            clean, removed = pattern.subn(REMOVED, clean)
            rule = name if removed and rule is None else rule
    shorter = _shortened(clean, policy.max_run)
    if shorter != clean:
        clean, rule = shorter, rule or "long_run"
    return Screened("sanitized" if rule else "pass", escape(visible(clean)), rule)


def escape(text: str) -> str:
    """The text without anything that could open or close a tag of the package (R108)."""
    return _OUR_TAG.sub("&lt;", text)


def _shortened(text: str, most: int) -> str:
    """Runs of letters and digits without a break, beyond `most`, end there; languages without spaces break anywhere."""
    return re.sub(rf"([^\s\u2e80-\uffff]{{{most}}})[^\s\u2e80-\uffff]+", r"\1…", text)


def _forms(text: str) -> list[str]:
    """The spellings under which orders hide: plain, letters put together again, digits read as letters."""
    plain = unicodedata.normalize("NFKC", visible(text)).lower()
    if not plain.isascii():
        plain = _MARKS.sub("", unicodedata.normalize("NFD", plain).translate(_LOOKALIKES))
        plain = unicodedata.normalize("NFC", plain)
    forms = [plain]
    spelled = _HAN_SPELLED.sub(lambda match: _NOT_HAN.sub("", match.group()), plain)
    joined = _HAN_GAP.sub("", _SPACED_WORDS.sub(_together, spelled))
    if joined != plain:
        forms.append(joined)
        forms.append(re.sub(r"(?<=[a-z])(?:\s{2,}|\s*[|/]\s*)(?=[a-z])", " ", joined))
    leet = joined.translate(_LEET)
    if leet != joined and re.search(r"[a-z][013457@$!][a-z]", joined):
        forms.append(leet)
    return forms


def _together(match: re.Match[str]) -> str:
    letters = match.group()
    return letters[0] + letters[2::2] if letters else ""
