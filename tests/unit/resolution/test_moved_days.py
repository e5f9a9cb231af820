"""A sentence that moves an appointment changes the day in its memory and nothing else."""

from datetime import UTC, datetime, timedelta

import pytest

from services.cli.evaluate.world import World

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def remembered(*turns: str) -> list[str]:
    world = World()
    for day, text in enumerate(turns):
        world.hear(text, f"s{day}", AT + timedelta(days=day))
    return sorted(known.text for known in world.active.values() if not known.name_alone)


@pytest.mark.parametrize(
    ("said", "moves", "then"),
    [
        ("手术约在15号，在协和做", "手术改到20号了", "手术约在20号，在协和做"),
        ("膝盖手术排在3月15号", "手术改到20号了", "膝盖手术排在3月20号"),
        ("我妈的膝盖手术定在15号，在协和", "手术改到20号了", "我妈的膝盖手术定在20号，在协和"),
        ("评审会定在周四下午三点，在三楼会议室", "评审会推迟到下周一了", "评审会定在下周一下午三点，在三楼会议室"),
        ("婚礼定在10月3号，请了八桌", "婚礼改到10月5号了，酒店不变", "婚礼定在10月5号，请了八桌"),
        ("和客户的会定在明天下午两点", "客户的会挪到后天了", "和客户的会定在后天下午两点"),
        ("My knee surgery is on May 14 with Dr. Hall", "surgery got pushed to the 21st", "on May 21st with Dr. Hall"),
        (
            "I'm having surgery on the 15th, Brennan drives me",
            "They moved the surgery to the 20th",
            "on the 20th, Brennan",
        ),
        ("Our demo is on Tuesday, Priya presents", "we moved the demo to Thursday", "is on Thursday, Priya presents"),
        ("The design review is Thursday at 2pm in room 4", "design review moved to 4pm", "Thursday at 4pm in room 4"),
        ("the flight to Oslo is on 12 May, seat 14A", "flight got changed to 13 May", "on 13 May, seat 14A"),
        ("The wedding is on June 5, in Bath", "The wedding's been moved to June 12, same venue", "on June 12, in Bath"),
    ],
)
def test_the_new_day_replaces_the_old_one(said: str, moves: str, then: str) -> None:
    (text,) = remembered(said, moves)
    assert then in text


@pytest.mark.parametrize(
    ("said", "moves"),
    [
        ("我爸的手术在周三，我妈的手术在周五", "手术改到下周一了"),
        ("我儿子的钢琴课在周二", "我的钢琴课改到周四了"),
        ("My son's recital is on Tuesday", "my recital moved to Thursday"),
        ("The dentist comes on Monday, the vet on Tuesday", "my exam was moved to Friday"),
    ],
)
def test_the_day_of_two_things_or_of_somebody_else_is_unchanged(said: str, moves: str) -> None:
    assert said in remembered(said, moves)
