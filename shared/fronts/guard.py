"""A service that asks compose and would be reached by others: not while compose asks nobody for a key."""

import asyncio

from shared.errors import ConfigurationError
from shared.fronts.client import ComposeClient
from shared.fronts.problems import CallError
from shared.telemetry import logger

PAUSE_S = 1.0


async def refuse_unguarded(compose: ComposeClient, service: str, host: str) -> None:
    """Returns once compose asks for keys; ConfigurationError where it asks nobody, and others could reach this."""
    while True:
        try:
            if not await compose.is_open():
                return
        except CallError as problem:
            logger().warning("front_waits", service=service, error=problem.message)
            await asyncio.sleep(PAUSE_S)
        else:
            raise ConfigurationError(
                f"{service} would listen on {host or 'every address'}, and compose asks for no key: make one with"
                " `smartbrain keys create`, name an issuer (access.issuers in brain.yml), or leave"
                " SMARTBRAIN_HTTP_HOST at 127.0.0.1"
            )


async def reaches(compose: ComposeClient) -> bool:
    """Whether compose answers."""
    try:
        await compose.find_state()
    except CallError:
        return False
    return True
