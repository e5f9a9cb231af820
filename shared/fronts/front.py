"""A service that only calls compose: it is kept from others while compose requires no key."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext, suppress

from shared.access.loopback import is_loopback
from shared.errors import ConfigurationError
from shared.fronts.client import ComposeClient
from shared.fronts.problems import CallError
from shared.settings import Settings
from shared.telemetry import logger

PAUSE_S = 1.0


class Front:
    """The service and its client of compose; it is ready once no stranger can reach it. `called` names it in errors."""

    def __init__(self, called: str, settings: Settings) -> None:
        address = settings.url or f"http://127.0.0.1:{settings.http_port}"
        self.compose = ComposeClient(lambda: address)
        self.ready = asyncio.Event()
        self._called = called
        self._host = settings.http_host

    async def run(self, open_rest: Callable[[], AbstractAsyncContextManager[None]] = nullcontext) -> None:
        """Serves until it is cancelled; `open_rest` holds what else must be open meanwhile."""
        try:
            if not is_loopback(self._host):
                await self._refuse_unguarded()
            async with open_rest():
                self.ready.set()
                await asyncio.Event().wait()
        finally:
            self.ready.clear()
            await self.compose.close()

    async def find_ready(self) -> dict[str, bool]:
        """Whether it serves, and whether compose answers."""
        with suppress(CallError):
            await self.compose.find_state()
            return {"serving": self.ready.is_set(), "compose": True}
        return {"serving": self.ready.is_set(), "compose": False}

    async def _refuse_unguarded(self) -> None:
        """Waits for compose; ConfigurationError if it requires no key and others could reach this service."""
        while True:
            try:
                if not await self.compose.is_open():
                    return
            except CallError as problem:
                logger().warning("front_waits", service=self._called, error=problem.message)
                await asyncio.sleep(PAUSE_S)
            else:
                raise ConfigurationError(
                    f"{self._called} would listen on {self._host or 'every address'}, but compose requires no key:"
                    " create one with `smartbrain keys create`, name an issuer (access.issuers in brain.yml), or leave"
                    " SMARTBRAIN_HTTP_HOST at 127.0.0.1"
                )
