"""Finds a memory in the receipt of a package."""

from collections.abc import Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]


def find_use(injected: Sequence[Json], versions: Sequence[Json]) -> tuple[int, Json] | None:
    """The newest version in the package, as itself or as its source words, with the item."""
    by_id = {each["id"].rpartition("memory:")[2] if "memory:" in each["id"] else each["id"]: each for each in injected}
    for version in reversed(versions):
        if item := by_id.get(version["memory_id"]):
            return version["version"], item
        created = {each["turn_id"] for each in version["evidence"] if each["action"] in ("created", "confirmed")}
        for item in injected:
            kind, _, rest = item["id"].partition(":")
            if kind == "turn" and rest.partition(":")[0] in created:
                return version["version"], item
    return None
