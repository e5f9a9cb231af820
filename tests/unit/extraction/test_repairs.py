"""A slip that the same message corrects is read in its corrected form, with positions of the original text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.extraction.repairs import repair
from tests.unit.extraction.say import stated


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("we fly to Rome on the 4th, no wait, Milan", "we fly to Milan on the 4th"),
        ("the flight is CA981, no wait, CA983", "the flight is CA983"),
        ("I need 12 chairs... scratch that, 15", "I need 15 chairs"),
        ("she lives in Leeds, I mean York, near the station", "she lives in York, near the station"),
        ("I live in Shanghai, no wait, I live in Suzhou", "I live in Suzhou"),
        ("Meeting is at 3, sorry, 4 with Ann", "Meeting is at 4 with Ann"),
        ("周四要去看牙，哦不，是周五下午三点", "周五下午三点要去看牙"),
        ("我住在上海，不对，是苏州", "我住在苏州"),
        ("我的车是蓝色的，说错了，是灰色的", "我的车是灰色的"),
        ("预算五百，不对，八百", "预算八百"),
        ("生日是3月5号，不是不是，5月3号", "生日是5月3号"),
        ("yoga tue 6pm and choir thu 8, hmm let me see, thu 7pm", "yoga tue 6pm and choir thu 7pm"),
        ("mail goes to Vera at work, argh, Lena at work", "mail goes to Lena at work"),
        ("order me a soy latte. no that's not it, oat latte", "order me a oat latte"),
        ("the blog runs on Ghost, er no we left Ghost last spring, it's Hugo", "the blog runs on Hugo"),
        ("我哥在一中，不，他去年转走了，现在是在八中，教物理", "我哥在八中，教物理"),
        ("房租每月两千二，等下，从下个月起是两千四，押一付三", "房租每月两千四，押一付三"),
        ("消息队列kafka——不是，早换掉了，是rabbitmq，我来维护", "消息队列rabbitmq，我来维护"),
        (
            "the kids' school finishes at 3:10, ugh no, quarter past three since september",
            "the kids' school finishes at quarter past three since september",
        ),
        ("I moved here in 2016, my wife says 2015, she's right, 2015", "I moved here in 2015"),
        ("公司班车七点四十，骗你的哈哈七点五十，在南门上", "公司班车七点五十，在南门上"),
        ("车位在B2的117，唉老记混，171，电梯旁边", "车位在B2的171，电梯旁边"),
    ],
)
def test_a_corrected_slip_is_read_as_meant(said: str, meant: str) -> None:
    found = repair(said)
    assert found is not None
    assert found.text == meant


@pytest.mark.parametrize(
    "text",
    [
        "I am sorry, my dog died",
        "wait for me, I will be at home by 5",
        "I mean it was a nice day, I love hiking",
        "我不对花生过敏",
        "不对，你再想想",
        "没错，我住在苏州",
        "三箱，打错了。明天要用",
        "I used to run on mondays, now it's tuesdays",
        "Is the train at 9 or 10? No idea, sorry",
        "please call me Jen, not Jenny",
        "dinner is at 7 on Friday and at 6 on Sunday",
        "以前住浦东，现在搬到闵行了",
        "我儿子数学考了92，口算错两道",
        "早上吃一片，晚上吃两片，饭后",
        "",
    ],
)
def test_other_text_is_unchanged(text: str) -> None:
    assert repair(text) is None


def test_positions_refer_to_the_original_text() -> None:
    said = "我住在上海，不对，是苏州，在医院上班"
    found = repair(said)
    assert found is not None
    at = found.text.index("苏州")
    start, end = found.to_original((at, at + 2))
    assert said[start:end] == "苏州"
    assert found.to_original((0, len(found.text))) == (0, len(said))


@given(st.text(max_size=9), st.integers(0, 60), st.sampled_from(("before", "behind", "within")))
def test_what_is_corrected_consists_of_stretches_of_the_message(added: str, at: int, where: str) -> None:
    said = "the blue bus leaves at 7:40, ugh no, quarter past eight, from the south gate 每天一班"
    said = {"before": added + said, "behind": said + added, "within": said[:at] + added + said[at:]}[where]
    found = repair(said)
    if found is not None:
        assert "".join(said[there : there + length] for _, there, length in found.stretches) == found.text
        start, end = found.to_original((0, len(found.text)))
        assert 0 <= start < end <= len(said)


def test_statements_beside_the_slip_are_extracted() -> None:
    (one,) = stated("we're driving to Leeds, scratch that, York, on Saturday with the dog")
    assert one.text == "we're driving to York, on Saturday with the dog"
    (one,) = stated("我每天早上六点，不对，七点起床去公园跑步")
    assert one.text == "我每天早上七点起床去公园跑步"
