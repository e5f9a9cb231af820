"""A form of the answer that a small model can fill in: the quote first, then its class, and little else."""

from collections.abc import Mapping
from typing import Annotated, Any, cast, get_args

from pydantic import BeforeValidator, Field

from schemas.vocabulary import Epistemic
from services.observer.prompts.answers import MAX_ITEMS, NAMES, OBSERVATION_CAP, ExtractedItem, ExtractionAnswer

CLASSES: Mapping[str, tuple[str, float]] = {
    "stated": ("confirmed_by_user", 1.0),
    "shown": ("observation", OBSERVATION_CAP),
    "change": ("confirmed_by_user", 1.0),
    "limit": ("confirmed_by_user", 1.0),
    "tool": ("tool", 1.0),
}
"""For each class its provenance and maximum confidence; items without a class are not listed."""
TYPES = ("profile", "preference", "goal", "task", "decision", "event", "case", "pattern", "constraint", "note")
_TEXT = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "quote": _TEXT,
                    "class": {"enum": list(CLASSES)},
                    "type": {"enum": list(TYPES)},
                    "content": _TEXT,
                    "value": _TEXT,
                    "old": _TEXT,
                    "memory": _TEXT,
                    "truth": {"enum": list(get_args(Epistemic))},
                    "confidence": {"type": "number"},
                },
                "required": ["quote", "class", "type", "content", "truth", "confidence"],
            },
        }
    },
    "required": ["items"],
}


def _in_full(raw: Any) -> Any:
    """The items as they are handled everywhere else; one that is in full already stays as it is."""
    return [_item(each) for each in cast("list[Any]", raw)[:MAX_ITEMS]] if isinstance(raw, list) else raw


def _item(raw: Any) -> Any:
    if not isinstance(raw, Mapping) or "class" not in raw:
        return cast("Any", raw)
    given = {name: part for name, part in cast("Mapping[str, Any]", raw).items() if part not in ("", None)}
    provenance, most = CLASSES.get(given["class"], (None, 0.0))
    kind = given.get("type", "constraint" if given["class"] == "limit" else None)
    claimed = given.get("confidence", most)
    return {
        "type": kind,
        "key": None,
        "content": given.get("content"),
        "value": given.get("value"),
        "provenance": provenance,
        "confidence": min(claimed, most) if isinstance(claimed, int | float) else claimed,
        "epistemic_type": given.get("truth", "preference" if kind == "preference" else "fact"),
        "related_existing_memory_id": given.get("memory"),
        "correction_of": given.get("old"),
        "quote": given.get("quote"),
    }


class BriefAnswer(ExtractionAnswer):
    """Everything that one turn leaves, told briefly."""

    items: Annotated[tuple[ExtractedItem, ...], BeforeValidator(_in_full)] = Field(validation_alias=NAMES)

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        """What the model is held to: the brief form."""
        return SCHEMA
