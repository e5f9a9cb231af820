"""Memories as the tools show them: marked as data, in few words."""

import secrets

from services.mcp.contracts import Known
from services.mcp.rules.rendering import Spoken, mark_text, shorten_text, write_overview
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient, Json

CANDIDATES_MOST = 5
OVERVIEW_MOST = 200
WORDS_MOST = 80
"""Tokens of a memory that is shown for choice."""


def make_nonce() -> str:
    """The nonce of one answer, which no author of a memory could know."""
    return secrets.token_hex(4)


def to_known(memory: Json, nonce: str) -> Known:
    """The memory as a tool shows it."""
    return Known(
        memory_id=memory["memory_id"],
        version=memory["version"],
        text=mark_text(shorten_text(memory["content"], WORDS_MOST), nonce),
        type=memory["type"],
        status=memory["status"],
        since=memory["valid_at"],
        confidence=memory["confidence"],
    )


async def read_overview(compose: ComposeClient, caller: AgentCaller, language: Spoken) -> str:
    """The active memories by type, newest first."""
    page = await compose.get(caller, "/v1/memories", limit=OVERVIEW_MOST)
    return write_overview(page["memories"], page["count"], language, make_nonce())
