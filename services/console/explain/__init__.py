"""The area that explains packages."""

from services.console.explain.asking import explain_message, show_asking
from services.console.explain.packages import show_package, show_packages, show_replay, show_uses
from services.console.page import Area, PageEntry

AREA = Area(
    "explain",
    "/explain",
    "read",
    pages=(
        PageEntry("/explain", show_packages),
        PageEntry("/explain/message", show_asking),
        PageEntry("/explain/message", explain_message, "POST"),
        PageEntry("/explain/packages/{context_id}", show_package),
        PageEntry("/explain/packages/{context_id}/replay", show_replay),
        PageEntry("/explain/memories/{memory_id}", show_uses),
    ),
    tabs=(("explain.packages", "/explain"), ("explain.ask", "/explain/message")),
)
