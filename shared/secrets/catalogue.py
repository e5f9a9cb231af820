"""Forms of keys and tokens that others collect and keep up to date: the plugins of detect-secrets, as data.

They stand behind the forms of `shapes`, which know more of a sentence; `make lock ARGS=--upgrade` brings newer ones.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache

from shared.language.patterns import to_pattern
from shared.secrets.model import SecretHit

_LEFT_OUT = frozenset({"base", "ip_public", "npm", "basic_auth", "keyword", "high_entropy_strings"})
"""An address of the internet is no secret; `shapes` has the next two, in time linear in the text; the last guess."""
_LONG_WORD = to_pattern(r"[A-Za-z0-9_+/=-]{16}")
"""Without so long a word a text has none of the forms."""
_SHORTEST = 16
"""A group of a form that is shorter is the beginning of a key, such as `ghp`."""


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    """All forms; loaded once, where a text first has a long word with a digit."""
    plugins = importlib.import_module("detect_secrets.plugins")
    base = importlib.import_module("detect_secrets.plugins.base").RegexBasedDetector
    forms: list[re.Pattern[str]] = []
    for each in pkgutil.iter_modules(plugins.__path__):
        if each.name in _LEFT_OUT:
            continue
        module = importlib.import_module(f"detect_secrets.plugins.{each.name}")
        kinds = (
            kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__
        )
        forms += (form for kind in kinds if issubclass(kind, base) for form in getattr(kind, "denylist", ()))
    return tuple(forms)


def find_catalogued(text: str) -> Iterator[SecretHit]:
    """Every key and token of a known form; a word without a digit is none."""
    if not _LONG_WORD.search(text) or not any(map(str.isdigit, text)):
        return
    for form in _forms():
        for match in form.finditer(text):
            spans = [match.span(group) for group in range((match.lastindex or 0) + 1)]
            start, end = min(
                (s for s in spans if s[1] - s[0] >= _SHORTEST), key=lambda s: s[1] - s[0], default=spans[0]
            )
            if any(map(str.isdigit, text[start:end])):
                yield SecretHit("token", start, end)
