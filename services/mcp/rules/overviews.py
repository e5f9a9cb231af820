"""The memories of a user as a page of Markdown, in either language."""

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.memory_types import ROWS
from services.mcp.rules.languages import Spoken
from services.mcp.rules.marking import mark_text, write_notice

TITLES: Mapping[Spoken, str] = {"en": "What is known about the user", "zh": "已知的用户情况"}
EMPTY: Mapping[Spoken, str] = {"en": "Nothing is known yet.", "zh": "目前一无所知。"}
MORE: Mapping[Spoken, str] = {"en": "{more} more are not shown.", "zh": "另有 {more} 条未显示。"}
LINE: Mapping[Spoken, str] = {
    "en": "- {text} (since {since}, confidence {confidence:.2f}, id {id}, version {version})",
    "zh": "- {text}（自 {since}，置信度 {confidence:.2f}，id {id}，第 {version} 版）",
}


def write_overview(memories: Sequence[Mapping[str, Any]], count: int, language: Spoken, nonce: str) -> str:
    """A heading for each type, and a line for each memory."""
    if not memories:
        return f"# {TITLES[language]}\n\n{EMPTY[language]}\n"
    parts = [f"# {TITLES[language]}", write_notice(nonce)]
    for row in ROWS:
        lines = [_line(each, language, nonce) for each in memories if each["type"] == row.type]
        if lines:
            parts += [f"## {row.title_en if language == 'en' else row.title_zh}", "\n".join(lines)]
    if count > len(memories):
        parts.append(MORE[language].format(more=count - len(memories)))
    return "\n\n".join(parts) + "\n"


def _line(memory: Mapping[str, Any], language: Spoken, nonce: str) -> str:
    return LINE[language].format(
        text=mark_text(" ".join(memory["content"].split()), nonce),
        since=memory["valid_at"][:10],
        confidence=memory["confidence"],
        id=memory["memory_id"],
        version=memory["version"],
    )
