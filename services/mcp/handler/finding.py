"""The memory that a call is about, by its id or by its words."""

from dataclasses import dataclass
from uuid import UUID

from services.mcp.rules.matching import pick_meant
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient, Json

LOOKED_THROUGH = 20


@dataclass(frozen=True)
class Choice:
    """The clearly identified memory, or candidates."""

    meant: Json | None
    candidates: tuple[Json, ...] = ()


async def find_by_words(compose: ComposeClient, caller: AgentCaller, words: str) -> Choice:
    """The active memory with these words, or the most similar ones."""
    page = await compose.get(caller, "/v1/memories", query=words[:2000], limit=LOOKED_THROUGH)
    found = tuple(page["memories"])
    return Choice(pick_meant(found, words), found)


async def find_taken_back(compose: ComposeClient, caller: AgentCaller, words: str) -> Json | None:
    """The retracted memory with these words, if it is among the newest retracted ones."""
    page = await compose.get(caller, "/v1/memories", status="retracted", limit=LOOKED_THROUGH)
    return next((each for each in page["memories"] if pick_meant([each], words)), None)


async def find_by_id(compose: ComposeClient, caller: AgentCaller, memory_id: UUID | str) -> Json:
    """This version of the memory, in any state."""
    return await compose.get(caller, f"/v1/memories/{memory_id}")


async def find_newest(compose: ComposeClient, caller: AgentCaller, memory: Json) -> Json:
    """The latest successor of this version."""
    page = await compose.get(caller, f"/v1/memories/{memory['memory_id']}/history")
    return page["memories"][-1]
