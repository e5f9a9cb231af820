"""Intent, purpose and plan by rules, in both languages."""

# ruff: noqa: E501 - one intent per line

from datetime import UTC, datetime, timedelta

import pytest

from services.compose.rules.planning.plan import PlanPolicy, plan_search
from services.compose.rules.planning.questions import choose_purpose
from shared.extraction.intent import understand

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("intent", "messages"),
    [
        (
            "small_talk",
            "你好|hi there!|Hello, how are you?|谢谢你|早上好呀|今天天气真好|thanks a lot!|晚安，明天见|在吗|👋",
        ),
        (
            "recommend",
            "帮我推荐一套今天穿的|晚上吃什么好呢？|what should I wear today?|想给妈妈买个礼物，有什么建议？|周末去哪玩比较好",
        ),
        (
            "recommend",
            "Can you suggest a good restaurant?|Any ideas for a birthday gift?|help me choose a laptop|有没有适合我的电影",
        ),
        (
            "complaint",
            "我要投诉，衣服质量太差了|我的快递一直没收到|The shoes arrived broken, I want a refund|买的耳机坏了怎么办",
        ),
        ("complaint", "this is unacceptable, my order never arrived|I've been charged twice!|客服态度太差"),
        (
            "knowledge_qa",
            "什么是量子计算？|公司的退货政策是什么？|How does photosynthesis work?|refund policy?|请给 roadmap 的引用",
        ),
        (
            "preference_check",
            "我喜欢什么颜色？|你还记得我的名字吗|What's my favorite food?|do I like spicy food?|我对什么过敏？",
        ),
        ("preference_check", "what did I say about Paris?|我上次说的那家餐厅叫什么？|核对一下我的偏好|我叫什么？"),
        (
            "task",
            "帮我写一封邮件|Please summarize this article|fix the bug in app.py|提醒我明天开会|继续上次的任务|把标题改成红色",
        ),
        ("other", "我今天去了公园|I bought a new bike yesterday.|记住我喜欢简洁的回答"),
    ],
)
def test_intents(intent: str, messages: str) -> None:
    assert {message: understand(message).intent for message in messages.split("|")} == dict.fromkeys(
        messages.split("|"), intent
    )


@pytest.mark.parametrize(
    ("message", "purpose"),
    [
        ("请给 roadmap 的引用", "research"),  # OC095
        ("compare Kafka and Pulsar", "research"),
        ("这个报错怎么解决 TypeError", "debug"),
        ("why does the build fail with an exception?", "debug"),
        ("继续上次的任务", "continue_task"),
        ("let's pick up where we left off", "continue_task"),
        ("请帮我总结这篇文章的要点", "summarize"),
        ("give me a recap of the meeting", "summarize"),
        ("我喜欢什么颜色？", "qa"),
        ("hi", "other"),
    ],
)
def test_purposes(message: str, purpose: str) -> None:
    assert choose_purpose(message, understand(message).intent) == purpose


def test_reading_an_intent_takes_linear_time() -> None:
    for hostile in ("好" * 59 + "x", "hi " * 19 + "x", "我的" * 500, "what " * 1000):
        understand(hostile)


def test_the_message_itself_has_the_highest_weight() -> None:
    for message in ("帮我推荐一套今天穿的", "What did Caroline say about the support group?", "hi", "x" * 9000):
        queries = plan_search(message, [], NOW, PlanPolicy()).plan.queries
        assert queries[0].weight == 1.0
        assert queries[0].text == message[:4000]
        assert all(query.weight < 1 for query in queries[1:])
        assert len(queries) <= 8


def test_oc115_a_vague_request_asks_for_its_topics() -> None:
    asked = " ".join(query.text for query in plan_search("帮我推荐一套今天穿的", [], NOW, PlanPolicy()).plan.queries)
    assert all(topic in asked for topic in ("穿衣偏好", "最近风格", "体型/场景/季节"))
    english = " ".join(
        query.text for query in plan_search("what should I wear today?", [], NOW, PlanPolicy()).plan.queries
    )
    assert "clothing preferences" in english


def test_entities_are_asked_for_by_relation() -> None:
    planned = plan_search("What did Caroline say about New York?", [], NOW, PlanPolicy())
    assert planned.entities == ("Caroline", "New York")
    assert any(query.mode == "relational" and query.text == "Caroline New York" for query in planned.plan.queries)


def test_an_elliptic_message_takes_its_topic_from_the_one_before() -> None:
    planned = plan_search("那个呢？", ["我想买一台华为笔记本"], NOW, PlanPolicy())
    assert any("华为" in query.text for query in planned.plan.queries)
    assert planned.language == "zh"


@pytest.mark.parametrize(
    ("message", "needed"),
    [
        ("hi", False),
        ("我喜欢什么颜色？", False),
        ("刚才你说的是什么？", False),
        ("公司的退货政策是什么？", True),
        ("see https://example.org/spec and compare", True),
        ("How does photosynthesis work?", True),
        ("我今天去了公园", False),
    ],
)
def test_resources_are_asked_only_where_needed(message: str, needed: bool) -> None:
    assert plan_search(message, [], NOW, PlanPolicy()).resources_needed is needed


@pytest.mark.parametrize(
    ("message", "filtered"),
    [
        ("上周我们讨论了什么？", True),
        ("What did we discuss in May 2023?", True),
        ("我昨天买了什么？", True),
        ("Where did I go in May 2023?", False),
        ("帮我推荐一套今天穿的", False),
        ("最近吃什么好", False),
    ],
)
def test_time_filters_only_where_it_bounds_what_was_said(message: str, filtered: bool) -> None:
    planned = plan_search(message, [], NOW, PlanPolicy())
    assert (planned.plan.global_filters.time_range is not None) is filtered
    assert planned.time is not None


def test_the_time_that_words_name_is_the_filter() -> None:
    found = plan_search("上周我们讨论了什么？", [], NOW, PlanPolicy()).plan.global_filters.time_range
    assert found is not None
    start = datetime(2026, 11, 9, tzinfo=UTC)
    assert (found.from_, found.to) == (start, start + timedelta(days=7))


def test_the_same_message_gives_the_same_plan() -> None:
    assert plan_search("推荐一本书", [], NOW, PlanPolicy(), "r") == plan_search(
        "推荐一本书", [], NOW, PlanPolicy(), "r"
    )


@pytest.mark.parametrize(
    ("message", "small_talk"),
    [
        ("Sounds great, thank you and enjoy your trip! What did Caroline find at the council meeting?", False),
        ("好的，明白了。你们辛苦啦！我爸什么时候手术？", False),
        ("Good morning! Did you sleep well?", True),
        ("你好呀，今天过得怎么样？", True),
    ],
)
def test_a_question_behind_small_talk_is_what_is_wanted(message: str, small_talk: bool) -> None:
    assert (plan_search(message, (), NOW, PlanPolicy()).intent == "small_talk") is small_talk
