"""Renders templates, and texts of several lines as paragraphs and lists; every inserted value is escaped."""

from collections.abc import Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

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


BULLETS = ("- ", "* ", "• ")


def write_lines(text: str) -> Markup:
    """A list for lines that begin with a bullet, a paragraph for every other."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    parts: list[Markup] = []
    for is_list, group in groupby(lines, lambda line: line.startswith(BULLETS)):
        if is_list:
            items = (Markup("<li>{}</li>").format(escape(line[2:])) for line in group)
            parts.append(Markup("<ul>{}</ul>").format(Markup("").join(items)))
        else:
            parts += [Markup("<p>{}</p>").format(line) for line in group]
    return Markup("\n").join(parts)
