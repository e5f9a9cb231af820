"""Serves applications of scripted servers over real HTTP in this process."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.types import ASGIApp


@asynccontextmanager
async def serving(app: ASGIApp, log_level: str = "error", config: uvicorn.Config | None = None) -> AsyncGenerator[str]:
    """The address of the running application, for direct access despite any proxy in the environment.

    It stops when the block ends, and aborts slow responses.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    config = config or uvicorn.Config(app, log_level=log_level, lifespan="off")
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    running = asyncio.create_task(server._serve(sockets=[listener]))  # pyright: ignore[reportPrivateUsage] # `serve` would replace the signal handlers
    try:
        while not server.started:  # noqa: ASYNC110 # uvicorn offers no event
            await asyncio.sleep(0.005)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("NO_PROXY", "127.0.0.1")
            patch.setenv("no_proxy", "127.0.0.1")
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        server.force_exit = True
        await running
        listener.close()
