"""The part of a plan that goes to knowledge, without any text of memory."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.retrieval_plan import Budget, Filters, Fusion, Output, PlanDebug, Query, Ranking, RetrievalPlan
from schemas.vocabulary import SearchMode
from services.compose.rules.candidates import Candidate
from shared.knowledge.port import KnowledgeSection
from shared.language.normalise import detect
from shared.language.segment import query_terms, terms
from shared.secrets import ADDRESSES, redact

MAX_QUERIES = 4
SNIPPET_CHARS = 800
CANDIDATES = 3
"""How many candidates knowledge may consider for each result."""
_UNDATED = datetime(1970, 1, 1, tzinfo=UTC)
"""Among equals, a document without a date comes last."""


@dataclass(frozen=True, slots=True)
class SubPlan:
    """The query to knowledge; `of` maps each of its queries to the query of the plan."""

    plan: RetrievalPlan
    of: tuple[int, ...]
    ignored: tuple[str, ...] = ()


def make_own_subplan(
    plan: RetrievalPlan, message: str, top_k: int, modes: frozenset[SearchMode], request_id: str
) -> SubPlan:
    """The queries that hold only what the message says.

    Words of earlier turns, a model's additions and questions about the user's tastes stay here, and so does the time,
    which says when something was said. Secrets and personal numbers are blanked.
    """
    message_terms = frozenset(terms(message))
    chosen = [
        (n, query)
        for n, query in enumerate(plan.queries)
        if query.mode != "relational"
        and (n == 0 or ((asked := query_terms(query.text)) and message_terms.issuperset(asked)))
    ][:MAX_QUERIES]
    language = detect(message)
    queries = [
        Query(
            text=redact(query.text, ADDRESSES)[0],
            mode=_mode(query.mode, modes),
            weight=query.weight,
            hints={"language": language} if language != "other" else {},
        )
        for _, query in chosen
    ]
    subplan = RetrievalPlan(
        version=plan.version,
        request_id=request_id,
        purpose=plan.purpose,
        queries=queries,
        ranking=Ranking(fusion=Fusion(method="rrf")),
        budget=Budget(top_k=top_k, candidate_k=min(max(top_k * CANDIDATES, top_k), 1000)),
        output=Output(max_snippet_chars=SNIPPET_CHARS),
        debug=PlanDebug(notes="resources"),
    )
    return SubPlan(subplan, tuple(n for n, _ in chosen))


def make_given_subplan(
    plan: RetrievalPlan, wanted: Iterable[int], modes: frozenset[SearchMode], request_id: str
) -> SubPlan | None:
    """A given plan without the requester and queries of weight 0; None if no query is left.

    Modes that knowledge does not have become hybrid, which is reported.
    """
    numbers = sorted(set(wanted))
    if not numbers:
        return None
    queries = [plan.queries[n] for n in numbers]
    ignored = [
        f"queries[{n}].mode: knowledge has no {query.mode} search, asked as hybrid"
        for n, query in zip(numbers, queries, strict=True)
        if _mode(query.mode, modes) != query.mode
    ]
    subplan = RetrievalPlan(
        version=plan.version,
        request_id=request_id,
        purpose=plan.purpose,
        queries=[
            query.model_copy(update={"mode": _mode(query.mode, modes), "text": redact(query.text, ADDRESSES)[0]})
            for query in queries
        ],
        global_filters=Filters.model_validate(plan.global_filters.model_dump()),
        budget=plan.budget,
        ranking=to_ranking(plan.ranking),
        output=Output(max_snippet_chars=max(plan.output.max_snippet_chars, SNIPPET_CHARS)),
        debug=PlanDebug(notes="resources"),
    )
    return SubPlan(subplan, tuple(numbers), tuple(ignored))


def to_ranking(asked: Ranking) -> Ranking:
    """The plan's ranking in the vocabulary of knowledge, which ranks by position and not by probability."""
    made = Ranking.model_validate(asked.model_dump(exclude={"min_score"}))
    if made.fusion.method == "probability":
        made = made.model_copy(update={"fusion": made.fusion.model_copy(update={"method": "rrf"})})
    return made


def _mode(mode: SearchMode, modes: frozenset[SearchMode]) -> SearchMode:
    return mode if mode in modes or "hybrid" not in modes else "hybrid"


KNOWLEDGE_PROBABILITY = 0.5
"""The probability that the first result of knowledge helps; half for the second, and so on."""


def to_candidates(sections: Sequence[KnowledgeSection], sub: SubPlan, plan: RetrievalPlan) -> list[Candidate]:
    """The sections as candidates, with the ranks of knowledge, which are final."""
    ranked: list[Candidate] = []
    for rank, each in enumerate(sections, 1):
        of = sub.of[each.query]
        ranked.append(_candidate(each, rank, of, plan.queries[of].mode))
    return ranked


def name_list(of: int) -> str:
    """The name of the ranked list of a query."""
    return f"knowledge#{of}"


def _candidate(section: KnowledgeSection, rank: int, of: int, mode: SearchMode) -> Candidate:
    ranks, scores = {name_list(of): rank}, {name_list(of): section.score or 1.0 / rank}
    for name, score in section.scores.items():
        scores[f"{name}@knowledge"] = score
        ranks[f"{name}@knowledge"] = section.ranks.get(name, rank)
    return Candidate(
        kind="resource",
        text=section.text,
        valid_at=section.dated or _UNDATED,
        document_id=section.document_id,
        section_id=section.section_id,
        title=section.title,
        source_uri=section.source_uri,
        source_type=section.source_type,
        arm_ranks=ranks,
        arm_scores=scores,
        probability=KNOWLEDGE_PROBABILITY / rank,
        mode=mode,
        query=of,
        language=section.language,
        original=section.text,
        org_tier=section.org_tier,
    )
