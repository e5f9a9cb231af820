"""Turns a plan into the queries that run: mode, filters and weight of each, and what is ignored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.retrieval_plan import Caller, Filters, Query, RetrievalPlan, TimeRange
from schemas.vocabulary import SearchMode
from services.compose.rules.planning.questions import (
    Kind,
    Pair,
    asks_past,
    list_respellings,
    list_topic_questions,
    split_question,
)
from shared.language.names import names
from shared.language.normalise import detect, fold
from shared.language.patterns import to_pattern
from shared.language.segment import keywords, query_terms

WORDS: frozenset[SearchMode] = frozenset({"exact", "hybrid", "associative"})
MEANING: frozenset[SearchMode] = frozenset({"semantic", "hybrid", "associative"})
WHOLE: frozenset[SearchMode] = frozenset({"exact", "semantic", "hybrid"})
"""Modes whose queries run as a whole and in parts."""
PART_WEIGHTS: Mapping[Kind, float] = {"question": 0.9, "thing": 0.7}
"""The weight of a part of a question relative to the whole."""
PART_MOST: Mapping[Kind, int] = {"thing": 8}
"""The most results for a thing that is only named."""
COMPOSED_QUERIES = 6
WIDER: tuple[float, ...] = (0.7, 0.6, 0.5, 0.5, 0.4, 0.4)
"""The weight of the additions to an associative query."""
KNOWLEDGE_ONLY = ("document_ids", "tag_ids", "topic_ids")
"""Filters of knowledge only: a memory has no document, tag or topic."""
_IDENTIFIER = to_pattern(r"\S*\w[_./@:#-]\w\S*")
TAIL_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class QueryFilter:
    """The filters of a query; queries with equal filters are searched together."""

    time: TimeRange | None = None
    languages: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    past: bool = False

    @property
    def empty(self) -> bool:
        """Whether no memory can match, because another kind of source is wanted."""
        return bool(self.source_types) and "memory_snapshot" not in self.source_types


@dataclass(frozen=True, slots=True)
class QueryStep:
    """One query that runs; `of` is the number of the plan's query that it serves, `most` the limit of its results."""

    query: Query
    of: int
    bounds: QueryFilter
    weight: float
    embed: bool
    entities: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    is_part: bool = False
    most: int | None = None


@dataclass(frozen=True, slots=True)
class ExecutablePlan:
    """All queries that run; `words` and `meaning` scale the signals of a hybrid query."""

    plan: RetrievalPlan
    steps: tuple[QueryStep, ...]
    words: float = 1.0
    meaning: float = 1.0
    wide: bool = False
    tail: str | None = None
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    added: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])


def to_filter(plan: RetrievalPlan, query: Query) -> QueryFilter:
    """The query's own filters, or else the plan's; outdated memories only if it asks about the past."""
    filters = plan.filters_of(query)
    hint = query.hints.get("past")
    past = hint if isinstance(hint, bool) else asks_past(query.text)
    return QueryFilter(
        filters.time_range,
        tuple(sorted(set(filters.language))),
        tuple(sorted(set(filters.source_type))),
        tuple(sorted({each.replace("\x00", "\ufffd") for each in filters.source_uri_prefix})),
        past,
    )


def execute_composed(plan: RetrievalPlan, joined: Iterable[Pair] = ()) -> ExecutablePlan:
    """The queries of a plan made here: its first queries, with vectors for the question.

    A query with a name in `joined` also runs with the other names of the same thing.

    Names are searched as words; links are not followed.
    """
    steps = [
        QueryStep(
            query,
            n,
            to_filter(plan, query),
            query.weight,
            query.mode in MEANING and (n == 0 or query.mode == "semantic"),
        )
        for n, query in enumerate(plan.queries[:COMPOSED_QUERIES])
        if not _repeats(plan, n)
    ]
    steps += to_parts(steps[0])
    steps += _respell_step(steps[0], joined)
    caller = plan.debug.caller
    return ExecutablePlan(
        plan, tuple(steps), tail=caller.session_id if caller and plan.purpose == "continue_task" else None
    )


def _respell_step(step: QueryStep, joined: Iterable[Pair]) -> list[QueryStep]:
    """The question with each other name of the same thing."""
    weight = step.weight * PART_WEIGHTS["question"]
    return [
        QueryStep(step.query.model_copy(update={"text": text}), step.of, step.bounds, weight, embed=False, is_part=True)
        for text in list_respellings(step.query.text, joined)
    ]


def _repeats(plan: RetrievalPlan, n: int) -> bool:
    """Whether the query has only words of the first query, so that its results would add nothing."""
    first, query = plan.queries[0], plan.queries[n]
    return (
        n > 0
        and query.mode == "exact"
        and first.mode in WORDS
        and to_filter(plan, query) == to_filter(plan, first)
        and set(query_terms(query.text)) <= set(query_terms(first.text))
    )


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


def to_parts(step: QueryStep) -> list[QueryStep]:
    """The parts of a query, each as a query with the same filters."""
    if step.query.mode not in WHOLE:
        return []
    return [
        QueryStep(
            step.query.model_copy(update={"text": part.text}),
            step.of,
            step.bounds,
            step.weight * PART_WEIGHTS[part.kind],
            step.embed,
            is_part=True,
            most=PART_MOST.get(part.kind),
        )
        for part in split_question(step.query.text)
    ]


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
