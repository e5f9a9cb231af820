"""The areas of the navigation, in its order."""

from services.console.explain import AREA as EXPLAIN
from services.console.memory import AREA as MEMORY
from services.console.operations import AREA as OPERATIONS

AREAS = (MEMORY, EXPLAIN, OPERATIONS)
