"""A plan -> what runs: each query as its mode means it, its filters and weight, and what is not honoured (seed 001)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.retrieval_plan import Caller, Filters, Query, RetrievalPlan, TimeRange
from schemas.vocabulary import SearchMode
from services.compose.rules.planning.questions import Kind, Pair, aliases, asks_past, respelt, split_question
from shared.language.names import names
from shared.language.normalise import detect, fold
from shared.language.patterns import to_pattern
from shared.language.segment import keywords, query_terms

WORDS: frozenset[SearchMode] = frozenset({"exact", "hybrid", "associative"})
MEANING: frozenset[SearchMode] = frozenset({"semantic", "hybrid", "associative"})
WHOLE: frozenset[SearchMode] = frozenset({"exact", "semantic", "hybrid"})
"""Modes whose queries are asked part by part where they have several."""
PART_WEIGHTS: Mapping[Kind, float] = {"question": 0.9, "thing": 0.7}
"""What a part of a question weighs beside the whole."""
PART_MOST: Mapping[Kind, int] = {"thing": 8}
"""So many at most are brought by a thing that is merely named."""
COMPOSED_QUERIES = 6
WIDER: tuple[float, ...] = (0.7, 0.6, 0.5, 0.5, 0.4, 0.4)
"""What the additions to an associative query weigh beside it."""
KNOWLEDGE_ONLY = ("document_ids", "tag_ids", "topic_ids")
"""Filters inside the knowledge base: a memory has no document, tag or topic (seed 001 section 4)."""
_IDENTIFIER = to_pattern(r"\S*\w[_./@:#-]\w\S*")
TAIL_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class QueryFilter:
    """What a query may find; equal bounds are searched together."""

    time: TimeRange | None = None
    languages: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    past: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing of memory can fit: another kind of source is asked for."""
        return bool(self.source_types) and "memory_snapshot" not in self.source_types


@dataclass(frozen=True, slots=True)
class QueryStep:
    """One query that runs; `of` is the number of the plan's own query that it serves, and `most` what it brings."""

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
    """All that runs for a plan; `words` and `meaning` scale what each says inside a hybrid query."""

    plan: RetrievalPlan
    steps: tuple[QueryStep, ...]
    words: float = 1.0
    meaning: float = 1.0
    wide: bool = False
    tail: str | None = None
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    added: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])


def bounds(plan: RetrievalPlan, query: Query) -> QueryFilter:
    """The query's own filters where it has them, else the plan's; outdated things only where it asks about the past."""
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
    """The planner's own plan as it stands: its first queries, vectors for the question.

    Names that are `joined` are asked for in each spelling.

    The names in it are words, by which all that names them is found and judged: no links are followed.
    """
    steps = [
        QueryStep(
            query,
            n,
            bounds(plan, query),
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
    """The question once more with each other name of whom it names."""
    weight = step.weight * PART_WEIGHTS["question"]
    return [
        QueryStep(step.query.model_copy(update={"text": text}), step.of, step.bounds, weight, embed=False, is_part=True)
        for text in respelt(step.query.text, joined)
    ]


def _repeats(plan: RetrievalPlan, n: int) -> bool:
    """Whether the query asks by words alone, for none but those of the first: its list would say nothing new."""
    first, query = plan.queries[0], plan.queries[n]
    return (
        n > 0
        and query.mode == "exact"
        and first.mode in WORDS
        and bounds(plan, query) == bounds(plan, first)
        and set(query_terms(query.text)) <= set(query_terms(first.text))
    )


def execute_given(plan: RetrievalPlan, together: Mapping[int, Sequence[str]]) -> ExecutablePlan:
    """Every query of a caller's plan; an associative one with additions that weigh less. `together` has, by query, what
    occurs together with the entities that it names."""
    weights = plan.ranking.fusion.weights
    steps: list[QueryStep] = []
    added: dict[int, tuple[str, ...]] = {}
    notes: list[str] = []
    for n, query in enumerate(plan.queries):
        weight = query.weight * weights.get(query.mode, 1.0)
        if weight <= 0 or _silent(query.mode, weights):
            notes.append(f"queries[{n}] weighs nothing and was not executed")
            continue
        within = bounds(plan, query)
        own, terms = find_linked_terms(query.text) if query.mode == "relational" else ((), ())
        steps.append(QueryStep(query, n, within, weight, query.mode in MEANING, own, terms))
        steps += to_parts(steps[-1])
        if query.mode == "associative":
            extra = wider(query, together.get(n, ()))
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
        tail=_tail(plan),
        ignored=tuple(list_ignored(plan)),
        notes=tuple(dict.fromkeys([*notes, *list_excluded(steps)])),
        added=added,
    )


def to_parts(step: QueryStep) -> list[QueryStep]:
    """What the query asks in several parts, each as a query of its own within the same bounds."""
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
    """What a relational query names, and the search terms that name it too: identifiers, or all where no name is."""
    named = tuple(names(text))
    if not named:
        return tuple(keywords(text, 8)), tuple(query_terms(text, 8))
    return named, tuple(identifiers(named))


def identifiers(named: Sequence[str]) -> list[str]:
    """The search terms of those names that are one identifier: smart_rag, app.py, org/repo."""
    return [fold(name) for name in named if _IDENTIFIER.fullmatch(name)]


def _silent(mode: SearchMode, weights: Mapping[str, float]) -> bool:
    return mode in WORDS & MEANING and weights.get("exact", 1.0) <= 0 and weights.get("semantic", 1.0) <= 0


def list_excluded(steps: Sequence[QueryStep]) -> list[str]:
    return [
        f"queries[{step.of}]: memory is a source of type memory_snapshot, and source_type asks for others"
        for step in steps
        if step.bounds.empty
    ]


def wider(query: Query, together: Sequence[str]) -> list[str]:
    """Other words for what an associative query is about, best first, nothing twice.

    The caller's aliases, its key words, what occurs together with what it names, its topics.
    """
    given = query.hints.get("aliases")
    spellings = [str(each).strip() for each in given if isinstance(each, str)] if isinstance(given, list) else []
    words = keywords(query.text, 8)
    if len(words) > 1:
        spellings.append(" ".join(words))
    spellings += together
    spellings += aliases(query.text, detect(query.text))
    seen = {fold(query.text)}
    added: list[str] = []
    for each in spellings:
        if each and fold(each) not in seen and len(added) < len(WIDER):
            seen.add(fold(each))
            added.append(each[:4000])
    return added


def _tail(plan: RetrievalPlan) -> str | None:
    """The caller's session, where its latest turns can be meant: a task goes on, or a query asks for what is linked."""
    caller: Caller | None = plan.debug.caller
    if caller is None or not caller.session_id:
        return None
    linked = any(query.mode in ("relational", "associative") for query in plan.queries)
    return caller.session_id if linked or plan.purpose == "continue_task" else None


def list_ignored(plan: RetrievalPlan) -> list[str]:
    """What a plan asks of memory that memory does not have: said, not silently dropped."""
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
    """The filters that held, by where the plan gives them."""
    names_ = ("source_type", "source_uri_prefix", "language", "time_range")
    found = [f"global_filters.{name}" for name in names_ if getattr(plan.global_filters, name)]
    for n, query in enumerate(plan.queries):
        found += [f"queries[{n}].filters.{name}" for name in names_ if getattr(query.filters, name)]
    return found
