"""The resource `smartbrain://overview`: the user's memories as Markdown."""

from services.mcp.handler.showing import make_nonce
from services.mcp.rules.rendering import Spoken, write_overview
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient

MOST = 200


async def read_overview(compose: ComposeClient, caller: AgentCaller, language: Spoken) -> str:
    """The active memories by type, newest first."""
    page = await compose.get(caller, "/v1/memories", limit=MOST)
    return write_overview(page["memories"], page["count"], language, make_nonce())
