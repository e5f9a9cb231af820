"""What the command line runs: a service with its probes, stopped by SIGTERM after what is in flight."""

import asyncio
import gc
import signal
import socket
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import uvicorn
from prometheus_client import generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.connections import http_config
from shared.errors import ConfigurationError, TransientError
from shared.telemetry import METRICS_TYPE, logger

MEASURE_EVERY_S = 2.0


async def _nothing() -> None: ...


def _none_stalled() -> list[str]:
    return []


@dataclass(frozen=True)
class Service:
    """One service. `run` goes on until cancelled; `ready` names each dependency and whether it is usable.

    `stalled` names its loops that stand still; `whole` says of every service, by name, what is wrong with it.
    """

    name: str
    run: Callable[[], Awaitable[None]]
    ready: Callable[[], Awaitable[dict[str, bool]]]
    measure: Callable[[], Awaitable[None]] = _nothing
    http: Starlette | None = None
    stalled: Callable[[], list[str]] = _none_stalled
    whole: Callable[[], Awaitable[dict[str, list[str]]]] | None = None


def run_together(services: Sequence[Service]) -> Service:
    """Several services as one: it is ready when all are, and ends when one of them does."""
    if len(services) == 1:
        return services[0]

    async def run() -> None:
        async with asyncio.TaskGroup() as tasks:
            for each in services:
                tasks.create_task(_run(each), name=each.name)

    async def ready() -> dict[str, bool]:
        states = await asyncio.gather(*(each.ready() for each in services))
        return {
            f"{each.name}.{name}": usable
            for each, state in zip(services, states, strict=True)
            for name, usable in state.items()
        }

    async def measure() -> None:
        for each in services:
            await each.measure()

    def is_stalled() -> list[str]:
        return [f"{each.name}.{loop}" for each in services for loop in each.stalled()]

    name = "+".join(each.name for each in services)
    http = next((each.http for each in services if each.http), None)
    whole = next((each.whole for each in services if each.whole), None)
    return Service(name, run, ready, measure, http, is_stalled, whole)


def probes(app: Starlette, service: Service, alive: Callable[[], bool]) -> Starlette:
    """The application with /live, /ready and /metrics."""

    async def live(_: Request) -> Response:
        """Whether the process makes progress: it goes on, and none of its loops stands still."""
        stalled = service.stalled()
        live = alive() and not stalled
        return JSONResponse({"live": live, "stalled": stalled}, 200 if live else 503)

    async def ready(request: Request) -> Response:
        """Whether each dependency is usable; with `?whole=true` also whether every service is."""
        state: dict[str, Any] = await service.ready()
        usable = all(state.values())
        if service.whole:
            services = await service.whole()
            well = not any(services.values())
            state = {**state, "whole": {"well": well, "services": services}}
            usable = usable and (well or request.query_params.get("whole") != "true")
        return JSONResponse({"ready": usable, **state}, 200 if usable else 503)

    async def metrics(_: Request) -> Response:
        """Prometheus metrics."""
        return Response(generate_latest(), media_type=METRICS_TYPE)

    app.routes.extend(Route(f"/{each.__name__}", each) for each in (live, ready, metrics))
    return app


async def serve(service: Service, *, host: str, port: int, announce: Callable[[int], None] | None = None) -> None:
    """Runs the service and its HTTP side until SIGTERM or SIGINT, then lets what is in flight finish.

    `announce` hears the port that was bound; one that is taken raises ConfigurationError before anything has begun.
    If the service itself ends, so does this, with its error.
    """
    listening = _listen(service.name, host, port)
    # what was imported lives as long as the process: a full collection over it would hold up a request for 50 ms
    gc.collect()
    gc.freeze()
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    main = asyncio.create_task(_run(service))
    app = probes(service.http or Starlette(), service, lambda: not main.done())
    server = _Server(http_config(app))
    http = asyncio.create_task(server.serve(sockets=[listening]))
    meter = asyncio.create_task(_measure(service))
    bound: int = listening.getsockname()[1]
    if announce:
        announce(bound)
    logger().info("service_started", service=service.name, port=bound)
    stop = asyncio.create_task(stopping.wait())
    await asyncio.wait({main, stop, http}, return_when=asyncio.FIRST_COMPLETED)
    failure = main.exception() if main.done() and not main.cancelled() else None
    server.should_exit = True
    await asyncio.gather(http, return_exceptions=True)
    for task in (stop, meter, main):
        task.cancel()
    await asyncio.gather(stop, meter, main, return_exceptions=True)
    logger().info("service_stopped", service=service.name)
    if failure:
        raise failure


def _listen(name: str, host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ConfigurationError(f"{name} cannot listen on {host}:{port}: {error.strerror}") from error


class _Server(uvicorn.Server):
    """Leaves signals to `serve`."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Does nothing: `serve` stops the server."""
        yield


async def _run(service: Service) -> None:
    await service.run()


async def _measure(service: Service) -> None:
    while True:
        with suppress(TransientError):
            await service.measure()
        await asyncio.sleep(MEASURE_EVERY_S)
