"""Additions of a model to the plan of the rules, and the parts that it cannot remove; in both languages."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from schemas.vocabulary import Intent
from services.compose.context.stages import PlanningResult
from services.compose.prompts import PlanAnswer
from services.compose.rules.planning.plan import Planned, PlanPolicy, plan_search
from services.compose.rules.planning.rewrite import merge_answer

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)
RULES = PlanPolicy()


def rewrite_plan(message: str, *recent: str, rules: PlanPolicy = RULES, **answer: Any) -> Planned:
    """The plan for a message with this model answer."""
    said = PlanAnswer.model_validate({"queries": [], **answer})
    return merge_answer(plan_search(message, recent, NOW, rules), said, message, recent, NOW, rules)


def texts(planned: Planned) -> list[str]:
    return [each.text for each in planned.plan.queries]


@pytest.mark.parametrize(
    ("message", "rewritten"),
    [
        ("帮我推荐一套今天穿的", ["穿衣偏好", "最近喜欢的风格", "clothing preferences"]),
        ("What should I wear today?", ["clothing preferences", "favourite style lately", "穿衣偏好"]),
        ("What did Anna say about the flat in Leith?", ["Anna flat Leith", "flat viewing"]),
        ("Tell me about the 2026 budget of the harbour office, please", ["harbour office budget"]),
    ],
)
def test_the_message_stays_first_and_the_models_queries_have_less_weight(message: str, rewritten: list[str]) -> None:
    planned = rewrite_plan(message, queries=[{"text": text, "mode": "hybrid", "weight": 5} for text in rewritten])
    first, *rest = planned.plan.queries
    assert (first.text, first.weight, first.mode) == (message, 1.0, "hybrid")
    assert set(rewritten) <= set(texts(planned))
    assert all(query.weight < 1 for query in rest)
    assert len(planned.plan.queries) <= 6


def test_queries_of_the_rules_stay_within_the_limit() -> None:
    message = "帮我推荐一套今天穿的 Uniqlo 外套"
    alone = [query.text for query in plan_search(message, [], NOW, RULES).plan.queries]
    planned = rewrite_plan(message, queries=["穿衣偏好", "最近喜欢的风格", "体型"])
    assert texts(planned)[0] == message
    assert [query.mode for query in planned.plan.queries[1:3]] == ["exact", "relational"]
    assert texts(planned)[3:] == ["穿衣偏好", "最近喜欢的风格", "体型"]
    assert texts(rewrite_plan(message)) == alone[:6]


@pytest.mark.parametrize("repeated", ["我喝什么茶？", " 我喝什么茶? ", "我喝什么茶\u200b？"])
def test_a_query_that_repeats_the_message_is_omitted(repeated: str) -> None:
    assert texts(rewrite_plan("我喝什么茶？", queries=[repeated])) == texts(rewrite_plan("我喝什么茶？"))


@pytest.mark.parametrize(
    ("message", "recent", "intent", "confidence", "becomes"),
    [
        ("我今天去了公园", (), "task", 0.9, "task"),  # the rules guess: other, 0.3
        ("I bought a new bike yesterday.", (), "recommend", 0.8, "recommend"),
        (
            "那个呢？",
            ("我想买一台华为笔记本",),
            "recommend",
            0.8,
            "recommend",
        ),  # it refers back, so the rules saw only half
        ("and that one?", ("Can you suggest a laptop?",), "recommend", 0.8, "recommend"),
        ("我今天去了公园", (), "task", 0.4, "other"),  # the model guesses too
        ("我今天去了公园", (), None, 0.9, "other"),
        ("我今天去了公园", (), "small_talk", 1.0, "other"),  # it would hide memories
        ("帮我推荐一套今天穿的", (), "task", 1.0, "recommend"),  # the rules are certain
        ("我对什么东西过敏？", (), "knowledge_qa", 1.0, "preference_check"),
        ("What's my favorite food?", (), "knowledge_qa", 1.0, "preference_check"),
        ("What am I allergic to?", (), "recommend", 1.0, "preference_check"),
        ("公司的退货政策是什么？", (), "complaint", 1.0, "knowledge_qa"),
        ("hi", (), "task", 1.0, "small_talk"),
    ],
)
def test_the_models_intent_is_used_where_the_rules_guess(
    message: str, recent: tuple[str, ...], intent: Intent | None, confidence: float, becomes: Intent
) -> None:
    planned = rewrite_plan(message, *recent, intent=intent, confidence=confidence)
    assert planned.intent == becomes
    assert planned.action_required is (becomes == "task")


@pytest.mark.parametrize(
    ("message", "purpose", "becomes"),
    [
        ("我今天去了公园", "summarize", "summarize"),
        ("我喜欢什么颜色？", "research", "research"),
        ("我喜欢什么颜色？", "other", "qa"),
        ("我喜欢什么颜色？", None, "qa"),
        ("请给 roadmap 的引用", "qa", "research"),
        ("why does the build fail with an exception?", "summarize", "debug"),
    ],
)
def test_the_models_purpose_is_used_where_the_rules_have_none(message: str, purpose: str | None, becomes: str) -> None:
    planned = rewrite_plan(message, purpose=purpose)
    assert (planned.purpose, planned.plan.purpose) == (becomes, becomes)


@pytest.mark.parametrize(
    ("message", "resources", "needed"),
    [
        ("公司的退货政策是什么？", False, True),  # stated explicitly
        ("see https://example.org/spec and compare", False, True),
        ("刚才你说的是什么？", True, False),
        ("hi", True, False),
        ("How does photosynthesis work?", False, False),  # a guess of the rules
        ("我今天去了公园", True, True),
        ("I bought a new bike yesterday.", None, False),
    ],
)
def test_the_models_resources_are_used_where_no_words_state_them(
    message: str, resources: bool | None, needed: bool
) -> None:
    planned = rewrite_plan(message, resources=resources)
    assert planned.resources_needed is needed
    assert planned.plan.debug.notes == ("resources" if needed else "memory")


@pytest.mark.parametrize(("policy", "needed"), [("never", False), ("always", True)])
def test_policy_overrides_both(policy: Any, needed: bool) -> None:
    rules = PlanPolicy(resources=policy)
    assert rewrite_plan("How does photosynthesis work?", rules=rules, resources=not needed).resources_needed is needed


@pytest.mark.parametrize(
    ("message", "recent", "entities", "found"),
    [
        ("what did we pick with the landlord of harbour house?", (), ["harbour house"], ("harbour house",)),
        ("那个呢？", ("我想买一台matebook笔记本",), ["matebook"], ("matebook",)),
        ("What did Caroline say?", (), ["caroline", "Melanie"], ("Caroline",)),
        ("我喝什么茶？", (), ["王小明", "x"], ()),
    ],
)
def test_an_entity_must_occur_in_the_models_input(
    message: str, recent: tuple[str, ...], entities: list[str], found: tuple[str, ...]
) -> None:
    planned = rewrite_plan(message, *recent, entities=entities)
    assert planned.entities == found
    related = [query.text for query in planned.plan.queries if query.mode == "relational"]
    assert related == ([" ".join(found)] if found else [])
    assert planned.plan.queries[0].hints["entities"] == list(found)


SPAN = {"words": "开学那天", "first": "2026-09-01", "after": "2026-09-02"}


def test_a_time_found_only_by_the_model_limits_only_its_queries() -> None:
    planned = rewrite_plan("开学那天我们聊了什么？", time=SPAN, queries=["开学 聊天"])
    first, rewritten = planned.plan.queries[0], next(q for q in planned.plan.queries if q.text == "开学 聊天")
    assert planned.plan.filters_of(first).time_range is None
    span = planned.plan.filters_of(rewritten).time_range
    assert span
    assert span.from_
    assert (span.from_.date(), span.to and span.to.date()) == (date(2026, 9, 1), date(2026, 9, 2))
    assert planned.time == (datetime(2026, 9, 1, tzinfo=UTC), datetime(2026, 9, 2, tzinfo=UTC))


def test_a_time_found_by_the_rules_stays() -> None:
    message = "上周我们讨论了什么？"
    alone = plan_search(message, [], NOW, RULES)
    last_week = {"words": "上周", "first": "2020-01-01", "after": "2020-02-01"}
    planned = rewrite_plan(message, time=last_week, queries=["讨论"])
    assert planned.time == alone.time
    assert planned.plan.global_filters == alone.plan.global_filters
    assert all(query.filters.time_range is None for query in planned.plan.queries)


@pytest.mark.parametrize(
    "changes",
    [
        {"words": "去年夏天"},  # the message does not say that
        {"words": ""},
        {"first": None},
        {"first": "2026-09-02", "after": "2026-09-01"},
        {"first": "2027-01-01", "after": "2027-01-02"},  # not in the past
        {"first": "0001-01-01", "after": "9999-12-31"},
        {"first": "1900-01-01", "after": "1900-01-02"},
    ],
)
def test_an_impossible_time_is_omitted(changes: dict[str, Any]) -> None:
    planned = rewrite_plan("开学那天我们聊了什么？", time=SPAN | changes, queries=["开学"])
    assert planned.time is None
    assert all(query.filters.time_range is None for query in planned.plan.queries)


def test_a_start_without_an_end_is_one_day() -> None:
    for after in (None, "2026-09-01"):
        planned = rewrite_plan("开学那天我们聊了什么？", time=SPAN | {"after": after}, queries=["开学"])
        assert planned.time == (datetime(2026, 9, 1, tzinfo=UTC), datetime(2026, 9, 2, tzinfo=UTC))


def test_an_empty_answer_changes_only_the_limit() -> None:
    for message in ("我喝什么茶？", "What did Caroline say about New York?", "hi", "那个呢？"):
        assert rewrite_plan(message) == plan_search(message, [], NOW, RULES)


@pytest.mark.parametrize(
    ("message", "recent", "question"),
    [
        ("那个呢？", ("我想买一台华为笔记本",), "那个呢？ (华为笔记本)"),
        ("and that one?", ("Can you suggest a laptop?",), "and that one? (laptop stand)"),
        ("我喝什么茶？", (), "我喝什么茶？"),
    ],
)
def test_a_reranker_receives_the_text_to_which_the_message_refers(
    message: str, recent: tuple[str, ...], question: str
) -> None:
    rewritten = ["华为笔记本" if "那" in message else "laptop stand" if recent else "龙井茶"]
    assert PlanningResult(rewrite_plan(message, *recent, queries=rewritten)).question(message) == question
