"""Reranks candidates after the first fusion and before the signals, if there is time.

`none` leaves the order, `lexical` compares words, `model` scores each candidate, `llm_json` asks a chat model for an
order. Only the first two are fast enough for a small machine.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from schemas.retrieval_plan import Rerank
from services.compose import prompts
from services.compose.context.stages import NOTHING_TO_REPORT, ArmReport, StageReport, Status
from services.compose.rules.candidates import Candidate
from services.compose.rules.ranking.fuse import FusePolicy
from services.compose.rules.ranking.reranking import (
    RerankPassage,
    choose_shortlist,
    rescore_candidates,
    score_order,
    score_words,
)
from shared.metrics.packages import RERANK_SECONDS, RERANKS
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.provider import ModelProvider
from shared.runtime import Runtime
from shared.secrets import SecretKind, redact
from shared.telemetry import logger

RESERVE_S = 0.025
"""The part of the deadline reserved for signals, packing and the reply."""
MAX_ASKED_CHARS = 2000


class Reranker(Protocol):
    """Scores how well each passage helps to answer a query."""

    @property
    def name(self) -> str:
        """The name of the model or method."""
        ...

    async def scores(self, query: str, passages: Sequence[RerankPassage], *, deadline_s: float) -> list[float]:
        """One score from 0 to 1 per passage, in order; raises ModelUnavailable or MalformedAnswer."""
        ...


class LexicalReranker:
    """Compares words, without a model."""

    name = "lexical"

    async def scores(self, query: str, passages: Sequence[RerankPassage], *, deadline_s: float) -> list[float]:
        """Scores by rarity and proximity of the shared words."""
        return score_words(query, passages)


@dataclass(frozen=True, slots=True)
class ModelReranker:
    """Asks a reranker model about each passage, without secrets but those that are `kept`."""

    models: ModelProvider
    kept: frozenset[SecretKind]

    @property
    def name(self) -> str:
        return self.models.rerank_model_id or "none"

    async def scores(self, query: str, passages: Sequence[RerankPassage], *, deadline_s: float) -> list[float]:
        """The model's certainty that each passage answers the query."""
        texts = [_clean_text(each.text, self.kept) for each in passages]
        return await self.models.rerank(_clean_text(query, self.kept), texts, deadline_s=deadline_s)


@dataclass(frozen=True, slots=True)
class ChatReranker:
    """Asks a chat model once for the order of all passages, as `ModelReranker` without secrets."""

    models: ModelProvider
    kept: frozenset[SecretKind]

    @property
    def name(self) -> str:
        return self.models.chat_model_id or "none"

    async def scores(self, query: str, passages: Sequence[RerankPassage], *, deadline_s: float) -> list[float]:
        """Scores by position in the answer; passages that it does not name follow in their former order."""
        shown = [_clean_text(each.text, self.kept) for each in passages[: prompts.MAX_PASSAGES]]
        prompt = replace(prompts.make_rank_prompt(_clean_text(query, self.kept), shown), deadline_s=deadline_s)
        answer = (await self.models.ask(prompt)).value
        return score_order([*prompts.parse_order(answer, len(shown)), *range(len(shown), len(passages))])


def _clean_text(text: str, kept: frozenset[SecretKind]) -> str:
    """The text without secrets, cut to what a model reads."""
    return redact(text[:MAX_ASKED_CHARS], kept)[0]


def choose_reranker(rt: Runtime) -> Reranker | None:
    """The reranker that the policy names."""
    match rt.policy.compose.reranker:
        case "none":
            return None
        case "lexical":
            return LexicalReranker()
        case "model":
            return ModelReranker(rt.models, rt.policy.personal_data.kinds_kept)
        case "llm_json":
            return ChatReranker(rt.models, rt.policy.personal_data.kinds_kept)


def make_rerank_query(rt: Runtime) -> Rerank:
    """The rerank section of a plan made here: the configured reranker."""
    reranker = choose_reranker(rt)
    if reranker is None:
        return Rerank()
    return Rerank(enabled=True, model=reranker.name, top_n=rt.policy.compose.rerank_top_n)


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """The question, the reranker, and the candidates that keep their positions."""

    query: str
    by: Rerank
    held: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RerankResult:
    """The candidates, the best with the scores of the reranker; `by` is False if none ran."""

    candidates: Sequence[Candidate]
    by: str | bool = False
    report: StageReport = NOTHING_TO_REPORT


async def rerank_candidates(
    rt: Runtime, request: RerankRequest, candidates: Sequence[Candidate], fusing: FusePolicy, left_s: float
) -> RerankResult:
    """Scores the best candidates with the configured reranker if `left_s` allows.

    Otherwise the candidates are unchanged and the report says why.
    """
    reranker = choose_reranker(rt)
    if reranker is None:
        return RerankResult(candidates, report=StageReport(ignored=("ranking.rerank: no reranker is configured",)))
    notes: tuple[str, ...] = ()
    if request.by.model != reranker.name:
        notes = (f"ranking.rerank.model: {reranker.name} serves, not {request.by.model}",)
    best, passages = choose_shortlist(candidates, fusing, request.by.top_n, request.held)
    if len(best) < 2:
        return RerankResult(candidates, report=StageReport(notes=notes))
    limit_s = min(left_s - RESERVE_S, rt.policy.compose.rerank_deadline_ms / 1000)
    usual_s = rt.paces.usual_s(reranker.name, len(best))
    if limit_s <= usual_s:
        usual, left = usual_s * 1000, max(limit_s, 0.0) * 1000
        arm = count_rerank(reranker, "skipped", 0.0, 0)
        skipped = f"rerank skipped: it usually takes {usual:.0f} ms, {left:.0f} ms were left"
        return RerankResult(candidates, report=StageReport((arm,), notes=(*notes, skipped)))
    scores, report = await _ask_reranker(rt, reranker, request.query[:MAX_ASKED_CHARS], passages, limit_s)
    report = replace(report, notes=notes)
    if scores is None:
        return RerankResult(candidates, report=report)
    return RerankResult(rescore_candidates(candidates, best, scores), reranker.name, report)


async def _ask_reranker(
    rt: Runtime, reranker: Reranker, query: str, passages: Sequence[RerankPassage], limit_s: float
) -> tuple[list[float] | None, StageReport]:
    """The scores, if they arrive within the limit; a failure is reported."""
    began = time.perf_counter()
    try:
        scores = await reranker.scores(query, passages, deadline_s=limit_s)
    except (ModelUnavailable, MalformedAnswer) as error:
        took = time.perf_counter() - began
        late = isinstance(error, ModelUnavailable) and error.reason == "timeout"
        if late:
            rt.paces.gave_up(reranker.name, len(passages), took)
        logger().warning("rerank_failed", reranker=reranker.name, error=type(error).__name__)
        arm = count_rerank(reranker, "timeout" if late else "failed", took, 0)
        return None, StageReport((arm,), ("rerank_timeout" if late else "rerank_failed",))
    took = time.perf_counter() - began
    rt.paces.took(reranker.name, len(passages), took)
    return scores, StageReport((count_rerank(reranker, "ok", took, len(passages)),))


def count_rerank(reranker: Reranker, status: Status, took_s: float, count: int) -> ArmReport:
    """Counts the rerank and returns its report."""
    RERANKS.labels(reranker.name, status).inc()
    if status != "skipped":
        RERANK_SECONDS.labels(reranker.name).observe(took_s)
    return ArmReport("rerank", status, count, took_s * 1000)
