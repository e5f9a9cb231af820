"""The pages that are opened and looked through: every one of every area that needs nothing named."""

from services.console.areas import AREAS

PLAIN = tuple(
    entry.path
    for area in AREAS
    for entry in area.pages
    if entry.method == "GET" and "{" not in entry.path and entry.path not in ("/memory/session", "/memory/erase")
)
"""Pages at an address of their own."""
