"""Librarian: wires resource.ingest and promotion.approved to their handlers."""

from functools import partial

from schemas.topics import PROMOTION_APPROVED, RESOURCE_INGEST
from services.librarian import handler, promotion
from shared.runtime import Runtime
from shared.service import Service
from shared.worker import worker

BATCH = 20
"""Resources fetched together: each may take its whole deadline."""


def build(rt: Runtime) -> Service:
    """The librarian as a service; its readiness does not depend on the knowledge side."""
    rt.bus.consume(
        RESOURCE_INGEST,
        service="librarian",
        handle=partial(handler.keep, rt),
        give_up=partial(handler.give_up, rt),
        batch=BATCH,
    )
    rt.bus.consume(
        PROMOTION_APPROVED,
        service="librarian",
        handle=partial(promotion.write, rt),
        give_up=partial(promotion.give_up, rt),
        batch=BATCH,
    )
    return worker("librarian", rt)
