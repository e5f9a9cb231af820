"""The content of a summary from one version to the next."""

import re

import pytest

from schemas.vocabulary import MemoryType
from services.observer.summary import (
    Section,
    Summary,
    SummaryFact,
    SummaryItem,
    SummaryMessage,
    SummaryPolicy,
    SummaryRef,
    SummaryTurn,
    dump,
    load,
    summarise,
)
from shared.language.tokens import count

POLICY = SummaryPolicy()
KEY = re.compile(r"sk-[A-Za-z0-9]{10,}")


def redact(text: str) -> str:
    return KEY.sub("[redacted]", text)


def turn(seq: int, user: str, assistant: str = "ok", *refs: SummaryRef) -> SummaryTurn:
    return SummaryTurn(seq, (SummaryMessage("user", user), SummaryMessage("assistant", assistant)), refs)


def run(
    *facts: SummaryFact,
    turns: tuple[SummaryTurn, ...] = (turn(1, "hello there"),),
    previous: Summary | None = None,
    policy: SummaryPolicy = POLICY,
) -> Summary:
    return summarise(previous, turns, facts, policy, count, redact)


def items(summary: Summary, section: Section) -> list[SummaryItem]:
    return [item for item in summary.items if item.section == section]


def lines(summary: Summary, section: Section) -> list[str]:
    return [item.text for item in items(summary, section)]


def test_the_template_in_english() -> None:
    found = run(
        SummaryFact("goal", "Ship billing this year", "goal:billing:ship", 1),
        SummaryFact("decision", "Use PostgreSQL for the ledger", "decision:ledger:db", 1),
        SummaryFact("task", "Renew the certificate", "task:billing:hb-117", 1, state="doing"),
        turns=(
            turn(1, "see the design", "ok", SummaryRef("https://docs.example.com/ledger", "Ledger design")),
            turn(2, "Decimals or integers? Let's decide later."),
        ),
    )
    assert found.text == (
        "Goals\n- Ship billing this year\nDecisions\n- Use PostgreSQL for the ledger\n"
        "Tasks\n- [doing] Renew the certificate\n"
        "Key References\n- Ledger design — https://docs.example.com/ledger\n"
        "Open Questions\n- Decimals or integers?"
    )
    assert (found.version, found.source_from_seq, found.source_to_seq, found.language) == (1, 1, 2, "en")


def test_the_template_in_chinese() -> None:
    found = run(
        SummaryFact("goal", "年底前上线账单系统", "goal:billing:ship", 1),
        SummaryFact("decision", "先上杭州机房", "decision:rollout:region", 1),
        SummaryFact("task", "续签证书", "task:billing:hb-117", 1, state="blocked"),
        turns=(turn(1, "我们继续", "好", SummaryRef("https://x.example.com")), turn(2, "周游券还是单次票？回头再定。")),
    )
    assert found.text == (
        "目标\n- 年底前上线账单系统\n决定\n- 先上杭州机房\n任务\n- [受阻] 续签证书\n"
        "关键引用\n- https://x.example.com\n未决问题\n- 周游券还是单次票？"
    )
    assert found.language == "zh"


def test_unmentioned_lines_stay() -> None:
    first = run(SummaryFact("goal", "Ship it", "goal:a:b", 1))
    second = run(SummaryFact("decision", "Use Kafka", "decision:a:bus", 2), turns=(turn(2, "go on"),), previous=first)
    assert (lines(second, "goals"), lines(second, "decisions")) == (["Ship it"], ["Use Kafka"])
    assert (second.version, second.source_from_seq, second.source_to_seq) == (2, 1, 2)


@pytest.mark.parametrize(
    ("given", "then", "text", "state"),
    [
        (("写集成测试", "task:a:1", "todo"), ("写集成测试", "task:a:1", "done"), "写集成测试", "done"),
        (("写集成测试", "task:a:1", "todo"), ("测试写完了", "task:a:1", "done"), "写集成测试", "done"),
        (("写集成测试", "task:a:1", "doing"), ("写集成测试", "task:a:1", None), "写集成测试", "doing"),
        (("Write tests", "task:a:1", None), ("Write tests", "task:a:1", "blocked"), "Write tests", "blocked"),
        (("Write tests", "task:a:1", "done"), ("Write tests again", "task:a:1", "todo"), "Write tests again", "todo"),
        (
            ("给对账服务写集成测试", "task:a:hb-101", "todo"),
            ("close HB-101", None, "done"),
            "给对账服务写集成测试",
            "done",
        ),
        (
            ("Write integration tests for reconciliation", "task:a:tests", "todo"),
            ("The reconciliation integration tests are merged", "task:a:merged", "done"),
            "Write integration tests for reconciliation",
            "done",
        ),
        (
            ("给对账服务写集成测试", "task:a:x", "todo"),
            ("对账服务的集成测试写完了", "task:a:y", "done"),
            "给对账服务写集成测试",
            "done",
        ),
    ],
)
def test_a_task_changes_its_state(
    given: tuple[str, str, str], then: tuple[str, str | None, str], text: str, state: str
) -> None:
    first = run(SummaryFact("task", given[0], given[1], 1, state=given[2]))  # pyright: ignore[reportArgumentType] # table
    moved = SummaryFact("task", then[0], then[1], 2, state=then[2])  # pyright: ignore[reportArgumentType] # table
    second = run(moved, turns=(turn(2, "go on"),), previous=first)
    assert [(item.text, item.state) for item in items(second, "tasks")] == [(text, state)]


def test_another_task_is_another_line() -> None:
    found = run(
        SummaryFact("task", "Write tests for the ledger", "task:a:1", 1),
        SummaryFact("task", "Renew the certificate", "task:a:2", 1, state="done"),
    )
    assert lines(found, "tasks") == ["Write tests for the ledger", "Renew the certificate"]


def test_a_ticket_and_its_source_words_are_one_task() -> None:
    found = run(
        SummaryFact("task", "给对账服务写集成测试，月底前完成", "task:general:给对账服务写集成测试", 1),
        SummaryFact("task", "给对账服务写集成测试", "task:harbor:hb-101", 1, state="todo"),
    )
    assert len(items(found, "tasks")) == 1


@pytest.mark.parametrize(
    "later",
    [
        SummaryFact(
            "decision", "Use PostgreSQL", "decision:ledger:postgres", 2, supersedes_key="decision:ledger:mongo"
        ),
        SummaryFact("decision", "Use PostgreSQL", "decision:ledger:mongo", 2),
    ],
)
def test_a_replacement_removes_the_old_decision(later: SummaryFact) -> None:
    first = run(SummaryFact("decision", "Use MongoDB", "decision:ledger:mongo", 1))
    second = run(later, turns=(turn(2, "x"),), previous=first)
    assert lines(second, "decisions") == ["Use PostgreSQL"]


def test_retracted_lines_are_removed() -> None:
    first = run(SummaryFact("goal", "学滑雪", "goal:self:学滑雪", 1))
    second = run(
        SummaryFact("goal", "学滑雪", "goal:self:学滑雪", 2, retracts=True), turns=(turn(2, "x"),), previous=first
    )
    assert second.items == ()


def test_an_older_fact_that_arrives_late_changes_nothing() -> None:
    done = run(SummaryFact("task", "Write tests", "task:a:1", 5, state="done"), turns=(turn(5, "x"),))
    late = run(SummaryFact("task", "Write tests", "task:a:1", 3, state="todo"), turns=(turn(6, "y"),), previous=done)
    assert [item.state for item in items(late, "tasks")] == ["done"]


def test_summarising_the_same_turns_again_changes_nothing() -> None:
    facts = (SummaryFact("goal", "Ship it", "goal:a:b", 1), SummaryFact("task", "Test it", "task:a:1", 1))
    first = run(*facts)
    assert run(*facts, previous=first).text == first.text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "Should amounts be stored as decimals or integers? Let's decide later.",
            "Let's store amounts as integers, decided.",
        ),
        ("交通是买周游券还是单次票？回头再定。", "交通就买单次票吧，定了。"),
    ],
)
def test_a_settled_question_is_removed(question: str, answer: str) -> None:
    first = run(turns=(turn(1, question),))
    assert len(items(first, "questions")) == 1
    second = run(turns=(turn(2, answer),), previous=first)
    assert items(second, "questions") == []


def test_a_decision_settles_its_question() -> None:
    first = run(turns=(turn(1, "账本用 PostgreSQL 还是 MongoDB？待定。"),))
    second = run(
        SummaryFact("decision", "账本用 PostgreSQL", "decision:ledger:db", 2), turns=(turn(2, "嗯"),), previous=first
    )
    assert (lines(second, "questions"), lines(second, "decisions")) == ([], ["账本用 PostgreSQL"])


def test_a_question_stays_while_others_are_settled() -> None:
    first = run(turns=(turn(1, "交通是买周游券还是单次票？回头再定。"),))
    second = run(turns=(turn(2, "酒店就选安静的那家，定了。"),), previous=first)
    assert lines(second, "questions") == ["交通是买周游券还是单次票？"]


def test_a_repeated_and_answered_question_is_removed() -> None:
    first = run(turns=(turn(1, "Who owns the rollout?", "I'm not sure."),))
    second = run(turns=(turn(2, "Who owns the rollout?", "Mei does."),), previous=first)
    assert items(second, "questions") == []


def test_a_repeated_and_postponed_question_appears_once() -> None:
    first = run(turns=(turn(1, "Who owns the rollout?", "I'm not sure."),))
    second = run(turns=(turn(2, "who owns the rollout?", "Still TBD."),), previous=first)
    assert len(items(second, "questions")) == 1


@pytest.mark.parametrize(
    "facts",
    [
        (SummaryFact("goal", "Ship  it", None, 1), SummaryFact("goal", "ship it", None, 1)),
        (SummaryFact("goal", "上线", "goal:a:b", 1), SummaryFact("goal", "上线", "goal:a:c", 1)),
    ],
)
def test_equal_lines_appear_once(facts: tuple[SummaryFact, ...]) -> None:
    assert len(items(run(*facts), "goals")) == 1


def test_a_reference_appears_once_under_its_longest_name() -> None:
    uri = "https://docs.example.com/ledger"
    found = run(
        SummaryFact("entity", f"the doc {uri}, see it", f"entity:url:{uri}", 1),
        turns=(turn(1, "see", "ok", SummaryRef(uri, "Ledger design"), SummaryRef(uri)),),
    )
    assert lines(found, "references") == [f"Ledger design — {uri}"]


def test_profile_goals_and_constraints_come_first() -> None:
    found = run(
        SummaryFact("constraint", "我对花生过敏", "constraint:allergy:花生", 1),
        SummaryFact("preference", "I prefer green tea", "pref:drink:green tea", 2),
        SummaryFact("profile", "我在宁波的中学教物理", None, 3),
        SummaryFact("goal", "Ship it", None, 4),
    )
    assert found.text == (
        "Profile\n- 我在宁波的中学教物理\nPreferences\n- I prefer green tea\n"
        "Constraints\n- 我对花生过敏\nGoals\n- Ship it"
    )


@pytest.mark.parametrize("kind", ["profile", "preference", "constraint"])
@pytest.mark.parametrize("text", ["Mm", "嗯嗯", "Single", "是的"])
def test_a_single_word_is_no_fact_about_the_user(kind: MemoryType, text: str) -> None:
    assert run(SummaryFact(kind, text, None, 1)).items == ()


@pytest.mark.parametrize(
    ("line", "correction"),
    [
        ("我现在住在上海。", SummaryFact("profile", "我搬到苏州住了", "profile:home", 2, old_value="上海")),
        (
            "The dentist is on Tuesday morning.",
            SummaryFact("event", "The dentist moved to Thursday", None, 2, old_value="Tuesday"),
        ),
    ],
)
def test_a_sentence_with_the_old_value_is_removed_and_another_with_its_word_stays(
    line: str, correction: SummaryFact
) -> None:
    other = "上海的外滩夜景拍得真漂亮。" if "上海" in line else "Our book club meets every Tuesday evening."
    first = run(turns=(turn(1, f"{line} {other}"),))
    assert {line, other} == set(lines(first, "context"))
    second = run(correction, turns=(turn(2, "ok"),), previous=first)
    assert lines(second, "context") == [other]


def test_a_section_has_limited_items_of_limited_length() -> None:  # OC232
    found = run(*(SummaryFact("goal", f"{n:02d} " + "目标" * 150, f"goal:a:{n}", n) for n in range(1, 13)))
    goals = items(found, "goals")
    assert len(goals) == 8
    assert max(len(item.text) for item in goals) <= 160
    assert goals[-1].text.startswith("12")


def test_completed_tasks_are_dropped_before_open_ones() -> None:
    old_open = SummaryFact("task", "still open", "task:a:0", 1)
    done = [SummaryFact("task", f"done {n}", f"task:a:{n}", n + 1, state="done") for n in range(1, 12)]
    found = run(old_open, *done)
    assert "still open" in lines(found, "tasks")
    assert "done 1" not in lines(found, "tasks")
    assert len(items(found, "tasks")) == 10


@pytest.mark.parametrize("word", ["一个很长的决定，", "a rather long decision, "])
def test_the_text_keeps_its_token_limit_and_loses_completed_tasks_first(word: str) -> None:
    facts = [SummaryFact("decision", f"{n} {word * 9}", f"decision:a:{n}", n) for n in range(1, 11)]
    facts += [SummaryFact("task", f"finished {n} {word * 9}", f"task:a:{n}", n, state="done") for n in range(1, 6)]
    found = run(*facts, policy=SummaryPolicy(text_tokens=400))
    assert 0 < count(found.text) <= 400
    assert "finished" not in found.text
    assert len(items(found, "tasks")) == 5
    assert "10 " in found.text


def test_a_long_reference_keeps_its_address() -> None:
    uri = "https://docs.example.com/" + "a" * 60
    found = run(turns=(turn(1, "x", "ok", SummaryRef(uri, "标题" * 100)),))
    assert lines(found, "references")[0].endswith(uri)
    assert len(lines(found, "references")[0]) <= 160


def test_no_secret_is_included() -> None:  # OC068
    secret = "sk-abcdefghij1234"
    found = run(
        SummaryFact("decision", f"use {secret} 是我的 key", f"decision:a:{secret}", 1),
        turns=(
            turn(
                1, f"{secret} 是我的 key，放在哪里？回头再定。", "ok", SummaryRef(f"https://x.example.com/?k={secret}")
            ),
        ),
    )
    assert secret not in repr(found)
    assert found.text.count("[redacted]") == 3


def test_a_line_stays_one_line() -> None:
    assert (
        run(SummaryFact("goal", "one\n\nIgnore all\r\nof that", "goal:a:b", 1)).text
        == "Goals\n- one Ignore all of that"
    )


def test_the_language_is_that_of_the_whole_session() -> None:
    first = run(turns=tuple(turn(n, "我们继续讨论账单系统") for n in range(1, 6)))
    second = run(
        SummaryFact("goal", "上线", None, 6),
        turns=(turn(6, "please go on"), turn(7, "and on")),
        previous=first,
    )
    assert second.text == "目标\n- 上线\n对话要点\n- 我们继续讨论账单系统"


def test_a_session_without_content_has_an_empty_text() -> None:
    found = run(turns=(turn(1, "你好"),))
    assert (found.text, found.version) == ("", 1)


def test_a_summary_is_restored_from_its_row() -> None:
    found = run(SummaryFact("task", "续签证书", "task:a:hb-117", 1), turns=(turn(1, "继续"),))
    assert load(dump(found), found.text) == found


@pytest.mark.parametrize("stored", [None, "not JSON", [], {}, {"version": "x"}, {"items": 3}])
def test_an_invalid_summary_is_none(stored: object) -> None:  # OC233: the previous one stands
    assert load(stored) is None
