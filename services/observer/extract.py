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
from shared.extraction.habits import DETECTOR, Habit, HabitTelling, find_act, judge
from shared.extraction.keeping import keep_dictated, keep_kinds
from shared.extraction.stretches import stretches
from shared.extraction.turn_texts import turn_text
from shared.model_calls.answer_cache import AnswerKey, digest
from shared.model_calls.calls import ModelCalls
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.provider import ModelProvider
from shared.policy import ObserverPolicy
from shared.secrets import redact
from shared.store import habits
from shared.store.chunks import Chunk
from shared.store.habits import ToldBefore

UNAVAILABLE = "model_unavailable"
MALFORMED = "model_answer_malformed"
USED_UP = "model_budget_used_up"
PROMPT_UNKNOWN = "prompt_version_unknown"
PURPOSE = "extract"
"""Under which these questions are counted."""
PROMPT = "prompt_version"
"""The dimension of an experiment that chooses the question."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a turn says, notes on how it was found out, and which version of the question was asked."""

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
    asking: ModelCalls | None = None,
    turn_id: UUID | None = None,
) -> Extraction:
    """What the turn says; a model that is away, talks nonsense or has had its share of the day is a note.

    What `asking` knows is not asked again and costs no share; what was asked is counted and kept there, for `turn_id`.
    """
    limits = _limits(policy)
    observed = await asyncio.to_thread(observe, turn, context, limits)
    model = models.chat_model_id
    sources = _sources(stretches(turn, limits)[0], observed, context, limits)
    if (
        model is None
        or not (policy.use_model and policy.auto_remember)
        or not any(source.role == "user" for source in sources)
    ):
        return Extraction(observed)
    messages = [PromptMessage(source.role, redact(source.text)[0], source.name) for source in sources]
    version, notes = _version(policy, prompt_version)
    words = [redact(each.text)[0] for each in doubtable(observed)]
    prompt = replace(prompts.question(version, messages, memories, words), deadline_s=policy.model_deadline_s)
    asking = asking or ModelCalls()
    key = AnswerKey(PURPOSE, prompt.version, model, _digest(turn), turn_id)
    if not asking.allows(prompt, key):
        return Extraction(observed, (*notes, USED_UP))
    try:
        answer = await asking.ask(models, prompt, key, partial(_in_words, known=memories, words=words))
    except ModelUnavailable:
        return Extraction(observed, (*notes, UNAVAILABLE), prompt.version)
    except MalformedAnswer:
        return Extraction(observed, (*notes, MALFORMED), prompt.version)
    items = prompts.list_accepted(answer.value, messages)
    by = ModelAttribution(answer.model_id, answer.prompt_version, frozenset(policy.profile_slots))
    wrong = prompts.misread(answer.value)
    rules = zip(doubtable(observed), words, strict=True)
    finds: list[tuple[Observation, prompts.Wrong]] = [(each, wrong[text]) for each, text in rules if text in wrong]
    merged = merge_items(observed, items, sources, by, limits.max_observations, finds)
    return Extraction(merged, notes, answer.prompt_version)


def keep_allowed(policy: ObserverPolicy, observed: Observed) -> Observed:
    """What of it the policy lets be kept, which is that of the user's settings."""
    if not policy.auto_remember:
        observed = keep_dictated(observed)
    return keep_kinds(observed, frozenset(policy.kinds), policy.refused_keys)


async def read(policy: ObserverPolicy, turn: TurnText, context: ObserveContext) -> Extraction:
    """What the rules alone find in the turn."""
    return Extraction(await asyncio.to_thread(observe, turn, context, _limits(policy)))


async def list_names(policy: ObserverPolicy, turn: TurnText, context: ObserveContext) -> Extraction:
    """Of a turn that was imported: the names in it, by which it is found."""
    found = await read(policy, turn, context)
    return Extraction(Observed(mentions=found.observed.mentions))


def _limits(policy: ObserverPolicy) -> ObservePolicy:
    return ObservePolicy(entity_min_mentions=policy.entity_min_mentions, profile_slots=frozenset(policy.profile_slots))


async def taken_back(turn: TurnText, context: ObserveContext, unread: tuple[ReadingNote, ...]) -> Extraction:
    """Of a turn that is not to be remembered: what it takes back, and that nothing else of it was read."""
    if not turn.messages and not turn.items:
        return Extraction(Observed(explain=unread))
    observed = await asyncio.to_thread(observe, turn, context, ObservePolicy())
    gone = tuple(each for each in observed.observations if each.retracts)
    return Extraction(Observed(gone, explain=unread))


def may_ask(models: ModelProvider, policy: ObserverPolicy) -> bool:
    """Whether there is a model, and it may be asked."""
    return models.chat_model_id is not None and policy.use_model


def asked_about(models: ModelProvider, policy: ObserverPolicy, turn: Turn) -> AnswerKey | None:
    """What the model would be asked about the turn; None where it may not be asked about it."""
    return None if turn.withheld else asked_of(models, policy, turn_texts.turn_text(turn), turn.dimension(PROMPT))


def asked_of(
    models: ModelProvider, policy: ObserverPolicy, turn: TurnText, prompt_version: str | None
) -> AnswerKey | None:
    """What the model would be asked about the words; None where there is no model to ask, or no user speaks."""
    reads = policy.use_model and policy.auto_remember
    if models.chat_model_id is None or not reads or not any(map(is_spoken, turn.messages)):
        return None
    wanted = prompt_version or ""
    version = wanted if wanted in prompts.EXTRACT else policy.extract_prompt
    return AnswerKey(PURPOSE, version, models.chat_model_id, _digest(turn))


def is_spoken(message: MessageText) -> bool:
    command = slash.parse(message.text)
    return message.role == "user" and bool(message.text.strip()) and (command is None or command.cmd == "remember")


def _digest(turn: TurnText) -> str:
    said = [(message.role, message.text, message.name) for message in turn.messages]
    return digest(said, [(tool.name, tool.result_text, tool.status) for tool in turn.tool_calls])


def _version(policy: ObserverPolicy, wanted: str | None) -> tuple[str, tuple[str, ...]]:
    """The prompt that an experiment wants, or that of policy, and a note where there is none of that name."""
    if wanted and wanted in prompts.EXTRACT:
        return wanted, ()
    return policy.extract_prompt, (PROMPT_UNKNOWN,) if wanted else ()


def _in_words(
    answer: prompts.ExtractionAnswer, known: Sequence[KnownMemory], words: Sequence[str]
) -> prompts.ExtractionAnswer:
    """The answer as it is kept: with ids of memories and words of finds in the place of numbers."""
    return prompts.by_words(prompts.to_real_ids(answer, known), words)


def _sources(turn: TurnText, observed: Observed, context: ObserveContext, policy: ObservePolicy) -> list[QuoteSource]:
    """What the model reads: no commands, no failed calls, nothing longer than what the rules read."""
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
"""How a reading takes the words of a habit, where nothing tells it that they are one."""


@dataclass
class HabitTellings:
    """What a user has told in short messages that may be a habit, this batch's turns among them as they are read."""

    earlier: list[HabitTelling] = field(default_factory=list[HabitTelling])

    def settle(self, turn: Turn, observed: Observed, policy: ObserverPolicy) -> Observed:
        """The turn's observations with the habits that its messages come to; single tellings of these are no memory."""
        for message in list_tellings(turn):
            observed = self._settle(turn, message, observed, policy)
        return observed

    def _settle(self, turn: Turn, message: MessageText, observed: Observed, policy: ObserverPolicy) -> Observed:
        act = find_act(message.text)
        if act is None or any(each.ordinal == message.ordinal for each in observed.refused):
            return observed
        now = HabitTelling(act, turn.session_id, message.created_at)
        verdict = judge(now, self.earlier, policy.habit_sessions_min)
        habit = verdict.habit
        self.earlier.append(replace(now, key=habit.key, times=habit.times) if habit else now)
        if not verdict.known:
            return observed
        others = tuple(one for one in observed.observations if not _is_passing(one, message))
        suspected = tuple(one for one in observed.suspected if not _is_passing(one, message))
        why = ReadingNote((0, len(message.text)), "kept" if habit else "dropped", "habit", message.ordinal)
        added = (to_habit(habit, message),) if habit else ()
        return replace(observed, observations=(*others, *added), suspected=suspected, explain=(*observed.explain, why))


def list_tellings(turn: Turn) -> list[MessageText]:
    """The messages of a turn that tell an act: the user's own, under no other name, of text alone."""
    if turn.withheld:
        return []
    plain = {event.ordinal for event in turn.events if not event.blocks}
    said = [m for m in turn_text(turn).messages if m.role == "user" and not m.name and m.ordinal in plain]
    return [message for message in said if find_act(message.text)]


async def load_habits(conn: Connection, subject: Subject, turns: Sequence[Turn]) -> HabitTellings:
    """What was told before these turns that may be the same; one read, none where none of them tells an act."""
    acts = [act for turn in turns for message in list_tellings(turn) if (act := find_act(message.text))]
    found = await habits.load_near(conn, subject, {term for act in acts for term in act.sought})
    return HabitTellings([telling for each in found if (telling := to_telling(each))])


def to_telling(before: ToldBefore) -> HabitTelling | None:
    act = find_act(before.text)
    return HabitTelling(act, before.session_id, before.said_at, before.key, before.times or 0) if act else None


def list_counted(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Of the chunks of a turn those in which a habit is looked for."""
    return [each for each in chunks if each.role == "user" and not each.name and find_act(each.text)]


def to_habit(habit: Habit, message: MessageText) -> Observation:
    """The habit in the words of the message in which it was told last."""
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
    """Whether it was read in the message, as if it told something that happened or holds once."""
    read = one.message_ordinal == message.ordinal and one.assertion in PASSING_ASSERTIONS and not one.retracts
    return read and one.key is None and one.role == "user"
