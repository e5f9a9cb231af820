"""The changes of a model to a summary of the rules; if the model fails, the version of the rules stays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from services.observer import prompts
from services.observer import summary as rolling
from services.observer.extract import MALFORMED, UNAVAILABLE, USED_UP
from services.observer.prompts import PromptMessage
from services.observer.session_summaries import MAX_TURNS, MODEL_ID, read_row, text_of, without_stale_lines
from services.observer.summary import Summary, SummaryPolicy
from services.observer.summary_edits import apply_changes, choose_lines
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.language import tokens
from shared.model_calls.calls import AnswerKey, ModelCalls, digest
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.runtime import Runtime
from shared.secrets import redact
from shared.store import model_answers, summaries, turns
from shared.store.summaries import SummaryRow

PURPOSE = "summary"
"""The purpose under which the questions are counted and their answers stored."""


@dataclass(frozen=True, slots=True)
class RevisedSummary:
    """The summary, the model that changed it, if any, and a note if the model failed."""

    summary: Summary
    model_id: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryRevision:
    """The next version of a summary; without a row the version of the rules stays, and a note may give the reason."""

    row: SummaryRow | None = None
    notes: tuple[str, ...] = ()

    def note(self) -> dict[str, Any]:
        """The note for the outcome of the last turn that the summary covers."""
        notes: dict[str, Any] = {"notes": self.notes} if self.notes else {}
        return {**notes, "version": self.row.version, "model_id": self.row.model_id} if self.row else notes


@dataclass(frozen=True, slots=True)
class SummarySource:
    """The newest summary of a session, made by the rules, and the turns that no model has seen for a summary."""

    row: SummaryRow
    summary: Summary
    turns: Sequence[Turn]


async def revise_summary(rt: Runtime, subject: Subject, turn: Turn, calls: ModelCalls) -> SummaryRevision:
    """Lets a model revise the summary of the session of the turn, if it ends with this turn.

    A summary that covers later turns is revised with the last of them: it contains these messages too.
    """
    if not (rt.policy.session.use_model and rt.policy.session.summaries):
        return SummaryRevision()
    async with rt.db.transaction(subject) as conn:
        basis = await _basis(conn, subject, turn)
    if basis is None:
        return SummaryRevision()
    policy = rolling.to_summary_policy(rt.policy)
    messages = [
        PromptMessage(m.role, m.text, m.name)
        for each in basis.turns
        if not each.only_ends
        for m in text_of(each).messages
    ]
    revised = await ask_for_changes(rt, subject, basis.summary, messages, turn.turn_id, calls, policy)
    row = to_next_version(basis.row, revised.summary, revised.model_id, policy) if revised.model_id else None
    return SummaryRevision(row, revised.notes)


async def _basis(conn: Connection, subject: Subject, turn: Turn) -> SummarySource | None:
    row = await summaries.latest(subject, turn.session_id).on(conn)
    if row is None or row.source_to_seq != turn.seq or row.model_id != MODEL_ID:
        return None
    summary = await without_stale_lines(conn, subject, turn.session_id, read_row(row))
    if summary is None:
        return None
    shown = await summaries.reached_by_model(conn, subject, turn.session_id, MODEL_ID)
    shown = max(shown, await summaries.load_cleared_to(conn, subject, turn.session_id))
    since = turns.window(subject, turn.session_id, MAX_TURNS, after=shown, before=turn.seq + 1)
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


async def ask_for_changes(
    rt: Runtime,
    subject: Subject,
    summary: Summary,
    messages: Sequence[PromptMessage],
    turn_id: UUID,
    calls: ModelCalls,
    limits: SummaryPolicy,
) -> RevisedSummary:
    """The summary of the rules with the changes of a model; the same question is asked once.

    Usage, answers and unreadable answers are in `calls`.
    """
    model = rt.models.chat_model_id
    edit = choose_lines(summary.items, messages)
    may_ask = rt.policy.session.use_model and rt.policy.observer.use_model
    if model is None or not may_ask or not any(each.role == "user" for each in edit.messages):
        return RevisedSummary(summary)
    make_prompt = prompts.choose_recount(rt.policy.session.summary_prompt)
    prompt = replace(make_prompt(edit.to_shown_lines(), edit.messages), deadline_s=rt.policy.observer.model_deadline_s)
    question = AnswerKey(PURPOSE, prompt.version, model, digest(prompt.system, prompt.user), turn_id)
    async with rt.db.transaction(subject) as conn:
        calls.cache.known |= await model_answers.find_cached(conn, subject, [question.hash])
    if not calls.allows(prompt, question):
        return RevisedSummary(summary, notes=(USED_UP,))
    try:
        answer = await calls.ask(rt.models, prompt, question)
    except ModelUnavailable:
        return RevisedSummary(summary, notes=(UNAVAILABLE,))
    except MalformedAnswer:
        return RevisedSummary(summary, notes=(MALFORMED,))
    items = apply_changes(summary.items, edit, answer.value, summary.source_to_seq, limits)
    changed = rolling.with_items(summary, items, limits, tokens.count, lambda text: redact(text)[0])
    return RevisedSummary(changed, model)
