"""Observer: wires turn.committed to its handler."""

from functools import partial

from schemas.topics import TURN_COMMITTED
from services.observer import handler, prompts
from shared.runtime import Runtime
from shared.service import Service
from shared.worker import worker

MODEL_BATCH = 20
"""Turns fetched together where a model reads each: two questions at 30 s take 20 of the 30 minutes allowed."""


def build(rt: Runtime) -> Service:
    """The observer as a service; ConfigurationError where policy names a prompt that does not exist."""
    prompts.chosen(rt.policy.observer.extract_prompt)
    prompts.recounting(rt.policy.session.summary_prompt)
    asks = rt.models.chat_model_id is not None and rt.policy.observer.use_model
    rt.bus.consume(
        TURN_COMMITTED,
        service="observer",
        group="smartbrain-observer",
        handle=partial(handler.observe_turns, rt),
        give_up=partial(handler.give_up, rt),
        batch=MODEL_BATCH if asks else None,
    )
    return worker("observer", rt)
