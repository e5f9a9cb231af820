"""Corrections are urgent and name the old value; contrasts, questions and remarks about others are no corrections."""

import pytest

from shared.domain.statements import FORGETS
from tests.unit.extraction.say import said, stated

CORRECTED = [
    ("不是运动风, 我现在喜欢简约的", "preference", "pref:other:简约", "运动风"),  # OC001
    ("我不再喝咖啡了", "preference", "pref:food:咖啡", "咖啡"),  # OC002
    ("我现在喜欢深色主题", "preference", "pref:ui:theme", None),  # OC004
    ("评审会不是周三，是周四", "event", "event:评审会", "周三"),  # OC005
    ("Not sporty anymore - I like minimalist now", "preference", "pref:other:sporty", "sporty"),  # OC008
    ("Not sporty anymore - I like minimalist now", "preference", "pref:other:minimalist", "sporty"),  # OC008
    ("I used to love coffee, but now I prefer tea", "preference", "pref:food:tea", "coffee"),
    ("我以前喜欢喝咖啡，现在喜欢喝茶", "preference", "pref:food:茶", "喝咖啡"),
    ("My name is Jon, not John", "profile", "profile:user:name", "John"),
    ("Actually, I live in Munich", "profile", "profile:user:city", None),
    ("No, my name is Sarah", "profile", "profile:user:name", None),
    ("我不是设计师，我是程序员", "profile", "profile:user:occupation", "设计师"),
    ("我不是设计师，是程序员", "profile", "profile:user:occupation", "设计师"),
    ("I'm not a designer, I'm a developer", "profile", "profile:user:occupation", "designer"),
    ("The meeting is on Thursday, not Wednesday", "event", "event:meeting", "Wednesday"),
    ("会议改到周五了", "event", "event:会议", None),
    ("We moved the meeting to Thursday", "event", "event:meeting", None),
    ("我换成安卓手机了", "preference", "pref:tools:phone", None),
    ("从Python换成Rust了", "preference", "pref:coding:rust", "Python"),
    ("I switched from Vim to VS Code", "preference", "pref:tools:vscode", "Vim"),
    ("changed my mind, I prefer light mode", "preference", "pref:ui:theme", None),
    ("我改主意了，我还是想用MySQL", "preference", "pref:tools:mysql", None),
    ("instead of coffee, I now drink tea", "preference", "pref:food:tea", "coffee"),
    ("I no longer work at Google", "profile", "profile:user:employer", "Google"),
    ("我已经不在阿里工作了", "profile", "profile:user:employer", "阿里"),
    ("我不住北京了，搬到了深圳", "profile", "profile:user:city", "北京"),
    ("我戒烟了", "preference", "pref:other:烟", "烟"),
    ("I've stopped eating meat", "preference", "pref:food:meat", "meat"),
    ("I don't eat meat anymore", "preference", "pref:food:meat", "meat"),
    ("我说错了，我住在苏州", "profile", "profile:user:city", None),
    ("纠正一下，我女儿今年6岁", "profile", "profile:user:女儿:age", None),
    ("不是, 我现在不喜欢了", "preference", None, None),  # OC010
    ("不对，我对花生不过敏", "constraint", "constraint:allergy:花生", "花生"),
    ("我对芒果已经不过敏了", "constraint", "constraint:allergy:芒果", "芒果"),
    ("我不对花生过敏", "constraint", "constraint:allergy:花生", "花生"),
    ("No, I'm not allergic to peanuts.", "constraint", "constraint:allergy:peanut", "peanut"),
    ("I'm no longer allergic to shrimp", "constraint", "constraint:allergy:shrimp", "shrimp"),
    ("I don't have a peanut allergy after all.", "constraint", "constraint:allergy:peanut", "peanut"),
    ("我不住在上海了", "profile", "profile:user:city", "上海"),
    ("I don't like techno any more", "preference", "pref:other:techno", "techno"),
    ("不再喜欢摇滚了", "preference", "pref:other:摇滚", "摇滚"),
    ("I'm done with coffee", "preference", "pref:food:coffee", "coffee"),
    ("I don't live in Turin any more, I live in Leeds", "profile", "profile:user:city", "Turin"),
    ("不是推理小说，我现在喜欢看战争纪录片", "preference", "pref:other:战争纪录片", "推理小说"),
    ("I prefer light mode in every editor now, not dark mode", "preference", "pref:ui:theme", "dark mode"),
    ("I used to drink coffee, now I drink tea", "preference", "pref:food:tea", "coffee"),
    ("以前我用安卓，现在用苹果", "preference", "pref:tools:苹果", "安卓"),
    ("I was a teacher, now I'm a nurse", "profile", "profile:user:occupation", "teacher"),
    ("I used to live in Lyon but now I live in Paris", "profile", "profile:user:city", "Lyon"),
    ("我从Vim换成了VS Code", "preference", "pref:tools:vscode", "Vim"),
    ("I now use Rust instead of Go", "preference", "pref:coding:rust", "Go"),
    ("学院通知，初稿提交延到五月六号了", "event", "event:初稿提交", None),
    ("My daughter is 9, not 8", "profile", "profile:user:daughter:age", "8"),
]

NOT_CORRECTED = [
    "他说他不再相信那家店了",  # OC007
    "不是我不想去，是没时间",
    "It's not that I don't like it, it's just expensive",
    "I'm not sure but I think it works",
    "It's not a bug but a feature",
    "这不是bug，是特性",
    "问题不是出在前端，是后端",
    "他不是老师，是医生",
    "你是不是喜欢我？",
    "难道我不是说过喜欢蓝色吗",
    "不好意思，我不太懂",
    "我不用了，谢谢",
    "我不玩了",
    "I don't need help anymore",
    "I don't like this anymore",
    "帮我把这个函数改成异步",
    "Can you change the title from A to B?",
    "如果我说错了请纠正我",
    "我们不再赘述",
    "今天不喝咖啡了",
    "My boss no longer likes meetings",
    "Use a list instead of a tuple here",
    "Not only Python but also Rust",
    "我喜欢简约风",
    "I like tea",
    "Do you no longer support Python 2?",
    "要不要换成深色？",
    "不是吗？",
    "我对花生不过敏吗？",
    "他对花生不过敏",
    "如果我对花生不过敏，我能吃吗？",
    "Am I not allergic to peanuts?",
    "I'm allergic to peanuts",
    "Use 2023 rather than 2022 in the footer",
    "需求文档这一条删掉，改成每月",
    "I no longer like coffee, she said.",
    "I no longer drink coffee, my brother says",
    "我不再喜欢咖啡了，她说。",
    "我不再喝咖啡了，我哥哥说的",
]

FORGOTTEN = [
    "Forget that I like coffee.",
    "Please forget the fact that I live in Paris.",
    "OK, forget I said I like coffee",
    "please forget what I said about coffee",
    "could you wipe the bit about my salary?",
    "I'd rather you didn't keep my blood type in your notes",
    "delete the thing about my brother pls",
    "忘掉我喜欢咖啡这件事",
    "请忘了我住在上海。",
    "别记得我喜欢咖啡了",
    "忘记我对花生过敏吧",
    "忘了我刚才说的咖啡",
    "我工资那句删掉吧",
    "我弟的事别存了，当我没说过",
]

NOT_FORGOTTEN = [
    "delete the second paragraph",
    "scrap the intro and start over",
    "I forgot to tell you that I moved to Leeds",
    "cut out sugar in January",
    "把第三段删掉",
    "忘了跟你说，我搬家了",
    "把购物单里的牛奶去掉",
    "Don't forget that I like coffee",
    "Never forget that I love coffee",
    "Did you forget that I like coffee?",
    "Forget that I like coffee?",
    "I always forget that I like coffee",
    'He wrote "Forget that I like coffee."',
    "My boss said: forget that I like coffee",
    "Forget my umbrella again and I'll cry",
    "别忘了我喜欢咖啡",
    "你忘了我喜欢咖啡吗？",
    "我出门太急，忘了我喜欢的杯子",
    "他说“忘掉我喜欢咖啡”",
]


@pytest.mark.parametrize(("text", "kind", "key", "old"), CORRECTED)
def test_a_correction_is_urgent_and_names_the_old_value(text: str, kind: str, key: str | None, old: str | None) -> None:
    found = [
        (one.kind, one.key, one.old_value)
        for one in stated(text)
        if one.assertion == "correction" and one.priority == "urgent"
    ]
    assert (kind, key, old) in found


@pytest.mark.parametrize("text", NOT_CORRECTED)
def test_other_sentences_are_no_corrections(text: str) -> None:
    assert [one.text for one in stated(text) if one.assertion == "correction"] == []


@pytest.mark.parametrize("text", FORGOTTEN)
def test_a_request_to_forget_retracts_and_states_nothing(text: str) -> None:
    assert [(one.retracts, one.priority, one.flags) for one in stated(text)] == [(True, "urgent", (FORGETS,))]


@pytest.mark.parametrize("text", NOT_FORGOTTEN)
def test_other_sentences_retract_nothing(text: str) -> None:
    assert [one.text for one in stated(text) if one.retracts] == []


def test_a_denial_retracts_with_negative_polarity() -> None:
    one = stated("我不再喝咖啡了")[0]
    assert (one.retracts, one.polarity) == (True, -1)


def test_the_old_key_is_named_if_known() -> None:
    assert stated("不是运动风, 我现在喜欢简约的")[0].value["old_key"] == "pref:other:运动"


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("不是, 我现在不喜欢了", "correction"),
        ("对，就是这种", "positive_confirm"),
        ("exactly", "positive_confirm"),
        ("wrong", "negative"),
        ("Perfect, thanks", "positive_confirm"),
        ("No, I live in Berlin", "correction"),
        ("这不是我要的", "negative"),
        ("那它的价格呢？", "neutral"),
        ("How does it scale?", "neutral"),
        ("你记错了，应该是李雷", "correction"),
    ],
)
def test_feedback_on_the_previous_answer(text: str, signal: str) -> None:  # OC010, OC011
    feedback = said(text).feedback
    assert feedback is not None
    assert feedback.signal == signal
