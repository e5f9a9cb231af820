"""The pages for checks: every page that needs no id."""

from services.console.areas import AREAS

NOT_PLAIN = ("/memory/session", "/memory/erase", "/memory/merge", "/memory/export", "/operations/flow")
"""Pages of one object, files, and fragments."""
PLAIN = tuple(
    entry.path
    for area in AREAS
    for entry in area.pages
    if entry.method == "GET" and "{" not in entry.path and entry.path not in NOT_PLAIN
)
"""Pages with an address of their own."""
