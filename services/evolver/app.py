"""The evolver service: its consumers for corrections and proposals, and its timers."""

from functools import partial

from schemas.topics import ANALYSIS_AHEAD, ANALYSIS_PROPOSED, FEEDBACK_RECORDED, OBSERVATION_URGENT
from services.evolver import embed, experience, handler, promotion, receptions, rounds
from shared.runtime import Runtime
from shared.service import Service
from shared.worker import worker


def build(rt: Runtime) -> Service:
    """Builds the service; corrections have their own consumer, so that they never queue."""
    correct, apply = partial(handler.apply_corrections, rt), partial(handler.apply_proposals, rt)
    give_up = partial(handler.give_up, rt)
    rt.bus.consume(OBSERVATION_URGENT, service="evolver", handle=correct, give_up=give_up)
    rt.bus.consume(ANALYSIS_PROPOSED, service="evolver", handle=apply, give_up=give_up)
    rt.bus.consume(ANALYSIS_AHEAD, service="evolver", handle=apply, give_up=give_up)
    rt.bus.consume(
        FEEDBACK_RECORDED,
        service="evolver",
        handle=partial(receptions.apply_feedback, rt),
        give_up=partial(receptions.give_up, rt),
    )
    vectors = (embed.embed_forever, embed.fill_forever, embed.pack_forever)
    timers = (*vectors, rounds.keep_forever, experience.learn_forever, promotion.propose_forever)
    return worker("evolver", rt, *(partial(timer, rt) for timer in timers))
