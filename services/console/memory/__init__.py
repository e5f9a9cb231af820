"""The area in which somebody sees and governs what is remembered of them."""

from services.console.memory import changing, conflicts, erasing, listing, one, overview, sessions, timeline
from services.console.page import Area, PageEntry

PAGES = (
    PageEntry("/memory", overview.show_overview),
    PageEntry("/memory/facts", listing.show_facts),
    PageEntry("/memory/notes", listing.show_notes),
    PageEntry("/memory/search", listing.show_search),
    PageEntry("/memory/timeline", timeline.show_timeline),
    PageEntry("/memory/conflicts", conflicts.show_conflicts),
    PageEntry("/memory/conflicts/{conflict_id}", conflicts.settle, "POST"),
    PageEntry("/memory/sessions", sessions.show_sessions),
    PageEntry("/memory/session", sessions.show_session),
    PageEntry("/memory/session/clear", sessions.clear_summary, "POST"),
    PageEntry("/memory/session/end", sessions.end_session, "POST"),
    PageEntry("/memory/one/{memory_id}", one.show_memory),
    PageEntry("/memory/one/{memory_id}/edit", changing.edit, "POST"),
    PageEntry("/memory/one/{memory_id}/take-back", changing.take_back, "POST"),
    PageEntry("/memory/one/{memory_id}/restore", changing.restore, "POST"),
    PageEntry("/memory/remember", changing.remember, "POST"),
    PageEntry("/memory/chosen", changing.change_chosen, "POST"),
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
    ),
)
