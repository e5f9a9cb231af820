"""Requests of agents over the Model Context Protocol."""

from shared.metrics.catalogue import DOOR, Panel, make_counter

AGENT_CALLS = make_counter(
    "smartbrain_agent_calls",
    "Calls of tools over `/mcp`, by tool and by what became of it: `ok`, or the code of the refusal.",
    remedy="`unreachable`: compose is down or far. `no_user`: a client is not told whose memory it has.",
    labels=("tool", "outcome"),
    panels=(Panel(DOOR, "Calls of tools by agents", "By tool, and by outcome where it is not `ok`."),),
)
"""A tool is counted by its name; a call of an unknown one is a protocol error, and is not counted."""
