"""What a model, where there is one, changes in the summary that the rules made; they stand whatever it fails with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from services.observer import prompts
from services.observer import summary as rolling
from services.observer.extract import MALFORMED, UNAVAILABLE, USED_UP
from services.observer.prompts import Said
from services.observer.retell import retold, telling
from services.observer.summary import Summary, SummaryPolicy
from shared.asking import Asking
from shared.cached import Input, digest
from shared.db import Subject
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.runtime import Runtime
from shared.store import model_cache
from shared.text import tokens
from shared.text.secrets import redact

PURPOSE = "summary"
"""Under which these questions are counted and their answers kept."""


@dataclass(frozen=True, slots=True)
class Condensed:
    """The summary as it stands now: by which model where one had a part in it, and a note where it failed."""

    summary: Summary
    model_id: str | None = None
    notes: tuple[str, ...] = ()


async def condense(
    rt: Runtime,
    subject: Subject,
    made: Summary,
    said: Sequence[Said],
    turn_id: UUID,
    asking: Asking,
    limits: SummaryPolicy,
) -> Condensed:
    """What the rules made of these messages, and what a model changes in it; the same question is asked once.

    What it cost, its answer and one that nobody could read are in `asking`.
    """
    model = rt.models.chat_model_id
    told = telling(made.items, said)
    wanted = rt.policy.session.use_model and rt.policy.observer.use_model
    if model is None or not wanted or not any(each.role == "user" for each in told.messages):
        return Condensed(made)
    ask = prompts.recounting(rt.policy.session.summary_prompt)
    prompt = replace(ask(told.shown(), told.messages), deadline_s=rt.policy.observer.model_deadline_s)
    said_hash = digest(prompt.system, prompt.user)
    question = Input(PURPOSE, prompt.version, model, said_hash, turn_id)
    async with rt.db.transaction(subject) as conn:
        asking.cache.known |= await model_cache.find(conn, subject, [question.hash])
    if not asking.allows(prompt, question):
        return Condensed(made, notes=(USED_UP,))
    try:
        answer = await asking.ask(rt.models, prompt, question)
    except ModelUnavailable:
        return Condensed(made, notes=(UNAVAILABLE,))
    except MalformedAnswer:
        return Condensed(made, notes=(MALFORMED,))
    items = retold(made.items, told, answer.value, made.source_to_seq, limits)
    changed = rolling.with_items(made, items, limits, tokens.count, lambda text: redact(text)[0])
    return Condensed(changed, model)
