"""The pages that are opened and looked through: every one of every area that needs nothing named."""

from services.console.areas import AREAS

OF_SOMETHING = ("/memory/session", "/memory/erase", "/operations/flow")
"""Pages of something that the query names, and a part of a page."""
PLAIN = tuple(
    entry.path
    for area in AREAS
    for entry in area.pages
    if entry.method == "GET" and "{" not in entry.path and entry.path not in OF_SOMETHING
)
"""Pages at an address of their own."""
