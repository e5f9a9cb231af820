"""Personal numbers and addresses in a text, replaced by labels: for what leaves the user's own memory (OC076-OC082)."""

# ruff: noqa: E501 - one rule per line

import re

_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("[EMAIL]", re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}")),
    ("[ID_CARD]", re.compile(r"(?<![0-9A-Za-z])[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![0-9A-Za-z])")),
    ("[SSN]", re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")),
    ("[BANK_CARD]", re.compile(r"(?<!\d)(?:\d[ -]?){15,18}\d(?!\d)")),
    ("[PHONE]", re.compile(r"(?<!\d)(?:\+?86[ -]?)?1[3-9]\d[ -]?\d{4}[ -]?\d{4}(?!\d)")),
    ("[PHONE]", re.compile(r"(?<![\d-])(?:0\d{2,3}[ -])\d{7,8}(?!\d)")),
    ("[PHONE]", re.compile(r"(?<![\w-])(?:\+?1[ .-])?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\d-])|\+\d{1,3}(?:[ -]?\d{2,4}){2,4}(?!\d)")),
)  # fmt: skip


def redact(text: str) -> tuple[str, int]:
    """The text with every e-mail address, identity, card and telephone number as a label, and how many there were."""
    total = 0
    for label, pattern in _RULES:
        text, found = pattern.subn(label, text)
        total += found
    return text, total
