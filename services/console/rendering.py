"""Renders templates; every inserted value is escaped."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from services.console.rules.telling import strip_fences

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"


@cache
def make_templates() -> Environment:
    """The templates of every area; a missing value is an error."""
    templates = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters["plain"] = strip_fences
    return templates


def render(template: str, values: Mapping[str, Any]) -> str:
    """The page."""
    return make_templates().get_template(template).render(values, static_version=find_newest_change())


@cache
def find_newest_change() -> str:
    """A version that changes with the static files."""
    return format(max(int(path.stat().st_mtime) for path in STATIC.iterdir()), "x")
