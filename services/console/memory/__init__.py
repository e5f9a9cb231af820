"""The area in which somebody sees and governs what is remembered of them."""

from services.console.memory.overview import show_overview
from services.console.page import Area, PageEntry

AREA = Area(
    "memory",
    "/memory",
    "read",
    pages=(PageEntry("/memory", show_overview),),
    tabs=(("memory.tab.overview", "/memory"),),
)
