"""Plans a search by rules: intent, purpose and a RetrievalPlan."""

# ruff: noqa: E501 - one family of cues per line

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pydantic import JsonValue

from schemas.retrieval_plan import (
    PLAN_VERSION,
    Budget,
    Caller,
    Filters,
    PlanDebug,
    Query,
    RetrievalPlan,
    TimeRange,
)
from schemas.vocabulary import Intent, Language, Purpose, SearchMode
from services.compose.rules.planning.cues import ASKS_WHEN
from services.compose.rules.planning.questions import (
    asks_past,
    choose_purpose,
    find_projects,
    list_topic_questions,
    understand_message,
)
from shared.language.dates import Range, time_range
from shared.language.names import names
from shared.language.normalise import clip, detect, normalise
from shared.language.patterns import to_pattern
from shared.language.segment import keywords

MAX_QUERY_CHARS = 4000


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
_ELLIPTIC = to_pattern(
    r"^(?:那|这|它|他|她|继续|接着|然后|还有|为什么|怎么|呢|嗯|对|and|then|so|why|how about|what about|continue|go on|it|that"
    r"|this|he|she|they|more)\b|^(?:那|这|它|他|她|继续|接着|然后|还有|为什么)|呢[?？]?$|\b(?:it|that|this|them|there|he|she|him|her)\b|这个|那个|那里|它们?|他们?|她们?",
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


def points_back(text: str) -> bool:
    """Whether a short message refers to something named before it."""
    return len(text) <= 60 and _ELLIPTIC.search(text) is not None


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
