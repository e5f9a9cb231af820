"""Observations -> proposals: load, compare, ask models, save. Writes proposals and usage, and marks the observations.

If the rules find no memory, vectors and then a chat model are asked, outside of transactions. A model that is
unavailable, malformed or out of budget leaves the result of the rules, and the proposal notes it.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from uuid import UUID

from schemas.envelope import Envelope
from schemas.events import AnalysisProposed, ObservationRecorded
from schemas.topics import ANALYSIS_PROPOSED, Topic
from services.analyzer import prompts
from services.analyzer.prompts import AnalysisAnswer, MemoryOption
from services.analyzer.rules import Advice, StatementAnalysis, judge_vector, list_doubtful
from shared import clock
from shared.bus.delivery import Delivered, step
from shared.db import Connection, epoch_of
from shared.domain.observations import ObservationRow
from shared.domain.statements import ActiveMemory
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.metrics.memory import ANALYSIS_ADVICE, ANALYSIS_WITHOUT
from shared.model_calls.calls import AnswerCache, AnswerKey, ModelCalls, digest, load_budget
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.prompt import Prompt
from shared.resolution.from_rows import known_of, statement_of
from shared.runtime import Runtime
from shared.secrets import redact
from shared.store import chunks, inbox, memory, model_answers, observations, outbox, turn_states
from shared.store.observations import ProposalRow
from shared.telemetry import logger

CONSUMER = "analyzer"
PURPOSE = "analysis"
"""The purpose under which the questions are counted and their answers stored."""
NEAREST = 6
"""The maximum number of memories that are compared with a statement because of their vectors."""


@dataclass
class AnalysisBatch:
    """The analyses of a batch, and its calls of models."""

    analyses: list[StatementAnalysis]
    calls: ModelCalls = field(default_factory=ModelCalls)


async def propose(rt: Runtime, subject: Subject, events: Sequence[Delivered]) -> None:
    """Each observation has a proposal and the event that continues it; a repetition changes nothing."""
    wanted = [o for event in events for o in event.read(ObservationRecorded).observation_ids]
    async with rt.transaction_of(subject) as (rt, conn):
        unanalyzed = [o for o in await observations.load(conn, subject, wanted) if o.state == "new"]
        active = await memory.load_concerned(subject, [statement_of(o) for o in unanalyzed]).on(conn)
        epoch = await epoch_of(conn)
    async with step():
        known = [known_of(m) for m in active]
        batch = AnalysisBatch([StatementAnalysis(o, statement_of(o), known, rt.policy) for o in unanalyzed])
    try:
        await _ask_vectors(rt, subject, batch.analyses)
        await _ask_chat_model(rt, subject, batch)
        proposed = await _save(rt, subject, events, batch, epoch)
    except Exception:
        await _save_calls_alone(rt, subject, batch, epoch)
        raise
    _measure(batch)
    logger().info("observations_analyzed", proposals=proposed)


async def _ask_vectors(rt: Runtime, subject: Subject, analyses: Sequence[StatementAnalysis]) -> None:
    """Adds the verdicts of vectors to the undecided analyses."""
    undecided = [each for each in analyses if each.undecided and each.known]
    if rt.models.embedding_model_id is None or not undecided:
        return
    vectors = await _embed(rt, undecided)
    if not vectors:
        return
    try:
        near, nearest = await _find_nearest(rt, subject, vectors)
    except TransientError:
        for analysis in undecided:
            analysis.unavailable.append("vectors_unavailable")
        return
    for analysis, cosines in zip(undecided, near, strict=False):
        memories = {active.memory_id: active for active in (*analysis.known, *nearest.values())}
        compared = [(memories[memory_id], cosine) for memory_id, cosine in cosines.items() if memory_id in memories]
        verdicts = [judge_vector(analysis.statement, known, cosine, rt.policy.analysis) for known, cosine in compared]
        already_known = {known.memory_id for known in analysis.known}
        more = [known for known, _ in compared if known.memory_id not in already_known]
        analysis.add_advice([verdict for verdict in verdicts if verdict], more)


async def _embed(rt: Runtime, analyses: Sequence[StatementAnalysis]) -> list[list[float]]:
    """The vectors up to the first failure; each text is embedded alone, so that it does not depend on its batch."""
    vectors: list[list[float]] = []
    for analysis in analyses:
        try:
            (vector,) = await rt.models.embed([analysis.indexed_text], deadline_s=rt.policy.analysis.deadline_s)
        except (ModelUnavailable, MalformedAnswer):
            for later in analyses[len(vectors) :]:
                later.unavailable.append("embedding_unavailable")
            break
        vectors.append(vector)
    return vectors


async def _find_nearest(
    rt: Runtime, subject: Subject, vectors: Sequence[Sequence[float]]
) -> tuple[list[dict[UUID, float]], Mapping[UUID, ActiveMemory]]:
    """For each vector the nearest memories with their cosines, and all of these memories that are active."""
    async with rt.db.transaction(subject) as conn:
        if not await chunks.keep_vectors(conn):
            raise TransientError("pgvector is missing")
        near = [await chunks.nearest(conn, subject, rt.models.views(vector), NEAREST) for vector in vectors]
        memories = await memory.by_ids(conn, subject, {memory_id for each in near for memory_id in each})
    return near, {each.memory_id: known_of(each) for each in memories if each.status == "active"}


@dataclass(frozen=True)
class _Question:
    """One question, the analysis that it is about, and the memories behind the short ids."""

    analysis: StatementAnalysis
    shown: Mapping[str, ActiveMemory]
    prompt: Prompt[AnalysisAnswer]
    key: AnswerKey


async def _ask_chat_model(rt: Runtime, subject: Subject, batch: AnalysisBatch) -> None:
    """Adds the verdicts of a chat model to the analyses that are still in doubt."""
    policy, model, calls = rt.policy.analysis, rt.models.chat_model_id, batch.calls
    if model is None or not policy.use_model or not rt.policy.observer.use_model:
        return
    questions = [question for analysis in batch.analyses if (question := _make_question(analysis, model))]
    if not questions:
        return
    await _load_calls(rt, subject, calls, questions)
    away = False
    for question in questions:
        if away and not calls.cache.has(question.key):
            question.analysis.unavailable.append("model_unavailable")
        elif not calls.allows(question.prompt, question.key):
            question.analysis.unavailable.append("model_budget_used_up")
        else:
            away = not await _ask(rt, calls, question) or away


def _make_question(analysis: StatementAnalysis, model: str) -> _Question | None:
    """The question about the statement; None if the rules are not in doubt."""
    policy = analysis.policy.analysis
    doubtful = list_doubtful(analysis.statement, analysis.comparisons, analysis.advice.values(), policy)
    if not doubtful:
        return None
    shown = {f"m{n}": known for n, known in enumerate(doubtful[: prompts.MOST_SHOWN], 1)}
    memories = [MemoryOption(short_id, known.type, redact(known.text)[0]) for short_id, known in shown.items()]
    make_prompt = prompts.choose_prompt(policy.prompt)
    prompt = replace(make_prompt(redact(analysis.statement.quote)[0], memories), deadline_s=policy.deadline_s)
    text_hash, turn_id = digest(prompt.system, prompt.user), analysis.observation.turn_id
    return _Question(analysis, shown, prompt, AnswerKey(PURPOSE, prompt.version, model, text_hash, turn_id))


async def _load_calls(rt: Runtime, subject: Subject, calls: ModelCalls, questions: Sequence[_Question]) -> None:
    """Loads earlier answers, and the budget of today if a question has none."""
    async with rt.db.transaction(subject) as conn:
        calls.cache = AnswerCache(await model_answers.find_cached(conn, subject, {each.key.hash for each in questions}))
        if all(calls.cache.has(each.key) for each in questions):
            return
        spent = await model_answers.today(conn, subject)
    calls.left = await load_budget(rt.db, rt.policy.observer, subject, spent)


async def _ask(rt: Runtime, calls: ModelCalls, question: _Question) -> bool:
    """Whether the model was available; adds its verdicts on the memories that it was shown."""
    analysis, prompt = question.analysis, question.prompt
    try:
        answer = await calls.ask(rt.models, prompt, question.key)
    except ModelUnavailable:
        analysis.unavailable.append("model_unavailable")
        return False
    except MalformedAnswer:
        analysis.unavailable.append("model_answer_malformed")
        return True
    verdicts = prompts.read_verdicts(answer.value, question.shown)
    analysis.answered_by = (answer.model_id, prompt.version)
    analysis.add_advice([Advice(question.shown[id].memory_id, verdict, "model") for id, verdict in verdicts.items()])
    return True


async def _save(rt: Runtime, subject: Subject, events: Sequence[Delivered], batch: AnalysisBatch, epoch: int) -> int:
    """Saves the proposals with their events, and returns how many are new."""
    by_id = {analysis.observation.observation_id: analysis.observation for analysis in batch.analyses}
    causes = {o: event.envelope for event in events for o in event.read(ObservationRecorded).observation_ids}
    async with rt.db.transaction(subject, since=epoch) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id for event in events])
        # a correction may have settled some of them since they were loaded
        open_ids = await observations.analyze(conn, subject, by_id)
        rows = [_to_row(each) for each in batch.analyses if each.observation.observation_id in open_ids]
        new_ids = await observations.propose(conn, subject, rows)
        if batch.calls.called:
            await _save_calls(conn, subject, batch.calls, rt.policy.retention.model_answers_days)
        new = [row for row in rows if row.proposal_id in new_ids]
        await outbox.put(conn, _to_events(new, by_id, causes))
    return len(new)


async def _save_calls(conn: Connection, subject: Subject, calls: ModelCalls, days: int) -> None:
    await model_answers.add_usage(conn, subject, calls.used)
    await model_answers.put_cached(conn, subject, calls.cache.fresh)
    await model_answers.put_answers(conn, subject, calls.unreadable, days)


async def _save_calls_alone(rt: Runtime, subject: Subject, batch: AnalysisBatch, epoch: int) -> None:
    """Saves the usage of a batch that could not be saved, and the answers, so that the retry does not ask again.

    If data of the user was erased meanwhile, the answers are not stored: they may quote it.
    """
    if batch.calls.called:
        with suppress(TransientError):
            async with rt.db.transaction(subject) as conn:
                if await epoch_of(conn) == epoch:
                    await _save_calls(conn, subject, batch.calls, rt.policy.retention.model_answers_days)
                else:
                    await model_answers.add_usage(conn, subject, batch.calls.used)


def _measure(batch: AnalysisBatch) -> None:
    for analysis in batch.analyses:
        for advice in analysis.advice.values():
            ANALYSIS_ADVICE.labels(advice.by, advice.verdict).inc()
        for reason in analysis.unavailable:
            ANALYSIS_WITHOUT.labels(reason).inc()


def _to_row(analysis: StatementAnalysis) -> ProposalRow:
    observation, change = analysis.observation, analysis.to_proposal()
    return ProposalRow(
        proposal_id=clock.uuid7(),
        turn_id=observation.turn_id,
        observation_id=observation.observation_id,
        action=change.action,
        target_memory_id=change.target.memory_id if change.target else None,
        type=observation.kind,
        key=observation.key,
        provenance=change.provenance,
        confidence=change.confidence,
        reason=change.reason,
        evidence=change.evidence,
    )


def _to_events(
    proposals: Iterable[ProposalRow], observed: dict[UUID, ObservationRow], causes: dict[UUID, Envelope]
) -> list[tuple[Topic, Envelope]]:
    return [
        (
            ANALYSIS_PROPOSED,
            causes[p.observation_id].model_copy(
                update={
                    "event_id": clock.uuid7(),
                    "event_type": AnalysisProposed.event_type,
                    "idempotency_key": f"analysis.proposed:{p.proposal_id}",
                    "occurred_at": clock.now(),
                    "payload": AnalysisProposed(
                        proposal_id=p.proposal_id,
                        observation_ids=(p.observation_id,),
                        action=p.action,
                        target_memory_id=p.target_memory_id,
                        type=p.type,
                        provenance=p.provenance,
                        epistemic_type=observed[p.observation_id].epistemic,
                        confidence=p.confidence,
                    ).model_dump(mode="json"),
                }
            ),
        )
        for p in proposals
    ]


async def give_up(rt: Runtime, subject: Subject, event: Delivered, reason: str) -> None:
    """Quarantines the observations; the outcome of their turn says so."""
    payload = event.read(ObservationRecorded)
    async with rt.db.transaction(subject) as conn:
        await inbox.claim(conn, CONSUMER, [event.envelope.event_id])
        await turn_states.give_up(
            conn,
            subject,
            stage=CONSUMER,
            event_id=event.envelope.event_id,
            reason=reason,
            turn_id=payload.turn_id,
            observation_ids=payload.observation_ids,
        )
