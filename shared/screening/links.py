"""Images, links and tags that call home: taken out where a model could fill them with what it knows; words stay."""

import re

from shared.language.patterns import to_pattern

REMOVED = "[removed]"
_DATA = (
    r"(?:[{<\[(（【$%][^\s{}<>]{0,60}|%7b|[\u4e00-\u9fff]{2,}|memor|history|convers|transcript|secret|passw|prompt|notes?\b"
    r"|user_?(?:data|email|name|id)?=|chat|token|context|profile|\.\.\.|…)"
)
_FILLED = rf"https?://[^\s)\"'<>]{{3,200}}?[?&=/][^\s)\"'<>]{{0,60}}?(?:{_DATA})[^\s)\"']{{0,200}}"
_IMAGE = to_pattern(rf"!\[(?P<words>[^\]\n]{{0,200}})\]\(\s*(?:{_FILLED})[^)\n]{{0,100}}\)?", re.IGNORECASE)
_LINK = to_pattern(
    r"(?<!!)\[(?P<words>[^\]\n]{0,200})\]\(\s*(?:(?:javascript|data|vbscript):[^)\n]{0,300}"
    r"|https?://[^\s)]{3,200}?[?&=/][^\s)]{0,60}?(?:[{<$][^\s{}<>]{1,60}[}>]?|%7b)[^)\n]{0,200})\)?",
    re.IGNORECASE,
)
_TAG = to_pattern(
    r"<\s*(?:(?:object|embed|form|meta|base|link)\b[^>]{0,400}(?:>|$)"
    r"|(?:img|input|video|audio|source|svg|body)\b(?=[^>]{0,400}(?:\bon\w+\s*=|[?&][\w-]+=|[{$]|width\s*=\s*[\"']?[01]\b"
    r"|display\s*:\s*none))[^>]{0,400}(?:>|$))",
    re.IGNORECASE | re.DOTALL,
)
_STYLED = to_pattern(r"@import\s+url\([^)]{3,200}\)|background(?:-image)?\s*:\s*url\([^)]{3,200}\)", re.IGNORECASE)


def without(text: str) -> tuple[str, bool]:
    """The text without what would call home, the words that it showed in its place; whether anything was there."""
    clean = text
    if "](" in clean:
        clean = _LINK.sub(r"\g<words>", _IMAGE.sub(r"\g<words>", clean))
    if "<" in clean:
        clean = _TAG.sub(REMOVED, clean)
    if "url(" in clean:
        clean = _STYLED.sub(REMOVED, clean)
    return clean, clean != text
