"""Runs services in one process: loads their code, then opens, builds and serves them."""

import gc
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib import import_module

import uvloop

from services.cli.process import announce_port
from shared import service
from shared.bus.access import open_access
from shared.bus.broker import Bus
from shared.presence import present
from shared.runtime import Runtime, open_runtime
from shared.service import Service
from shared.settings import Settings

WITH_MODELS = frozenset({"compose", "observer", "analyzer", "evolver"})
POOL = 6
POOL_OF_COMPOSE = 16

Build = Callable[[Runtime], Service]


def load_builders(names: Sequence[str]) -> dict[str, Build]:
    """The builders of these services; loads no other code."""
    gc.disable()  # what is loaded stays: nothing is to be collected
    try:
        return {name: import_module(f"services.{name}.app").build for name in names}
    finally:
        gc.enable()


def run(builds: Mapping[str, Build], found: Settings) -> None:
    """The services run until SIGTERM."""
    uvloop.run(_run(builds, found))


async def _run(builds: Mapping[str, Build], config: Settings) -> None:
    async with _open_runtimes(tuple(builds), config) as runtimes:
        if "compose" in builds:
            from shared.access.authenticator import refuse_unguarded  # the others load nothing that reads tokens

            await refuse_unguarded(runtimes[0].db, runtimes[0].policy.access, config.http_host)
        services = [build(rt) for build, rt in zip(builds.values(), runtimes, strict=True)]
        port = config.http_port if "compose" in builds else config.metrics_port
        async with present(runtimes[0].db, services, runtimes[0].policy.delivery.silent_after_s):
            await service.serve(
                service.run_together(services), host=config.http_host, port=port, announce=announce_port
            )


@asynccontextmanager
async def _open_runtimes(names: Sequence[str], config: Settings) -> AsyncGenerator[list[Runtime], None]:
    """A runtime for each service: they share all but Kafka."""
    pool = POOL_OF_COMPOSE if "compose" in names else POOL
    with_models = not WITH_MODELS.isdisjoint(names)
    async with open_runtime(config, *names, pool=pool, models=with_models) as rt:
        ways = [open_access(config, name) for name in names[1:]]
        yield [rt, *(replace(rt, kafka=kafka, bus=Bus(kafka, rt.policy.delivery)) for kafka in ways)]
