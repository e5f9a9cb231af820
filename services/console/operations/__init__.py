"""The area of whoever operates the house."""

from services.console.operations.standing import show_standing
from services.console.page import Area, PageEntry

AREA = Area("operations", "/operations", "operate", pages=(PageEntry("/operations", show_standing),), of_one_user=False)
