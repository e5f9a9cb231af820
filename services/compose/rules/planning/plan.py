"""Plans the search of a message by rules (intent, purpose, RetrievalPlan), and lists the queries that run."""

# ruff: noqa: E501 - one family of cues per line

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from pydantic import JsonValue

from schemas.retrieval_plan import PLAN_VERSION, Budget, Caller, Filters, PlanDebug, Query, RetrievalPlan, TimeRange
from schemas.vocabulary import Intent, Language, Purpose, SearchMode
from services.compose.rules.planning.cues import ASKS_WHEN
from services.compose.rules.planning.questions import (
    Kind,
    Pair,
    asks_past,
    choose_purpose,
    find_projects,
    list_respellings,
    list_topic_questions,
    points_back,
    split_question,
    understand_message,
)
from shared.language.dates import Range, time_range
from shared.language.names import names
from shared.language.normalise import clip, detect, normalise
from shared.language.patterns import to_pattern
from shared.language.segment import keywords, query_terms

MAX_QUERY_CHARS = 4000
COMPOSED_QUERIES = 6
WORDS: frozenset[SearchMode] = frozenset({"exact", "hybrid", "associative"})
MEANING: frozenset[SearchMode] = frozenset({"semantic", "hybrid", "associative"})
WHOLE: frozenset[SearchMode] = frozenset({"exact", "semantic", "hybrid"})
"""Modes whose queries run as a whole and in parts."""
PART_WEIGHTS: Mapping[Kind, float] = {"question": 0.9, "thing": 0.7}
"""The weight of a part of a question relative to the whole."""
PART_MOST: Mapping[Kind, int] = {"thing": 8}
"""The most results for a thing that is only named."""


@dataclass(frozen=True, slots=True)
class PlanPolicy:
    """How far a question is expanded, and when knowledge is asked."""

    max_queries: int = 8
    keyword_weight: float = 0.7
    entity_weight: float = 0.6
    topic_weights: tuple[float, ...] = (0.7, 0.6, 0.5, 0.5)
    context_weight: float = 0.5
    top_k: int = 30
    candidate_k: int = 200
    resources: Literal["auto", "always", "never"] = "auto"
    time_filter: Literal["auto", "always", "never"] = "auto"
    recent_days: int = 62


@dataclass(frozen=True, slots=True)
class Planned:
    """The interpretation of a message and its plan; `time` is the named time, whether it is filtered on or not."""

    intent: Intent
    confidence: float
    action_required: bool
    entities: tuple[str, ...]
    context_hints: tuple[str, ...]
    purpose: Purpose
    reason: str
    language: Language
    resources_needed: bool
    time: Range | None
    plan: RetrievalPlan


_RESOURCE_WORDS = to_pattern(
    r"文档|资料|品牌(?:调性|要求|语气)|合规|规章|查一下|查查|搜一下|检索|手册|政策|规范|规定|条款|知识库|网页|网站|链接|文章|论文|文件|报告|引用|出处|来源|官方|产品说明|教程|最新|新闻"
    r"|\b(?:docs?|documentation|manual|polic(?:y|ies)|handbook|spec(?:ification)?s?|articles?|papers?|files?|reports?|cite"
    r"|citations?|references?|sources?|website|readme|knowledge base|tutorial|guidelines?|official|latest|news|look up|compliance|brand (?:voice|tone|rules?))\b"
    r"|https?://",
    re.IGNORECASE,
)
_WINDOW_ONLY = to_pattern(
    r"^(?:你)?(?:刚才|刚刚|上面|前面|上一(?:条|句|个))(?:你|我)?(?:说|讲|提|写|问|回答)?|上面(?:说|提到|那)|\b(?:just now|you just said"
    r"|the above|above message|your last (?:message|answer|reply)|what you (?:just )?(?:said|wrote))\b",
    re.IGNORECASE,
)
_TALKED = to_pattern(
    r"聊|说(?:过|的|到|了)|讨论|提(?:到|过|及)|讲(?:过|到)|商量|告诉|问过|决定|约定|记录|对话|会话"
    r"|\b(?:said|say|says|tell|told|talk(?:ed)?|discuss(?:ed)?|mention(?:ed)?|decid(?:e|ed)|agree[d]?|chat(?:ted)?|asked"
    r"|conversation)\b",
    re.IGNORECASE,
)


def plan_search(
    message: str,
    recent: Sequence[str],
    now: datetime,
    policy: PlanPolicy,
    request_id: str | None = None,
    *,
    session_id: str | None = None,
) -> Planned:
    """The intent, and a plan whose first query is the message at weight 1; expansions weigh less."""
    text = normalise(message) or message.strip() or "?"
    understanding = understand_message(text)
    language = _choose_language(text, recent)
    purpose = choose_purpose(text, understanding.intent)
    spoken = time_range(text, now)
    named = find_projects(text)
    entities = tuple(dict.fromkeys([*(each for of in named.values() for each in of), *names(text)]))
    needed = _needs_resources(text, understanding.intent, purpose, policy)
    hints = _make_hints(text, language, entities, spoken)
    hints.update({kind: list[JsonValue](of) for kind, of in named.items()})
    queries = _make_queries(text, recent, understanding.intent, language, entities, hints, policy)
    filters = _make_filters(text, understanding.intent, spoken, now, policy)
    return Planned(
        intent=understanding.intent,
        confidence=understanding.confidence,
        action_required=understanding.intent == "task",
        entities=entities,
        context_hints=(*understanding.cues, *(f"{kind}:{each}" for kind, of in named.items() for each in of)),
        purpose=purpose,
        reason=f"intent {understanding.intent} ({understanding.confidence:.2f}): {', '.join(understanding.cues) or 'no cue'}",
        language=language,
        resources_needed=needed,
        time=spoken,
        plan=RetrievalPlan(
            version=PLAN_VERSION,
            request_id=request_id,
            purpose=purpose,
            queries=queries,
            global_filters=filters,
            budget=Budget(top_k=policy.top_k, candidate_k=policy.candidate_k),
            debug=PlanDebug(
                notes="resources" if needed else "memory",
                caller=Caller(app="smartbrain", session_id=session_id) if session_id else None,
            ),
        ),
    )


def _choose_language(text: str, recent: Sequence[str]) -> Language:
    own = detect(text)
    if own != "other":
        return own
    found: list[Language] = [each for each in map(detect, reversed(recent)) if each != "other"]
    return found[0] if found else "other"


def decide_resources(text: str, intent: Intent, policy: PlanPolicy) -> bool | None:
    """Whether knowledge is needed, if the policy or plain words say so; None if it must be guessed."""
    if policy.resources != "auto":
        return policy.resources == "always"
    if _RESOURCE_WORDS.search(text):
        return intent != "small_talk"
    return False if intent == "small_talk" or _WINDOW_ONLY.search(text) else None


def _needs_resources(text: str, intent: Intent, purpose: Purpose, policy: PlanPolicy) -> bool:
    """Knowledge is asked for documents, research and questions about the world, not for chat, personal questions or the
    window."""
    certain = decide_resources(text, intent, policy)
    if certain is not None:
        return certain
    return intent == "knowledge_qa" or (purpose in ("research", "debug") and intent != "preference_check")


def _make_queries(
    text: str,
    recent: Sequence[str],
    intent: Intent,
    language: Language,
    entities: tuple[str, ...],
    hints: dict[str, JsonValue],
    policy: PlanPolicy,
) -> list[Query]:
    queries = [Query(text=text[:MAX_QUERY_CHARS], mode="hybrid", weight=1.0, hints=hints)]
    shared: dict[str, JsonValue] = {"past": hints["past"]}
    if intent == "small_talk":
        return queries
    wanted: list[tuple[str, SearchMode, float]] = []
    words = keywords(text, 16)
    if len(words) > 1:
        wanted.append((" ".join(words), "exact", policy.keyword_weight))
    if entities:
        wanted.append((" ".join(entities[:5]), "relational", policy.entity_weight))
    if intent in ("recommend", "preference_check"):
        asked = list_topic_questions(text, language)
        for each, weight in zip(asked, policy.topic_weights, strict=False):
            wanted.append((each, "associative", weight))
    if recent and (len(words) < 2 or points_back(text)):
        earlier = keywords(recent[-1], 10)
        if earlier:
            wanted.append((" ".join([*earlier, *words]), "associative", policy.context_weight))
    seen = {("hybrid", text.casefold())}
    for each, mode, weight in wanted:
        if (mode, each.casefold()) not in seen and len(queries) < policy.max_queries:
            seen.add((mode, each.casefold()))
            queries.append(Query(text=clip(each, MAX_QUERY_CHARS), mode=mode, weight=min(weight, 0.99), hints=shared))
    return queries


def _make_hints(text: str, language: Language, entities: tuple[str, ...], spoken: Range | None) -> dict[str, JsonValue]:
    hints: dict[str, JsonValue] = {"language": language, "entities": list(entities), "past": asks_past(text)}
    if ASKS_WHEN.search(text):
        hints["asks_when"] = True
    if spoken:
        hints["time"] = {"from": spoken[0].isoformat(), "to": spoken[1].isoformat()}
    return hints


def _make_filters(text: str, intent: Intent, spoken: Range | None, now: datetime, policy: PlanPolicy) -> Filters:
    """A filter if the words bound when something was said or what is recent; events long ago may have been told later."""
    if spoken is None or policy.time_filter == "never":
        return Filters()
    start, end = spoken
    if policy.time_filter == "auto" and not _TALKED.search(text):
        asks_past = intent in ("preference_check", "knowledge_qa") and end <= now
        if not asks_past or start < now - timedelta(days=policy.recent_days):
            return Filters()
        end = now
    return Filters(time_range=TimeRange.model_validate({"from": start, "to": end}))


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

    A query with a name in `joined` also runs with the other names of the same thing. Names are searched as words; links
    are not followed.
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
    caller = plan.debug.caller if plan.purpose == "continue_task" else None
    return ExecutablePlan(plan, tuple(steps), tail=caller.session_id if caller else None)


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
