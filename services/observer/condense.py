"""The changes that a model makes in a summary of the rules; the rules' version stays if the model fails."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from services.observer import digest, prompts
from services.observer import summary as rolling
from services.observer.extract import MALFORMED, UNAVAILABLE, USED_UP
from services.observer.prompts import PromptMessage
from services.observer.retell import choose_lines, retold
from services.observer.summary import Summary, SummaryPolicy
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.language import tokens
from shared.model_calls.answer_cache import AnswerKey
from shared.model_calls.answer_cache import digest as digest_of
from shared.model_calls.calls import ModelCalls
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.runtime import Runtime
from shared.secrets import redact
from shared.store import model_answers, summaries, turns
from shared.store.summaries import SummaryRow

PURPOSE = "summary"
"""Under which these questions are counted and their answers kept."""


@dataclass(frozen=True, slots=True)
class Condensed:
    """The summary as it stands now: by which model where one had a part in it, and a note where it failed."""

    summary: Summary
    model_id: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retold:
    """The next version of a summary that the rules had made; without a row they stand, and a note may say why."""

    row: SummaryRow | None = None
    notes: tuple[str, ...] = ()

    def note(self) -> dict[str, Any]:
        """What the outcome of the turn that the summary reaches to says of it from now on."""
        said: dict[str, Any] = {"notes": self.notes} if self.notes else {}
        return {**said, "version": self.row.version, "model_id": self.row.model_id} if self.row else said


@dataclass(frozen=True, slots=True)
class SummarySource:
    """The newest summary of a session, as the rules made it, and the turns that no model was shown for one."""

    row: SummaryRow
    summary: Summary
    turns: Sequence[Turn]


async def renew(rt: Runtime, subject: Subject, turn: Turn, asking: ModelCalls) -> Retold:
    """What a model makes of the summary of the turn's session, where that reaches just to the turn.

    One that reaches further is for the turn that it reaches to: it holds these messages too, and no version is lost.
    """
    if not (rt.policy.session.use_model and rt.policy.session.summaries):
        return Retold()
    async with rt.db.transaction(subject) as conn:
        basis = await _basis(conn, subject, turn)
    if basis is None:
        return Retold()
    policy = rolling.to_summary_policy(rt.policy)
    messages = [
        PromptMessage(m.role, m.text, m.name)
        for each in basis.turns
        if not each.only_ends
        for m in digest.text_of(each).messages
    ]
    told = await condense(rt, subject, basis.summary, messages, turn.turn_id, asking, policy)
    row = to_next_version(basis.row, told.summary, told.model_id, policy) if told.model_id else None
    return Retold(row, told.notes)


async def _basis(conn: Connection, subject: Subject, turn: Turn) -> SummarySource | None:
    row = await summaries.latest(subject, turn.session_id).on(conn)
    if row is None or row.source_to_seq != turn.seq or row.model_id != digest.MODEL_ID:
        return None
    summary = await digest.without_stale_lines(conn, subject, turn.session_id, digest.read_row(row))
    if summary is None:
        return None
    shown = await summaries.reached_by_model(conn, subject, turn.session_id, digest.MODEL_ID)
    shown = max(shown, await summaries.load_cleared_to(conn, subject, turn.session_id))
    since = turns.window(subject, turn.session_id, digest.MAX_TURNS, after=shown, before=turn.seq + 1)
    return SummarySource(row, summary, await since.on(conn))


def to_next_version(row: SummaryRow, summary: Summary, model_id: str, policy: SummaryPolicy) -> SummaryRow:
    version, block_from = row.version + 1, row.block_from_seq
    return replace(
        row,
        version=version,
        text=summary.text,
        summary_json=rolling.dump(replace(summary, version=version)),
        model_id=model_id,
        generated_at=None,
        block_text=rolling.block(summary, block_from, policy, tokens.count) if block_from else None,
    )


async def condense(
    rt: Runtime,
    subject: Subject,
    summary: Summary,
    messages: Sequence[PromptMessage],
    turn_id: UUID,
    asking: ModelCalls,
    limits: SummaryPolicy,
) -> Condensed:
    """What the rules made of these messages, and what a model changes in it; the same question is asked once.

    What it cost, its answer and one that nobody could read are in `asking`.
    """
    model = rt.models.chat_model_id
    edit = choose_lines(summary.items, messages)
    wanted = rt.policy.session.use_model and rt.policy.observer.use_model
    if model is None or not wanted or not any(each.role == "user" for each in edit.messages):
        return Condensed(summary)
    ask = prompts.choose_recount(rt.policy.session.summary_prompt)
    prompt = replace(ask(edit.to_shown_lines(), edit.messages), deadline_s=rt.policy.observer.model_deadline_s)
    question = AnswerKey(PURPOSE, prompt.version, model, digest_of(prompt.system, prompt.user), turn_id)
    async with rt.db.transaction(subject) as conn:
        asking.cache.known |= await model_answers.find_cached(conn, subject, [question.hash])
    if not asking.allows(prompt, question):
        return Condensed(summary, notes=(USED_UP,))
    try:
        answer = await asking.ask(rt.models, prompt, question)
    except ModelUnavailable:
        return Condensed(summary, notes=(UNAVAILABLE,))
    except MalformedAnswer:
        return Condensed(summary, notes=(MALFORMED,))
    items = retold(summary.items, edit, answer.value, summary.source_to_seq, limits)
    changed = rolling.with_items(summary, items, limits, tokens.count, lambda text: redact(text)[0])
    return Condensed(changed, model)
