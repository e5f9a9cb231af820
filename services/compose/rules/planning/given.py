"""Turns a given plan into the queries that run: mode, filters and weight of each, and what is ignored."""

from collections.abc import Mapping, Sequence

from schemas.retrieval_plan import Caller, Filters, Query, RetrievalPlan
from schemas.vocabulary import SearchMode
from services.compose.rules.planning.plan import MEANING, WORDS, ExecutablePlan, QueryStep, to_filter, to_parts
from services.compose.rules.planning.questions import (
    list_topic_questions,
)
from shared.language.names import names
from shared.language.normalise import detect, fold
from shared.language.patterns import to_pattern
from shared.language.segment import keywords, query_terms

WIDER: tuple[float, ...] = (0.7, 0.6, 0.5, 0.5, 0.4, 0.4)
"""The weight of the additions to an associative query."""
KNOWLEDGE_ONLY = ("document_ids", "tag_ids", "topic_ids")
"""Filters of knowledge only: a memory has no document, tag or topic."""
_IDENTIFIER = to_pattern(r"\S*\w[_./@:#-]\w\S*")
TAIL_WEIGHT = 0.3


def execute_given(plan: RetrievalPlan, together: Mapping[int, Sequence[str]]) -> ExecutablePlan:
    """Every query of a given plan; associative ones with additions of less weight.

    `together` has, by query, what occurs together with its entities.
    """
    weights = plan.ranking.fusion.weights
    steps: list[QueryStep] = []
    added: dict[int, tuple[str, ...]] = {}
    notes: list[str] = []
    for n, query in enumerate(plan.queries):
        weight = query.weight * weights.get(query.mode, 1.0)
        if weight <= 0 or _silent(query.mode, weights):
            notes.append(f"queries[{n}] weighs nothing and was not executed")
            continue
        within = to_filter(plan, query)
        own, terms = find_linked_terms(query.text) if query.mode == "relational" else ((), ())
        steps.append(QueryStep(query, n, within, weight, query.mode in MEANING, own, terms))
        steps += to_parts(steps[-1])
        if query.mode == "associative":
            extra = list_expansions(query, together.get(n, ()))
            added[n] = tuple(extra)
            steps += [
                QueryStep(query.model_copy(update={"text": text}), n, within, weight * share, embed=False)
                for text, share in zip(extra, WIDER, strict=False)
            ]
    return ExecutablePlan(
        plan,
        tuple(steps),
        words=weights.get("exact", 1.0),
        meaning=weights.get("semantic", 1.0),
        wide=True,
        tail=_find_tail(plan),
        ignored=tuple(list_ignored(plan)),
        notes=tuple(dict.fromkeys([*notes, *list_excluded(steps)])),
        added=added,
    )


def find_linked_terms(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names in a relational query and the terms that find them too: identifiers, or all without a name."""
    named = tuple(names(text))
    if not named:
        return tuple(keywords(text, 8)), tuple(query_terms(text, 8))
    return named, tuple(list_identifiers(named))


def list_identifiers(named: Sequence[str]) -> list[str]:
    """The terms of names that are a single identifier: smart_rag, app.py, org/repo."""
    return [fold(name) for name in named if _IDENTIFIER.fullmatch(name)]


def _silent(mode: SearchMode, weights: Mapping[str, float]) -> bool:
    return mode in WORDS & MEANING and weights.get("exact", 1.0) <= 0 and weights.get("semantic", 1.0) <= 0


def list_excluded(steps: Sequence[QueryStep]) -> list[str]:
    return [
        f"queries[{step.of}]: memory is a source of type memory_snapshot, and source_type asks for others"
        for step in steps
        if step.bounds.empty
    ]


def list_expansions(query: Query, together: Sequence[str]) -> list[str]:
    """Additional terms for an associative query, best first, without repeats.

    The caller's aliases, its key words, what occurs together with its entities, its topics.
    """
    given = query.hints.get("aliases")
    spellings = [str(each).strip() for each in given if isinstance(each, str)] if isinstance(given, list) else []
    words = keywords(query.text, 8)
    if len(words) > 1:
        spellings.append(" ".join(words))
    spellings += together
    spellings += list_topic_questions(query.text, detect(query.text))
    seen = {fold(query.text)}
    added: list[str] = []
    for each in spellings:
        if each and fold(each) not in seen and len(added) < len(WIDER):
            seen.add(fold(each))
            added.append(each[:4000])
    return added


def _find_tail(plan: RetrievalPlan) -> str | None:
    """The caller's session, if its latest turns may be meant: a task continues, or a query asks for links."""
    caller: Caller | None = plan.debug.caller
    if caller is None or not caller.session_id:
        return None
    linked = any(query.mode in ("relational", "associative") for query in plan.queries)
    return caller.session_id if linked or plan.purpose == "continue_task" else None


def list_ignored(plan: RetrievalPlan) -> list[str]:
    """Features of the plan that memory does not support."""
    ignored = [
        f"global_filters.{name}: the knowledge base's; memory has none" for name in _knowledge(plan.global_filters)
    ]
    for n, query in enumerate(plan.queries):
        ignored += [
            f"queries[{n}].filters.{name}: the knowledge base's; memory has none" for name in _knowledge(query.filters)
        ]
    modes = ("exact", "semantic", "hybrid", "relational", "associative")
    weights = plan.ranking.fusion.weights
    ignored += [f"ranking.fusion.weights.{name}: no such mode" for name in weights if name not in modes]
    if plan.ranking.fusion.method == "none" and weights:
        ignored.append("ranking.fusion.weights: nothing is fused")
    return ignored


def _knowledge(filters: Filters) -> list[str]:
    return [name for name in KNOWLEDGE_ONLY if getattr(filters, name)]


def list_applied(plan: RetrievalPlan) -> list[str]:
    """The filters that were applied, by their path in the plan."""
    names_ = ("source_type", "source_uri_prefix", "language", "time_range")
    found = [f"global_filters.{name}" for name in names_ if getattr(plan.global_filters, name)]
    for n, query in enumerate(plan.queries):
        found += [f"queries[{n}].filters.{name}" for name in names_ if getattr(query.filters, name)]
    return found
