"""Whether an answer used a memory: words that the user had not said, and phrases that refer to memory."""

import time

import pytest

from services.observer.feedback.rules import continues_topic
from services.observer.feedback.utilisation import choose_strongest, find_references, find_uses, list_core_words

TEA, DARK, NUTS = "喜欢喝龙井茶", "Prefers dark mode in every editor", "对花生过敏"


@pytest.mark.parametrize(
    ("memory", "asked", "reply"),
    [
        (TEA, "推荐一种茶", "可以试试龙井，清香爽口。"),
        (TEA, "下午喝点什么？", "泡一杯龙井茶吧。"),
        (NUTS, "晚上吃什么好？", "可以做番茄炒蛋，避开含花生的酱料。"),
        ("我住在杭州", "周末去哪里玩？", "杭州的西溪湿地离您很近。"),
        ("用户的女儿叫小雨", "送什么生日礼物？", "小雨应该会喜欢一套水彩笔。"),
        ("我们决定用 PostgreSQL 做主存储", "备份怎么做？", "可以用 PostgreSQL 自带的 pg_dump 每晚备份。"),
        ("每周三晚上打羽毛球", "周三晚上可以开会吗？", "那会和羽毛球冲突，建议换到周四。"),
        ("预算不超过 3000 元", "买哪款手机？", "3000 元以内可以看看这两款。"),
        (DARK, "Which theme should I install?", "Dracula: it is a dark one."),
        ("I am allergic to peanuts", "What can I cook tonight?", "A curry without peanut butter would do."),
        ("I live in Oslo.", "Where can I go hiking?", "Around Oslo, Nordmarka has marked trails."),
        ("Has a daughter called Mia", "Any birthday ideas?", "Mia may enjoy a telescope."),
        ("Uses C++ at work", "Which linter fits?", "clang-tidy is made for C++."),
        (
            "Training for a marathon in spring",
            "What should I do this weekend?",
            "A long run keeps the marathon in reach.",
        ),
        ("Has been running on Sundays with the Vinther club", "Plans?", "You could run with Vinther again."),
        (
            "Deadline of the Kestrel project is 14 March",
            "What next?",
            "Kestrel is due on 14 March, so start with tests.",
        ),
        ("喜欢 Vim", "Which editor?", "Stay with Vim."),
    ],
)
def test_words_of_a_memory_that_only_the_answer_contains(memory: str, asked: str, reply: str) -> None:
    assert find_uses({1: memory}, reply, asked) == {1: "keyword_match"}


@pytest.mark.parametrize(
    ("memory", "asked", "reply"),
    [
        (TEA, "推荐一种茶", "红茶比较温和。"),
        (TEA, "龙井茶怎么泡？", "龙井茶用八十度的水泡三分钟。"),
        (TEA, "你喜欢什么？", "我没有喜好，不过很多人喜欢喝咖啡。"),
        (NUTS, "花生怎么存放？", "花生要放在阴凉干燥处。"),
        ("平时工作用 Python", "推荐一本书", "这本小说很好，工作之余可以看。"),
        (DARK, "Which theme should I install?", "Solarized is easy on the eyes."),
        (DARK, "Is dark mode better in an editor?", "Dark mode saves power on some screens; any editor has it."),
        ("I like jasmine tea.", "What do people like?", "Most people like coffee."),
        ("I live in Oslo.", "Is Oslo big?", "Oslo has 700,000 inhabitants."),
        (
            "Works as a nurse and usually takes the train",
            "What is new?",
            "A good question; work goes on as usual here.",
        ),
        (
            "Prefers short answers with a summary at the end of every long technical report",
            "Why?",
            "In the end it rains.",
        ),
        ("", "Why?", "Because."),
        ("的 了 吗", "为什么？", "没有为什么。"),
    ],
)
def test_words_of_the_user_and_common_words_do_not_indicate_use(memory: str, asked: str, reply: str) -> None:
    assert find_uses({1: memory}, reply, asked) == {1: "none"}


@pytest.mark.parametrize(
    "reply",
    [
        "您之前提到过这一点，我会说得简短些。",
        "根据您的偏好，我会尽量简短。",
        "记得您喜欢直接的说法，那就长话短说。",
        "既然您更喜欢直截了当，我就直说了。",
        "我记得你不爱听长篇大论。",
        "考虑到您的习惯，下面只列要点。",
        "按照你以往的习惯，只列要点。",
        "你上次说过想要要点，所以这里只有三条。",
        "之前您说想先看结论，结论是可以。",
        "As you mentioned earlier, I will keep it brief.",
        "Since you prefer it brief: yes.",
        "Given your preferences, here are three points.",
        "Based on your usual style, three points follow.",
        "I remember you like it brief, so: yes.",
        "You told me before to come to the point, so: yes.",
        "Last time you said to start with the result: it works.",
        "Keeping in mind your love of brevity: yes.",
        "As always, the result first: yes.",
        "Because you don't like long texts: yes.",
        "You've previously mentioned that; three points then.",
    ],
)
def test_a_phrase_attributes_the_answer_to_the_first_retrieved_memory(reply: str) -> None:
    memories = {1: "回答尽量精炼，不要铺陈 concise", 2: "I live in Oslo", 3: NUTS}
    assert find_uses(memories, reply, "这样可以吗？ Is that all right?") == {
        1: "reference_phrase",
        2: "none",
        3: "none",
    }


@pytest.mark.parametrize(
    "reply",
    [
        "您没有提到过您住在哪里。",
        "我不记得您说过这个。",
        "如果您之前提到过，请再说一遍。",
        "您之前提到过吗？",
        "根据您的问题，答案是可以。",
        "您提到的问题很常见。",
        "根据您的描述，应该是接触不良。",
        "You haven't mentioned where you live.",
        "I don't remember you saying that.",
        "If you mentioned it before, please tell me again.",
        "Did you say that before?",
        "Based on your question, the answer is yes.",
        "Given your input, the result is 4.",
        "Since you asked, yes.",
        "As it was said before, yes.",
        "The usual answer is yes.",
    ],
)
def test_a_phrase_about_something_else_does_not_count(reply: str) -> None:
    memories = {1: "回答尽量精炼 concise", 2: "I live in Oslo"}
    assert set(find_uses(memories, reply, "可以吗？ All right?").values()) == {"none"}


def test_a_phrase_is_attributed_to_the_memories_of_its_sentence() -> None:
    memories = {1: DARK, 2: "I live in Oslo"}
    reply = "As you mentioned, Oslo is cold. Take a coat."
    assert find_uses(memories, reply, "What do I need in Oslo?") == {1: "none", 2: "reference_phrase"}


def test_a_weak_phrase_alone_may_refer_to_the_current_message() -> None:
    assert find_uses({1: DARK}, "As you said, it rains.", "It rains, what now?") == {1: "none"}
    assert [strong for _, strong in find_references("As you said, it rains.")] == [False]


def test_framing_words_are_not_part_of_a_statements_core() -> None:
    assert list_core_words("用户喜欢喝龙井茶") == ["龙井茶"]
    assert list_core_words("The user usually prefers jasmine tea") == ["jasmine", "tea"]


def test_the_strongest_method_represents_the_package() -> None:
    assert choose_strongest(["none", "reference_phrase", "keyword_match"]) == "keyword_match"
    assert choose_strongest(["none", "reference_phrase"]) == "reference_phrase"
    assert choose_strongest([]) == "none"


def test_a_long_answer_and_many_memories_are_judged_quickly() -> None:
    reply = "这是一个很长的回答，其中什么都没有提到。 It says a lot about nothing in particular. " * 60
    memories = {n: f"{TEA} {n}, and {DARK}" for n in range(28)}
    find_uses(memories, reply, "为什么？")
    began = time.process_time()
    find_uses(memories, reply, "为什么？")
    assert time.process_time() - began < 1


ANSWER_ZH, ASKED_ZH = "可以试试龙井，清香爽口，适合下午喝。", "推荐一种茶"
ANSWER_EN, ASKED_EN = "Try a jasmine green tea from Fuzhou.", "Which tea should I buy?"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("那大概多少钱？", True),
        ("龙井是哪里产的？", True),
        ("为什么？", True),
        ("还有别的吗？", True),
        ("再推荐一个", True),
        ("它含咖啡因吗？", True),
        ("帮我写一个冒泡排序的程序", False),
        ("明天北京的天气预报怎么说？", False),
        ("换个话题，秦始皇陵在什么地方？", False),
        ("好的", None),
        ("谢谢", None),
        ("", None),
        ("Where can I buy jasmine?", True),
        ("How much is it?", True),
        ("What about the price?", True),
        ("why?", True),
        ("Is Fuzhou far away?", True),
        ("Which one is stronger?", True),
        ("Write a bubble sort in Rust", False),
        ("What is the capital of Peru?", False),
        ("By the way, who won the chess championship?", False),
        ("ok", None),
        ("thanks!", None),
    ],
)
def test_a_message_follows_up_or_changes_the_topic(message: str, expected: bool | None) -> None:
    chinese = not message.isascii() or not message
    answer, asked = (ANSWER_ZH, ASKED_ZH) if chinese else (ANSWER_EN, ASKED_EN)
    assert continues_topic(message, answer, asked) is expected
