"""Replies without content of their own, and short texts with content."""

import time

import pytest

from shared.language.replies import asserts_something, says_something

BLANK = ("", "   ", " \n\t ", "      。")
REPLIES = """
---
。
…
👍
OK 👌
_
ok
Ok.
OKAY!
k
Will do.
Will do!
Sure.
Sure, I'll do that right away.
I’ll do it.
Got it, thanks!
Got it! I'll keep that in mind. Let me know if there's anything else I can help you with.
You're welcome.
Noted.
Congratulations!
恭喜！
Done.
No problem at all.
No worries
Thank you so much!
Sounds good.
Yes, please.
No.
I do.
That's great!
Of course! I'm happy to help.
Makes sense.
I see.
Understood. I will remember that.
Good morning!
One moment, please.
Yep, on it.
Right.
好的。
好的
好的，没问题。
收到，我这就去办。
嗯嗯，知道了
明白了，谢谢你
明白。
了解！
不客气，有需要随时告诉我。
是的
对对对
哈哈哈
可以，安排上
行，就这么办
好的，我记住了。
不行
好的，我会记住的！还有什么可以帮您的吗？
晚安
早上好！
没事儿
嗯。
好的呀，马上处理
好嘞～
OK 好的，thanks 啦。
"""
TELLING = """
Paris.
B2-117
I'm vegan
C
42
In the morning
Saturday
Call Tom
With Marta
Ok, Tom.
I like tea.
She is my sister
Sure, at nine.
No, decaf.
Will do it on Friday.
Noted: gate 7
我不吃肉
好吃
好的餐厅
不吃肉
周二
红的
蓝色
下午
右边
好的，周五见。
记住我的生日
对花生过敏
Да
はい
네 맞아요
"""


@pytest.mark.parametrize("text", [*BLANK, *REPLIES.strip().splitlines()])
def test_a_bare_reply_has_no_content(text: str) -> None:
    assert not says_something(text)


@pytest.mark.parametrize("text", TELLING.strip().splitlines())
def test_another_single_word_has_content(text: str) -> None:
    assert says_something(text)


NOTHING_STATED = {
    "user": (
        "When is dad's operation?",
        "Recommend something?",
        "我住哪儿？",
        "好的，那这个景点周边有餐馆吗？",
        "Hi, how are you today?",
        "Sounds great. Is it expensive?",
        "你知道他的代表作吗",
    ),
    "assistant": (
        "Sure, here's a draft.",
        "Will do. One coffee it is.",
        "好的，这是清单。",
        "恭喜！需要帮忙吗？",
        "Ouch, I hope Tom feels better soon.",
        "希望汤圆早点好。",
        "听起来不错。",
        "Would you like me to book it?",
        "Okay, and which city should I search in?",
    ),
}
STATED = {
    "user": (
        "Can you find a dentist near my new flat in Leeds? I am in class until four.",
        "Can you find a dentist near my new flat in Headingley?",
        "Dad is being operated on the 14th, which hotel is close?",
        "我下周要去成都出差，有什么好吃的？",
        "能不能帮我在公司附近找个周末营业的牙医？",
        "It's a great book, isn't it?",
        "Tuesday then.",
    ),
    "assistant": (
        "Got it: October 14th at St James's.",
        "Sure, here's a list of three practices in Headingley with evening hours.",
        "A modular sofa would get through that.",
        "德国。",
        "导演是吕克·贝松，你听说过吗？",
        "好的，手术是10月16号。",
    ),
    "tool": ("ok?", "42"),
}


@pytest.mark.parametrize(("role", "text"), [(role, text) for role, texts in NOTHING_STATED.items() for text in texts])
def test_questions_and_assent_state_nothing(role: str, text: str) -> None:
    assert not asserts_something(text, role)


@pytest.mark.parametrize(("role", "text"), [(role, text) for role, texts in STATED.items() for text in texts])
def test_a_statement_beside_a_question_or_assent_counts(role: str, text: str) -> None:
    assert asserts_something(text, role)


@pytest.mark.parametrize("text", [*BLANK, *REPLIES.strip().splitlines()])
def test_a_bare_reply_states_nothing(text: str) -> None:
    assert not asserts_something(text, "user")


def test_a_long_text_has_content_unless_it_is_blank() -> None:
    assert says_something("ok " * 100)
    assert not says_something(" . " * 100)


def test_reading_is_linear() -> None:
    began = time.process_time()
    for text in ("ok " * 60_000, "好" * 200_000, " " * 200_000, "." * 200_000, "a" * 200_000, "'" * 200_000):
        says_something(text)
        asserts_something(text + "?", "assistant")
    assert time.process_time() - began < 1.0
