"""Waits for the result of a write, as long as an agent should wait."""

import asyncio
import time

from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient, Json

WAIT_S = 5.0
FIRST_PAUSE_S = 0.05


async def await_settled(compose: ComposeClient, caller: AgentCaller, receipt: Json) -> Json:
    """The receipt once the workers have processed the write, or its state after five seconds."""
    until, pause = time.monotonic() + WAIT_S, FIRST_PAUSE_S
    while not receipt["settled"] and time.monotonic() < until:
        await asyncio.sleep(pause)
        pause = min(2 * pause, 0.4)
        receipt = await compose.get(caller, f"/v1/writes/{receipt['receipt_id']}")
    return receipt
