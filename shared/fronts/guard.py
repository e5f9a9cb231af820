"""Keeps a service that calls compose from being reachable by others while compose requires no key."""

import asyncio

from shared.errors import ConfigurationError
from shared.fronts.client import ComposeClient
from shared.fronts.problems import CallError
from shared.telemetry import logger

PAUSE_S = 1.0


async def refuse_unguarded(compose: ComposeClient, service: str, host: str) -> None:
    """Waits for compose; ConfigurationError if it requires no key and others could reach this service."""
    while True:
        try:
            if not await compose.is_open():
                return
        except CallError as problem:
            logger().warning("front_waits", service=service, error=problem.message)
            await asyncio.sleep(PAUSE_S)
        else:
            raise ConfigurationError(
                f"{service} would listen on {host or 'every address'}, but compose requires no key: create "
                "one with `smartbrain keys create`, name an issuer (access.issuers in brain.yml), or leave"
                " SMARTBRAIN_HTTP_HOST at 127.0.0.1"
            )


async def reaches(compose: ComposeClient) -> bool:
    """Whether compose answers."""
    try:
        await compose.find_state()
    except CallError:
        return False
    return True
