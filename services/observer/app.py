"""Observer: wires turn.committed, turn.ahead and turn.extract to their handlers."""

from functools import partial

from schemas.topics import TURN_AHEAD, TURN_COMMITTED, TURN_EXTRACT
from services.observer import handler, prompts, second_step
from shared.runtime import Runtime
from shared.service import Service
from shared.worker import worker

MODEL_BATCH = 200
"""The number of turns waiting for a model that are fetched together, newest first. The model is asked about each unless
it has waited too long, so that all are done within `observer.model_lag_max_s` and the time of one question."""


def build(rt: Runtime) -> Service:
    """The observer as a service; ConfigurationError if the policy names a prompt that does not exist."""
    prompts.choose_prompt(rt.policy.observer.extract_prompt)
    prompts.choose_recount(rt.policy.session.summary_prompt)
    observe, give_up = partial(handler.observe_turns, rt), partial(handler.give_up, rt)
    rt.bus.consume(TURN_COMMITTED, service="observer", handle=observe, give_up=give_up)
    rt.bus.consume(TURN_AHEAD, service="observer", handle=observe, give_up=give_up)
    rt.bus.consume(
        TURN_EXTRACT,
        service="observer",
        handle=partial(second_step.add_from_model, rt),
        give_up=partial(second_step.give_up, rt),
        batch=MODEL_BATCH,
        newest_first=True,
    )
    return worker("observer", rt)
