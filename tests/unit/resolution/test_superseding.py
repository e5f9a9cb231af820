"""One sentence with two facts ends nothing; an amended sentence keeps everything but the old value."""

# ruff: noqa: E501 - one case a line

from datetime import UTC, datetime, timedelta

import pytest

from services.cli.evaluate.world import World
from shared.classifiers.judges import load_trees
from shared.resolution.pair_signs import SIGNS, find_amounts
from shared.resolution.parts import is_parallel
from shared.resolution.remaining import count_part_signs
from shared.resolution.roles import find_refilled

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def remembered(*turns: str) -> list[str]:
    world = World()
    for month, text in enumerate(turns):
        world.hear(text, f"s{month}", AT + timedelta(days=30 * month))
    return sorted(known.text for known in world.active.values() if not known.name_alone)


@pytest.mark.parametrize(
    ("one", "other", "parallel"),
    [
        ("Remind me to renew the passport by 2026-11-14", "Remind me to order the laptop by 2026-11-14", True),
        ("提醒我11月14日之前更新护照", "提醒我11月14日之前订购电脑", True),
        ("the locker of Ivan is number 356", "the locker of Hana is number 479", True),
        ("I weigh 92 kilos now", "I weigh 88 kilos now", False),
        ("I like tea", "tea is what I like", False),
    ],
)
def test_one_sentence_with_two_facts_is_parallel(one: str, other: str, parallel: bool) -> None:
    assert is_parallel(one, other) is parallel


@pytest.mark.parametrize(
    ("turns", "left"),
    [
        (("I live in Portland with two roommates", "I don't live in Portland anymore, I'm in Seattle now"), ["I'm in Seattle now"]),
        (("We're deploying with Jenkins", "we dropped Jenkins, it's GitHub Actions now"), ["it's GitHub Actions now"]),
        (("我们项目用的是MySQL，5.7版本", "我们不用MySQL了，现在是PostgreSQL"), ["PostgreSQL"]),
        (("I'm vegetarian", "I'm not vegetarian any more, had a burger last night"), ["not vegetarian any more"]),
        (("我养了只仓鼠叫团子", "我每周三晚上学尤克里里", "尤克里里不学了，太忙"), ["我养了只仓鼠叫团子"]),
        (("I am allergic to penicillin", "turns out I'm not allergic to penicillin"), []),
        (("Remember that I am allergic to penicillin", "Forget that I am allergic to penicillin"), []),
    ],
)  # fmt: skip
def test_the_ended_fact_is_gone_and_its_replacement_is_active(turns: tuple[str, ...], left: list[str]) -> None:
    found = remembered(*turns)
    assert len(found) == len(left)
    for text, wanted in zip(found, left, strict=True):
        assert wanted in text


def test_all_statements_about_a_subject_can_be_forgotten() -> None:
    assert remembered(
        "My ex is called Tarn and we share the dog, swapping on Fridays",
        "I do pottery on Tuesday nights at the old fire station",
        "can you forget what I said about Tarn please",
    ) == ["I do pottery on Tuesday nights at the old fire station"]


@pytest.mark.parametrize(
    "turns",
    [
        (
            "The design doc of the ledger is at https://docs.example.com/harbor/ledger-design, keep it at hand please",
            "Our rollout checklist is in docs/rollout.md, 以后按这个 checklist 来。",
        ),
        ("我刚搬到成都，住在玉林那边，离公司骑车十五分钟。", "公司让我三月份去深圳出差两周，做客户培训。"),
    ],
)
def test_another_thing_or_a_trip_ends_nothing(turns: tuple[str, str]) -> None:
    assert len(remembered(*turns)) == 2


@pytest.mark.parametrize(
    ("name", "signs"),
    [
        ("superseding", len(SIGNS)),
        ("remaining", len(count_part_signs(["tea at nine", "no sugar"], "coffee at ten")[0])),
    ],
)
def test_every_tree_uses_only_available_signs(name: str, signs: int) -> None:
    places = load_trees(name).places
    assert 0 <= places.min() <= places.max() < signs


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("a new dentist as of may, dr. okoye", ["dentist"]),
        ("switched banks, it's monzo", ["banks"]),
        ("my physio retired", ["my physio"]),
        ("物业换成万科了", ["物业"]),
        ("刚换了平板，华为的", ["平板"]),
        ("we moved to leeds", []),
        ("我换好衣服就出门", []),
    ],
)
def test_a_role_with_a_new_holder_is_named(text: str, roles: list[str]) -> None:
    assert find_refilled(text) == roles


def test_amounts_are_distinguished_by_their_unit() -> None:
    assert find_amounts("每天走八千步")["#步"] == {"八千"}
    assert find_amounts("the walk is 25 minutes")["#min"] == find_amounts("25 min")["#min"]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("我们决定分区域上线，先上杭州机房，再上上海机房。", "对了，我上周搬家了，我现在住在上海。"),
        ("我们决定先在成都试点，再推广到重庆", "我刚搬到重庆，住在渝北"),
        ("团建定在杭州，两天一夜", "我上周去杭州出差了"),
        ("每周三开例会", "我周三换了健身课"),
        ("体检约在周五", "我周五开始上夜班了"),
        ("我们决定厨房重新装修", "台面我们改主意了，用石英石"),
        ("We agreed to open the second warehouse in Denver in spring", "I moved to Denver on Saturday"),
        ("We decided to roll out by region, first Leeds, then Oslo.", "I moved last week, I live in Oslo now."),
        ("Let's always deploy on Tuesdays", "My yoga class is on Tuesdays now"),
        ("our launch is planned for Seattle first", "we moved offices in Seattle"),
        ("The deadline for the grant is 15 March", "My birthday is 15 March"),
        ("We are renovating the kitchen", "The countertop will be quartz, not granite. We changed our minds."),
    ],
)
def test_a_place_a_day_or_a_change_of_mind_alone_ends_nothing(before: str, now: str) -> None:
    assert set(remembered(before)) <= set(remembered(before, now))


@pytest.mark.parametrize(
    ("before", "now", "gone"),
    [
        ("I live in Leeds", "I moved to Oslo last week", "Leeds"),
        ("We decided to go to Crete in May", "we're going to Malta in May instead of Crete", "go to Crete"),
        ("I work out of the Leeds depot", "you've got me down at Leeds. I drive out of the Wakefield depot", "of the Leeds"),
        ("我住在杭州西湖区", "我上周搬到苏州了", "西湖区"),
        ("我们打算五一去青岛", "青岛不去了，票太贵", "打算"),
    ],
)  # fmt: skip
def test_a_place_or_day_that_is_over_or_was_wrong_ends_its_memory(before: str, now: str, gone: str) -> None:
    assert not any(gone in text for text in remembered(before, now))
