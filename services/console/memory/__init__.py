"""The area in which users see and manage their memories."""

from schemas.exporting import IMPORT_MAX_BYTES
from services.console.memory import changing, erasing, listing, sessions, settings
from services.console.page import Area, PageEntry

PAGES = (
    PageEntry("/memory", listing.show_overview),
    PageEntry("/memory/facts", listing.show_facts),
    PageEntry("/memory/notes", listing.show_notes),
    PageEntry("/memory/search", listing.show_search),
    PageEntry("/memory/timeline", listing.show_timeline),
    PageEntry("/memory/conflicts", changing.show_conflicts),
    PageEntry("/memory/conflicts/{conflict_id}", changing.settle, "POST"),
    PageEntry("/memory/sessions", sessions.show_sessions),
    PageEntry("/memory/session", sessions.show_session),
    PageEntry("/memory/session/clear", sessions.clear_summary, "POST"),
    PageEntry("/memory/session/end", sessions.end_session, "POST"),
    PageEntry("/memory/settings", settings.show_settings),
    PageEntry("/memory/settings", settings.change_settings, "POST"),
    PageEntry("/memory/one/{memory_id}", listing.show_memory),
    PageEntry("/memory/one/{memory_id}/edit", changing.edit, "POST"),
    PageEntry("/memory/export", settings.export),
    PageEntry("/memory/import", settings.take_in, "POST", file_most=IMPORT_MAX_BYTES),
    PageEntry("/memory/one/{memory_id}/pin", changing.pin, "POST"),
    PageEntry("/memory/one/{memory_id}/unpin", changing.unpin, "POST"),
    PageEntry("/memory/one/{memory_id}/take-back", changing.take_back, "POST"),
    PageEntry("/memory/one/{memory_id}/restore", changing.restore, "POST"),
    PageEntry("/memory/one/{memory_id}/judge", changing.judge, "POST"),
    PageEntry("/memory/one/{memory_id}/bring-up", changing.bring_up, "POST"),
    PageEntry("/memory/remember", changing.remember, "POST"),
    PageEntry("/memory/chosen", changing.change_chosen, "POST"),
    PageEntry("/memory/merge", changing.show_choice),
    PageEntry("/memory/merge", changing.merge, "POST"),
    PageEntry("/memory/erase", erasing.show_question),
    PageEntry("/memory/erase", erasing.erase, "POST"),
    PageEntry("/memory/erasures", erasing.show_erasures),
    PageEntry("/memory/erasures/{tombstone_id}", erasing.show_erasure),
)
AREA = Area(
    "memory",
    "/memory",
    "read",
    pages=PAGES,
    tabs=(
        ("memory.tab.overview", "/memory"),
        ("memory.tab.facts", "/memory/facts"),
        ("memory.tab.notes", "/memory/notes"),
        ("memory.tab.timeline", "/memory/timeline"),
        ("memory.tab.conflicts", "/memory/conflicts"),
        ("memory.tab.sessions", "/memory/sessions"),
        ("memory.tab.erasures", "/memory/erasures"),
        ("memory.tab.settings", "/memory/settings"),
    ),
)
