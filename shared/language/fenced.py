"""Data for a model in a fence that no text can close. Pure."""

import json


def fence_data(data: object, wish: str) -> str:
    """JSON in which no text can close the fence, and below it what is wished."""
    lines = json.dumps(data, ensure_ascii=False, indent=1).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<data>\n{lines}\n</data>\n{wish}"
