"""Limits in a question: the past, repositories and files, time ranges."""

from datetime import UTC, datetime

import pytest

from services.compose.rules.planning.plan import PlanPolicy, plan_search
from services.compose.rules.planning.questions import asks_past, find_projects

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "question",
    [
        "我以前喜欢喝什么？",
        "我曾经住在哪里",
        "那时候我在哪上班",
        "我原来用的是什么手机",
        "换工作之前我在哪家公司",
        "What did I use to drink?",
        "I used to live somewhere else, where?",
        "What was my previous job?",
        "Where did I work back then?",
        "What did I drink in the past?",
        "我 previously 用的 editor 是什么",
        "我从头到尾都住过哪些城市？",
        "我的工作一路是怎么变化的？",
        "我换过几次手机？",
        "房租有什么变化？",
        "我都去过哪些国家",
        "这几年我在哪些公司干过",
        "List all the cities I've lived in over the years.",
        "How has my phone changed?",
        "What cars have I owned?",
        "history of my addresses",
        "How many times have I moved?",
    ],
)
def test_questions_about_the_past(question: str) -> None:
    assert asks_past(question)
    planned = plan_search(question, [], NOW, PlanPolicy()).plan
    assert all(query.hints["past"] is True for query in planned.queries)


@pytest.mark.parametrize(
    "question",
    [
        "我喜欢喝什么？",
        "What do I drink?",
        "天气变化对我有什么影响",
        "我一直以来的习惯是什么",
        "What did I do in March?",
        "三月份我去哪了",
        "我住在哪个城市？",
        "What have I told you about my job?",
        "How is my phone?",
        "Change my phone number",
        "请在周五之前完成报告",
        "原来如此",
        "What should I pack before I leave?",
        "过去三天的会议记录",
        "Where is the nearest station?",
        "",
    ],
)
def test_questions_about_now(question: str) -> None:
    assert not asks_past(question)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what did we change in the smart_rag repo last week?", {"repo": ["smart_rag"]}),
        ("smart_rag 仓库里的部署脚本怎么改的", {"repo": ["smart_rag"]}),
        ("which branch of github.com/acme/rocket is live?", {"repo": ["acme/rocket"]}),
        ("repo: acme/rocket 的进度", {"repo": ["acme/rocket"]}),
        ("How far is the Apollo project?", {"project": ["Apollo"]}),
        ("「灯塔」项目现在到哪一步了", {"project": ["灯塔"]}),
        ("在灯塔项目里我们用了什么数据库", {"project": ["灯塔"]}),
        ("why does services/app.py fail?", {"file": ["services/app.py"]}),
        ("把 README.md 和 plan.py 对比一下", {"file": ["README.md", "plan.py"]}),
        ("clone this repo", {}),
        ("我们的项目进度如何", {}),
        ("The project is late.", {}),
        ("我喜欢喝茶", {}),
    ],
)
def test_repositories_projects_and_files(text: str, found: dict[str, list[str]]) -> None:
    assert find_projects(text) == found


def test_what_is_named_becomes_entity_hint_and_relational_query() -> None:
    planned = plan_search("what did we change in the smart_rag repo last week?", [], NOW, PlanPolicy())
    assert planned.entities[0] == "smart_rag"
    assert "repo:smart_rag" in planned.context_hints
    assert planned.plan.queries[0].hints["repo"] == ["smart_rag"]
    assert any(q.mode == "relational" and "smart_rag" in q.text for q in planned.plan.queries)


@pytest.mark.parametrize(
    ("message", "start", "end"),
    [
        ("上周我们聊了什么？", "2026-11-09", "2026-11-16"),
        ("Where did I go last summer?", "2026-06-01", "2026-09-01"),
        ("我三个月前说过什么？", "2026-08-01", "2026-09-01"),
        ("What did I say the day before yesterday?", "2026-11-16", "2026-11-17"),
        ("What did we decide in March?", "2026-03-01", "2026-04-01"),
        ("前天我买了什么", "2026-11-16", "2026-11-17"),
        ("去年夏天我去了哪里", "2025-06-01", "2025-09-01"),
    ],
)
def test_the_stretch_of_time_that_words_name(message: str, start: str, end: str) -> None:
    time = plan_search(message, [], NOW, PlanPolicy()).time
    assert time is not None
    assert [each.date().isoformat() for each in time] == [start, end]


def test_only_a_task_that_goes_on_asks_for_the_session() -> None:
    planned = plan_search("继续上次的任务", [], NOW, PlanPolicy(), session_id="s1")
    assert planned.purpose == "continue_task"
    assert planned.plan.debug.caller is not None
    assert planned.plan.debug.caller.session_id == "s1"


@pytest.mark.parametrize(
    ("message", "entities"),
    [
        ("Explain how Kafka replication works", ("Kafka",)),
        ("Remind Marta about Lisbon", ("Marta", "Lisbon")),
        ("Let's compare Apollo and Gemini", ("Apollo", "Gemini")),
    ],
)
def test_what_a_message_asks_for_is_not_a_name(message: str, entities: tuple[str, ...]) -> None:
    assert plan_search(message, [], NOW, PlanPolicy()).entities == entities


@pytest.mark.parametrize(
    ("message", "since", "until"),
    [
        ("我上个月在 smart_rag 仓库改了什么", "2026-10-01", "2026-11-18"),
        ("what did we discuss last week about pricing?", "2026-11-09", "2026-11-16"),
        ("昨天那个报错怎么解决的", "2026-11-17", "2026-11-18"),
        ("总结一下我们上周的讨论", "2026-11-09", "2026-11-16"),
    ],
)
def test_what_was_said_or_done_lately_is_bound(message: str, since: str, until: str) -> None:
    span = plan_search(message, [], NOW, PlanPolicy()).plan.global_filters.time_range
    assert span
    assert span.from_
    assert span.to
    assert (span.from_.date().isoformat(), span.to.date().isoformat()) == (since, until)


@pytest.mark.parametrize(
    "message", ["推荐一本书", "What should I wear to Marta's wedding?", "我喜欢什么颜色？", "那个呢"]
)
def test_expansions_weigh_less_than_the_question(message: str) -> None:
    first, *rest = plan_search(message, ["我想买一台华为笔记本"], NOW, PlanPolicy()).plan.queries
    assert first.weight == 1.0
    assert rest
    assert all(0 < query.weight < 1 for query in rest)
