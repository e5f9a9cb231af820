"""A summary as JSON for its row, and back; None for JSON that cannot be read: then an older summary continues."""

from typing import Any

from pydantic import TypeAdapter, ValidationError

from services.observer.summary.model import Summary

_SUMMARY = TypeAdapter(Summary)


def dump(summary: Summary) -> dict[str, Any]:
    """Everything but the text, which has a column of its own."""
    return {name: value for name, value in _SUMMARY.dump_python(summary, mode="json").items() if name != "text"}


def load(stored: object, text: str = "") -> Summary | None:
    """The summary that `dump` wrote; None for anything else."""
    if not isinstance(stored, dict):
        return None
    try:
        return _SUMMARY.validate_python({**stored, "text": text})
    except ValidationError:
        return None
