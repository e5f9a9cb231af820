"""Erasure: wires erasure.requested to its handler, and the timer that watches deadlines."""

from functools import partial

from schemas.topics import ERASURE_REQUESTED
from services.erasure import handler, watch
from shared.runtime import Runtime
from shared.service import Service
from shared.worker import worker

BATCH = 20
"""Events fetched together: each may take as long as its user has rows."""


def build(rt: Runtime) -> Service:
    """The erasure worker as a service; several may run."""
    rt.bus.consume(
        ERASURE_REQUESTED,
        service="erasure",
        handle=partial(handler.erase_all, rt),
        give_up=partial(handler.give_up, rt),
        batch=BATCH,
    )
    return worker("erasure", rt, partial(watch.watch_forever, rt))
