"""Observer: wires turn.committed to its handler."""

from functools import partial

from schemas.topics import TURN_COMMITTED
from services.observer import handler
from shared.runtime import Runtime
from shared.service import Service
from shared.worker import worker


def build(rt: Runtime) -> Service:
    """The observer as a service."""
    rt.bus.consume(
        TURN_COMMITTED,
        service="observer",
        group="smartbrain-observer",
        handle=partial(handler.observe_turns, rt),
        give_up=partial(handler.give_up, rt),
    )
    return worker("observer", rt)
