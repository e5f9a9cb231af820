"""The area that tells why an agent was given what it was given."""

from services.console.explain.packages import show_packages
from services.console.page import Area, PageEntry

AREA = Area("explain", "/explain", "read", pages=(PageEntry("/explain", show_packages),))
