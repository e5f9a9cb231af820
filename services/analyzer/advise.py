"""Advice of models where the rules find nothing: by vectors, and by a chat model. Never in a transaction.

A model that is away, late, unreadable or has had its share of the day leaves the rules' result, and a note of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from services.analyzer import prompts, rules
from services.analyzer.prompts import AnalysisAnswer, MemoryOption
from services.analyzer.rules import Advice, ProposedChange
from shared.domain.observations import ObservationRow
from shared.domain.statements import ActiveMemory, Statement
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.language.contextual import contextual, topic_of
from shared.model_calls import allowance
from shared.model_calls.answer_cache import AnswerCache, AnswerKey, digest
from shared.model_calls.calls import ModelCalls
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.prompt import Prompt
from shared.policy import Policy
from shared.resolution.from_rows import known_of, statement_of
from shared.resolution.resolve import Comparisons, Verdict, weigh
from shared.runtime import Runtime
from shared.secrets import redact
from shared.store import chunks, memory, model_answers

PURPOSE = "analysis"
"""Under which these questions are counted and their answers kept."""
NEAREST = 6
"""So many memories at most are read beside a statement because of their vectors."""


@dataclass
class StatementAnalysis:
    """A statement, what it comes to, and what was said of it."""

    seen: ObservationRow
    statement: Statement
    known: Sequence[ActiveMemory]
    policy: Policy
    told: dict[UUID, Advice] = field(default_factory=dict[UUID, Advice])
    without: list[str] = field(default_factory=list[str])
    by: tuple[str, str] | None = None
    """The model that answered, and the version of the question."""

    def __post_init__(self) -> None:
        self.weighed = self._weigh()

    def hear(self, told: Sequence[Advice], more: Sequence[ActiveMemory] = ()) -> None:
        """The verdicts count from now on, those on memories that the statement may concern at all."""
        self.known = [*self.known, *more]
        self.told |= {each.memory_id: each for each in told}
        self.weighed = self._weigh()
        beside = {each.known.memory_id for each in self.weighed.beside}
        self.told = {memory_id: each for memory_id, each in self.told.items() if memory_id in beside}

    def _weigh(self) -> Comparisons:
        advice: dict[UUID, Verdict] = {memory_id: told.verdict for memory_id, told in self.told.items()}
        return weigh(self.statement, self.known, self.policy.confidence, advice)

    @property
    def undecided(self) -> bool:
        """Whether the rules, and what was said so far, lead to no memory."""
        return rules.is_undecided(self.statement, self.weighed)

    def proposal(self) -> ProposedChange:
        """What should become of the statement."""
        change = rules.propose(self.statement, self.weighed, self.policy.confidence, self.told.values())
        more = {"without": self.without} if self.without else {}
        if self.by:
            more |= {"model": self.by[0], "prompt": self.by[1]}
        return replace(change, evidence={**change.evidence, **more})


@dataclass
class Advised:
    """The statements of a batch with all that was said of them, and what was asked of the model for it."""

    thoughts: list[StatementAnalysis]
    asking: ModelCalls = field(default_factory=ModelCalls)


def begin(found: Sequence[ObservationRow], known: Sequence[ActiveMemory], policy: Policy) -> Advised:
    """What the rules make of each of these observations beside what is known."""
    return Advised([StatementAnalysis(each, statement_of(each), known, policy) for each in found])


async def ask(rt: Runtime, subject: Subject, advised: Advised) -> None:
    """Vectors, then the model, have been asked about what is open still; `advised` holds what they said and cost."""
    await _by_vectors(rt, subject, advised.thoughts)
    await _by_model(rt, subject, advised)


async def _by_vectors(rt: Runtime, subject: Subject, thoughts: Sequence[StatementAnalysis]) -> None:
    waiting = [each for each in thoughts if each.undecided and each.known]
    if rt.models.embedding_model_id is None or not waiting:
        return
    vectors = await embed_waiting(rt, waiting)
    if not vectors:
        return
    try:
        near, more = await _nearest(rt, subject, list(vectors.values()))
    except TransientError:
        for each in waiting:
            each.without.append("vectors_unavailable")
        return
    for place, cosines in zip(vectors, near, strict=True):
        each = waiting[place]
        every = {active.memory_id: active for active in (*each.known, *more.values())}
        compared = [(every[memory_id], cosine) for memory_id, cosine in cosines.items() if memory_id in every]
        judged = [rules.by_vector(each.statement, known, cosine, rt.policy.analysis) for known, cosine in compared]
        taken = {known.memory_id for known in each.known}
        extra = [known for known, _ in compared if known.memory_id not in taken]
        each.hear([told for told in judged if told], extra)


async def embed_waiting(rt: Runtime, waiting: Sequence[StatementAnalysis]) -> dict[int, list[float]]:
    """Vectors by place, each text embedded alone so that it does not depend on its batch; the first failure ends it."""
    vectors: dict[int, list[float]] = {}
    for place, each in enumerate(waiting):
        try:
            (vector,) = await rt.models.embed([_text(each)], deadline_s=rt.policy.analysis.deadline_s)
        except (ModelUnavailable, MalformedAnswer):
            for late in waiting[place:]:
                late.without.append("embedding_unavailable")
            break
        vectors[place] = vector
    return vectors


def _text(thought: StatementAnalysis) -> str:
    """The statement as its memory would be indexed."""
    seen, standing = thought.seen, thought.policy.confidence.level_of(thought.seen.assertion, thought.seen.flags)
    worth = "confirmed" if standing.provenance == "confirmed_by_user" else standing.provenance
    return contextual(seen.kind, topic_of(seen.key), f"{seen.said_at:%Y-%m}", worth, seen.text, seen.language)


async def _nearest(
    rt: Runtime, subject: Subject, vectors: Sequence[Sequence[float]]
) -> tuple[list[dict[UUID, float]], Mapping[UUID, ActiveMemory]]:
    """For each vector the nearest memories with their cosines, and all of these that are active."""
    async with rt.db.transaction(subject) as conn:
        if not await chunks.keep_vectors(conn):
            raise TransientError("pgvector is missing")
        near = [await chunks.nearest(conn, subject, rt.models.views(vector), NEAREST) for vector in vectors]
        found = await memory.by_ids(conn, subject, {memory_id for each in near for memory_id in each})
    return near, {each.memory_id: known_of(each) for each in found if each.status == "active"}


@dataclass(frozen=True)
class _Question:
    """One question, the thought that it is about, and the memories behind the short ids."""

    thought: StatementAnalysis
    shown: Mapping[str, ActiveMemory]
    prompt: Prompt[AnalysisAnswer]
    asked: AnswerKey


async def _by_model(rt: Runtime, subject: Subject, advised: Advised) -> None:
    policy, model = rt.policy.analysis, rt.models.chat_model_id
    if model is None or not policy.use_model or not rt.policy.observer.use_model:
        return
    questions = [q for thought in advised.thoughts if (q := _question(thought, model))]
    if not questions:
        return
    asking = advised.asking
    await _prepare(rt, subject, asking, questions)
    away = False
    for each in questions:
        if away and not asking.cache.has(each.asked):
            each.thought.without.append("model_unavailable")
        elif not asking.allows(each.prompt, each.asked):
            each.thought.without.append("model_budget_used_up")
        else:
            away = not await ask_model(rt, asking, each) or away


def _question(thought: StatementAnalysis, model: str) -> _Question | None:
    """What a model is to be asked about the statement; None where the rules are in no doubt."""
    policy = thought.policy.analysis
    doubted = rules.doubts(thought.statement, thought.weighed, thought.told.values(), policy)[: prompts.MOST_SHOWN]
    if not doubted:
        return None
    shown = {f"m{n}": known for n, known in enumerate(doubted, 1)}
    memories = [MemoryOption(key, known.type, redact(known.text)[0]) for key, known in shown.items()]
    asks = prompts.choose_prompt(policy.prompt)
    prompt = replace(asks(redact(thought.statement.quote)[0], memories), deadline_s=policy.deadline_s)
    said = digest(prompt.system, prompt.user)
    return _Question(thought, shown, prompt, AnswerKey(PURPOSE, prompt.version, model, said, thought.seen.turn_id))


async def _prepare(rt: Runtime, subject: Subject, asking: ModelCalls, questions: Sequence[_Question]) -> None:
    """Answers of before are in the cache; where there is more to ask, what today's shares allow is known."""
    async with rt.db.transaction(subject) as conn:
        asking.cache = AnswerCache(
            await model_answers.find_cached(conn, subject, {each.asked.hash for each in questions})
        )
        if all(asking.cache.has(each.asked) for each in questions):
            return
        spent = await model_answers.today(conn, subject)
    asking.left = await allowance.load_left(rt.db, rt.policy.observer, subject, spent)


async def ask_model(rt: Runtime, asking: ModelCalls, question: _Question) -> bool:
    """Whether the model could be asked; what it said of memories that it was shown is advice from now on."""
    thought, prompt = question.thought, question.prompt
    try:
        answer = await asking.ask(rt.models, prompt, question.asked)
    except ModelUnavailable:
        thought.without.append("model_unavailable")
        return False
    except MalformedAnswer:
        thought.without.append("model_answer_malformed")
        return True
    found = prompts.verdicts(answer.value, question.shown)
    thought.by = (answer.model_id, prompt.version)
    thought.hear([Advice(question.shown[key].memory_id, verdict, "model") for key, verdict in found.items()])
    return True
