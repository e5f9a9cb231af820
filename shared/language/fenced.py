"""Fences data for a model so that no text can close the fence. Pure."""

import json


def fence_data(data: object, wish: str) -> str:
    """JSON in which no text can close the fence, followed by the instruction."""
    lines = json.dumps(data, ensure_ascii=False, indent=1).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<data>\n{lines}\n</data>\n{wish}"
