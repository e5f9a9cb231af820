"""Analyzer: wires observation.recorded and observation.ahead to its handler."""

from functools import partial

from schemas.topics import OBSERVATION_AHEAD, OBSERVATION_RECORDED
from services.analyzer import handler, prompts
from shared.runtime import Runtime
from shared.service import Service
from shared.worker import worker

MODEL_BATCH = 20
"""The number of events that are fetched together if models may be asked about each of them."""


def build(rt: Runtime) -> Service:
    """The analyzer as a service; ConfigurationError if the policy names a prompt that does not exist."""
    prompts.choose_prompt(rt.policy.analysis.prompt)
    asks = rt.models.chat_model_id is not None and rt.policy.analysis.use_model and rt.policy.observer.use_model
    batch = MODEL_BATCH if asks or rt.models.embedding_model_id is not None else None
    propose, give_up = partial(handler.propose, rt), partial(handler.give_up, rt)
    rt.bus.consume(OBSERVATION_RECORDED, service="analyzer", handle=propose, give_up=give_up, batch=batch)
    rt.bus.consume(OBSERVATION_AHEAD, service="analyzer", handle=propose, give_up=give_up, batch=batch)
    return worker("analyzer", rt)
