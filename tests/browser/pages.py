"""The pages that are opened and looked through: every one of every area that needs nothing named."""

from services.console.areas import AREAS

NOT_PLAIN = ("/memory/session", "/memory/erase", "/memory/merge", "/memory/export", "/operations/flow")
"""Pages of one thing, files, and a part of a page."""
PLAIN = tuple(
    entry.path
    for area in AREAS
    for entry in area.pages
    if entry.method == "GET" and "{" not in entry.path and entry.path not in NOT_PLAIN
)
"""Pages at an address of their own."""
