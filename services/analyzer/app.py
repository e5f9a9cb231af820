"""Analyzer: wires observation.recorded to its handler."""

from functools import partial

from schemas.topics import OBSERVATION_RECORDED
from services.analyzer import handler
from shared.runtime import Runtime
from shared.service import Service
from shared.worker import worker


def build(rt: Runtime) -> Service:
    """The analyzer as a service."""
    rt.bus.consume(
        OBSERVATION_RECORDED,
        service="analyzer",
        group="smartbrain-analyzer",
        handle=partial(handler.propose, rt),
        give_up=partial(handler.give_up, rt),
    )
    return worker("analyzer", rt)
