"""One memory: text, validity, confidence, sources, and possible actions."""

import asyncio

from starlette.responses import Response

from services.console.page import ConsolePage
from shared.fronts.client import Json

USES_MOST = 5
"""Number of packages listed here; the page of its uses has more."""


async def show_memory(page: ConsolePage) -> Response:
    """The memory with its versions, newest first, their source words, and its newest uses."""
    memory_id = page.part("memory_id")
    line, uses = await asyncio.gather(
        page.get(f"/v1/memories/{memory_id}/history"), page.get(f"/v1/memories/{memory_id}/uses", limit=USES_MOST)
    )
    history = line["memories"]
    memory = next((each for each in history if each["memory_id"] == memory_id), history[-1])
    newest = history[-1]
    return page.render(
        "memory/one.html",
        title=page.tell("memory.one"),
        memory=memory,
        newest=newest if newest["memory_id"] != memory["memory_id"] and newest["status"] == "active" else None,
        uses=uses["uses"],
        versions=list(reversed(history)),
        open_conflicts=[each for each in memory["conflicts"] if each["state"] == "open"],
        can_restore=memory["status"] in ("retracted", "superseded", "expired", "candidate_evict"),
        technical=tell_technical(memory),
    )


def tell_technical(memory: Json) -> list[tuple[str, str]]:
    """Technical details."""
    names = ("memory_id", "type", "key", "version", "status", "assertion", "epistemic_type", "confidence", "valid_at")
    made_by = {f"provenance.{name}": memory["provenance"].get(name) for name in ("detector", "pattern", "turn_id")}
    told = {**{name: memory[name] for name in names}, **made_by}
    return [(name, str(value)) for name, value in told.items() if value is not None]
