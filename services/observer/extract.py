"""What one turn says: by the rules, with the habits that it completes, and by a model if one is available.

Findings of the rules that are certain stay, whatever the model says.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

from services.observer import prompts
from services.observer.merge import ModelAttribution, QuoteSource, doubtable, merge_items
from services.observer.prompts import KnownMemory, PromptMessage
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.extraction import (
    MessageText,
    Observation,
    ObserveContext,
    Observed,
    ObservePolicy,
    ReadingNote,
    TurnText,
    observe,
    slash,
    turn_texts,
)
from shared.extraction.clauses import language_of
from shared.extraction.habits import DETECTOR, Habit, HabitMention, find_act, judge_habit
from shared.extraction.keeping import keep_dictated, keep_kinds
from shared.extraction.observe import cut_to_stretches
from shared.extraction.turn_texts import turn_text
from shared.model_calls.calls import AnswerKey, ModelCalls, digest
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.provider import ModelProvider
from shared.policy import ObserverPolicy
from shared.secrets import redact
from shared.store import told_before
from shared.store.chunks import Chunk
from shared.store.told_before import ToldBefore

UNAVAILABLE = "model_unavailable"
MALFORMED = "model_answer_malformed"
USED_UP = "model_budget_used_up"
PROMPT_UNKNOWN = "prompt_version_unknown"
PURPOSE = "extract"
"""The purpose under which the questions are counted and their answers stored."""
PROMPT = "prompt_version"
"""The dimension of an experiment that chooses the version of the question."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The findings in one turn, notes about how they were found, and the version of the question to a model."""

    observed: Observed
    notes: tuple[str, ...] = ()
    prompt_version: str | None = None


async def extract(
    models: ModelProvider,
    policy: ObserverPolicy,
    turn: TurnText,
    context: ObserveContext,
    memories: Sequence[KnownMemory] = (),
    *,
    prompt_version: str | None = None,
    calls: ModelCalls | None = None,
    turn_id: UUID | None = None,
) -> Extraction:
    """The findings of the rules and of a model; a note if the model is unavailable, malformed or out of budget.

    A question that `calls` has an answer to is not asked again and costs nothing; `calls` counts the others and keeps
    their answers, for `turn_id`.
    """
    limits = _limits(policy)
    observed = await asyncio.to_thread(observe, turn, context, limits)
    model = models.chat_model_id
    sources = _list_sources(cut_to_stretches(turn, limits)[0], observed, context, limits)
    if (
        model is None
        or not (policy.use_model and policy.auto_remember)
        or not any(source.role == "user" for source in sources)
    ):
        return Extraction(observed)
    messages = [PromptMessage(source.role, redact(source.text)[0], source.name) for source in sources]
    version, notes = _choose_version(policy, prompt_version)
    words = [redact(each.text)[0] for each in doubtable(observed)]
    prompt = replace(prompts.make_question(version, messages, memories, words), deadline_s=policy.model_deadline_s)
    calls = calls or ModelCalls()
    key = AnswerKey(PURPOSE, prompt.version, model, _digest(turn), turn_id)
    if not calls.allows(prompt, key):
        return Extraction(observed, (*notes, USED_UP))
    try:
        answer = await calls.ask(models, prompt, key, partial(_to_stored_answer, known=memories, words=words))
    except ModelUnavailable:
        return Extraction(observed, (*notes, UNAVAILABLE), prompt.version)
    except MalformedAnswer:
        return Extraction(observed, (*notes, MALFORMED), prompt.version)
    items = prompts.list_accepted(answer.value, messages)
    by = ModelAttribution(answer.model_id, answer.prompt_version, frozenset(policy.profile_slots))
    reasons = prompts.list_misread(answer.value)
    doubted = zip(doubtable(observed), words, strict=True)
    misread: list[tuple[Observation, prompts.Wrong]] = [
        (each, reasons[text]) for each, text in doubted if text in reasons
    ]
    merged = merge_items(observed, items, sources, by, limits.max_observations, misread)
    return Extraction(merged, notes, answer.prompt_version)


def keep_allowed(policy: ObserverPolicy, observed: Observed) -> Observed:
    """The findings that the policy, with the settings of the user, allows to keep."""
    if not policy.auto_remember:
        observed = keep_dictated(observed)
    return keep_kinds(observed, frozenset(policy.kinds), policy.refused_keys)


async def read(policy: ObserverPolicy, turn: TurnText, context: ObserveContext) -> Extraction:
    """The findings of the rules alone."""
    return Extraction(await asyncio.to_thread(observe, turn, context, _limits(policy)))


async def list_names(policy: ObserverPolicy, turn: TurnText, context: ObserveContext) -> Extraction:
    """The names in an imported turn, by which search finds it."""
    extraction = await read(policy, turn, context)
    return Extraction(Observed(mentions=extraction.observed.mentions))


def _limits(policy: ObserverPolicy) -> ObservePolicy:
    return ObservePolicy(entity_min_mentions=policy.entity_min_mentions, profile_slots=frozenset(policy.profile_slots))


async def read_retractions(turn: TurnText, context: ObserveContext, unread: tuple[ReadingNote, ...]) -> Extraction:
    """The retractions in a withheld turn, with the notes that nothing else of it was read."""
    if not turn.messages and not turn.items:
        return Extraction(Observed(explain=unread))
    observed = await asyncio.to_thread(observe, turn, context, ObservePolicy())
    retractions = tuple(each for each in observed.observations if each.retracts)
    return Extraction(Observed(retractions, explain=unread))


def may_ask(models: ModelProvider, policy: ObserverPolicy) -> bool:
    """Whether a model is configured and may be asked."""
    return models.chat_model_id is not None and policy.use_model


def find_question(models: ModelProvider, policy: ObserverPolicy, turn: Turn) -> AnswerKey | None:
    """The key of the question about the turn; None if no model may be asked about it."""
    if turn.withheld:
        return None
    return find_question_about(models, policy, turn_texts.turn_text(turn), turn.dimension(PROMPT))


def find_question_about(
    models: ModelProvider, policy: ObserverPolicy, turn: TurnText, prompt_version: str | None
) -> AnswerKey | None:
    """The key of the question about the text; None if there is no model to ask, or no user speaks."""
    may_read = policy.use_model and policy.auto_remember
    if models.chat_model_id is None or not may_read or not any(map(is_spoken, turn.messages)):
        return None
    version, _ = _choose_version(policy, prompt_version)
    return AnswerKey(PURPOSE, version, models.chat_model_id, _digest(turn))


def is_spoken(message: MessageText) -> bool:
    """Whether the user says something in it, other than commands."""
    command = slash.parse_command(message.text)
    return message.role == "user" and bool(message.text.strip()) and (command is None or command.cmd == "remember")


def _digest(turn: TurnText) -> str:
    messages = [(message.role, message.text, message.name) for message in turn.messages]
    return digest(messages, [(tool.name, tool.result_text, tool.status) for tool in turn.tool_calls])


def _choose_version(policy: ObserverPolicy, wanted: str | None) -> tuple[str, tuple[str, ...]]:
    """The prompt of the experiment, else that of the policy, and a note if the experiment names an unknown one."""
    if wanted and wanted in prompts.EXTRACT:
        return wanted, ()
    return policy.extract_prompt, (PROMPT_UNKNOWN,) if wanted else ()


def _to_stored_answer(
    answer: prompts.ExtractionAnswer, known: Sequence[KnownMemory], words: Sequence[str]
) -> prompts.ExtractionAnswer:
    """The answer with ids of memories and texts of findings instead of numbers."""
    return prompts.name_by_text(prompts.to_real_ids(answer, known), words)


def _list_sources(
    turn: TurnText, observed: Observed, context: ObserveContext, policy: ObservePolicy
) -> list[QuoteSource]:
    """The texts that the model reads: no commands, no failed calls, no text longer than the rules read."""
    commands = {each.ordinal for each in observed.explain if each.reason == "command"}
    limit = policy.max_message_chars
    spoken = [
        QuoteSource(message.role, message.text, message.name, message.ordinal, message.created_at)
        for message in turn.messages
        if message.ordinal not in commands and message.text.strip()
    ]
    results = [
        QuoteSource("tool", tool.result_text[:limit], tool.name or None, tool.ordinal, context.occurred_at)
        for tool in turn.tool_calls
        if tool.status == "ok"
    ]
    return sorted([*spoken, *results], key=lambda source: source.ordinal)


PASSING_ASSERTIONS: frozenset[str] = frozenset({"declared", "inferred", "correction"})
"""The assertions as which the rules read a habit that they do not recognise as one."""


@dataclass
class HabitTellings:
    """The short messages of a user that may mention a habit, including those of this batch that were read so far."""

    earlier: list[HabitMention] = field(default_factory=list[HabitMention])

    def add_habits(self, turn: Turn, observed: Observed, policy: ObserverPolicy) -> Observed:
        """The findings with the habits that the messages complete; a single mention of a habit becomes no memory."""
        for message in list_tellings(turn):
            observed = self._add_habit(turn, message, observed, policy)
        return observed

    def _add_habit(self, turn: Turn, message: MessageText, observed: Observed, policy: ObserverPolicy) -> Observed:
        act = find_act(message.text)
        if act is None or any(each.ordinal == message.ordinal for each in observed.refused):
            return observed
        telling = HabitMention(act, turn.session_id, message.created_at)
        verdict = judge_habit(telling, self.earlier, policy.habit_sessions_min)
        habit = verdict.habit
        self.earlier.append(replace(telling, key=habit.key, times=habit.times) if habit else telling)
        if not verdict.known:
            return observed
        others = tuple(one for one in observed.observations if not _is_passing(one, message))
        suspected = tuple(one for one in observed.suspected if not _is_passing(one, message))
        note = ReadingNote((0, len(message.text)), "kept" if habit else "dropped", "habit", message.ordinal)
        added = (to_habit(habit, message),) if habit else ()
        return replace(observed, observations=(*others, *added), suspected=suspected, explain=(*observed.explain, note))


def list_tellings(turn: Turn) -> list[MessageText]:
    """The messages of a turn that mention an act: of the user, without another name, and with text only."""
    if turn.withheld:
        return []
    plain = {event.ordinal for event in turn.events if not event.blocks}
    own = [m for m in turn_text(turn).messages if m.role == "user" and not m.name and m.ordinal in plain]
    return [message for message in own if find_act(message.text)]


async def load_habits(conn: Connection, subject: Subject, turns: Sequence[Turn]) -> HabitTellings:
    """Loads earlier messages that may mention the same acts; reads nothing if these turns mention no act."""
    acts = [act for turn in turns for message in list_tellings(turn) if (act := find_act(message.text))]
    rows = await told_before.load_messages(conn, subject, {term for act in acts for term in act.sought})
    return HabitTellings([telling for row in rows if (telling := to_telling(row))])


def to_telling(row: ToldBefore) -> HabitMention | None:
    """The mention of an act in an earlier message; None if it mentions none."""
    act = find_act(row.text)
    return HabitMention(act, row.session_id, row.said_at, row.key, row.times or 0) if act else None


def list_habit_chunks(chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks of a turn in which habits are searched."""
    return [each for each in chunks if each.role == "user" and not each.name and find_act(each.text)]


def to_habit(habit: Habit, message: MessageText) -> Observation:
    """The habit in the words of the latest message that mentions it."""
    text = message.text.strip()
    return Observation(
        kind="pattern",
        key=habit.key,
        value={"times": habit.times, "since": habit.since.isoformat(), "quote": text},
        text=text,
        assertion="behaviour",
        epistemic="fact",
        polarity=0,
        priority="normal",
        retracts=False,
        old_value=None,
        detector=DETECTOR,
        pattern="repeated",
        language=language_of(text),
        role="user",
        message_ordinal=message.ordinal,
        span=(0, len(message.text)),
    )


def _is_passing(one: Observation, message: MessageText) -> bool:
    """Whether the rules read it in the message as something that happened or holds only once."""
    in_message = one.message_ordinal == message.ordinal and one.assertion in PASSING_ASSERTIONS and not one.retracts
    return in_message and one.key is None and one.role == "user"
