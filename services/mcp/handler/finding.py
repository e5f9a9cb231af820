"""The memory that a call is about, by its id or by its words."""

from dataclasses import dataclass
from uuid import UUID

from services.mcp.rules.matching import pick_meant
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient, Json

LOOKED_THROUGH = 20


@dataclass(frozen=True)
class Choice:
    """The memory that is surely meant, or what might be."""

    meant: Json | None
    candidates: tuple[Json, ...] = ()


async def find_by_words(compose: ComposeClient, caller: AgentCaller, words: str) -> Choice:
    """Of what holds now: the one that says these words, or the ones that come nearest."""
    page = await compose.get(caller, "/v1/memories", query=words[:2000], limit=LOOKED_THROUGH)
    found = tuple(page["memories"])
    return Choice(pick_meant(found, words), found)


async def find_taken_back(compose: ComposeClient, caller: AgentCaller, words: str) -> Json | None:
    """The memory with these words that was taken back already, if it is among the newest of those."""
    page = await compose.get(caller, "/v1/memories", status="retracted", limit=LOOKED_THROUGH)
    return next((each for each in page["memories"] if pick_meant([each], words)), None)


async def find_by_id(compose: ComposeClient, caller: AgentCaller, memory_id: UUID | str) -> Json:
    """This version of the memory, whatever became of it."""
    return await compose.get(caller, f"/v1/memories/{memory_id}")


async def find_newest(compose: ComposeClient, caller: AgentCaller, memory: Json) -> Json:
    """The version that came of this one last."""
    page = await compose.get(caller, f"/v1/memories/{memory['memory_id']}/history")
    return page["memories"][-1]
