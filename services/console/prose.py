"""Turns texts of several lines into paragraphs and lists, with everything escaped."""

from itertools import groupby

from markupsafe import Markup, escape

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
