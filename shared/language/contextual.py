"""The text of a memory for search and vectors, preceded by its subject. Pure."""

from schemas.memory_types import ROWS

_LABELS_ZH = {str(row.type): row.label_zh for row in ROWS if row.label_zh}


def contextual(kind: str, topic: str | None, month: str, standing: str, text: str, language: str) -> str:
    """The text to index: the sentence with its subject in front."""
    label = _LABELS_ZH.get(kind, kind) if language == "zh" else kind
    about = "/".join(part for part in (label, topic) if part)
    return f"[{about} {month} {standing}] {text}"


def topic_of(key: str | None) -> str | None:
    """The middle of a key, which names its subject: `pref:ui:theme` -> `ui`."""
    parts = key.split(":") if key else []
    return parts[1] if len(parts) >= 3 else None
