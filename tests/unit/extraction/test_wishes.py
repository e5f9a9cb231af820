"""Wishes not to be remembered, in many forms; requests to save something else are none."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from schemas.vocabulary import Role
from shared.extraction import MessageText, TurnText
from shared.extraction.standing_wishes import TurnPlace, Wishes
from shared.extraction.wishes import find_learning_wish, find_wishes

AT = datetime(2026, 11, 25, 9, 0, tzinfo=UTC)
WISHES = [
    ("Please don't save this: I'm getting divorced.", "message"),
    ("以后不要记录我的信息。", "person"),
    ("不要记住这个会话", "session"),
    ("Don't remember this.", "message"),
    ("Please do not store this message.", "message"),
    ("don't record this conversation", "session"),
    ("Never save anything I tell you.", "person"),
    ("I don't want you to remember this: I have cancer.", "message"),
    ("Could you please not save this?", "message"),
    ("Can you not remember this conversation, please?", "session"),
    ("Off the record: I'm quitting in May.", "message"),
    ("This is off the record, but I hate my boss.", "message"),
    ("Stop remembering things about me.", "person"),
    ("From now on, don't remember anything.", "person"),
    ("Please don't keep any record of this conversation.", "session"),
    ("This should not be remembered.", "message"),
    ("I'd rather you didn't store my data.", "person"),
    ("This conversation must not be saved.", "session"),
    ("Turn off memory for this chat.", "session"),
    ("Please turn memory off.", "person"),
    ("Go incognito.", "session"),
    ("I had an abortion last year. Don't store that.", "message"),
    ("Nothing I say here should be remembered.", "session"),
    ("Do not memorize my personal details.", "person"),
    ("Stop recording this session.", "session"),
    ("Don't learn from this conversation.", "session"),
    ("I'm pregnant. Please keep this off the record.", "message"),
    ("这件事不要记下来：我要离婚了。", "message"),
    ("请不要把这段话存进记忆。", "message"),
    ("别记这句话。", "message"),
    ("这个会话不要保存", "session"),
    ("请勿记录本次对话", "session"),
    ("别把我的信息记录下来", "person"),
    ("我不希望你记住这些话", "message"),
    ("以后别记我说的话了", "person"),
    ("我说的这些话不要记住", "person"),
    ("关闭记忆", "person"),
    ("打开无痕模式", "session"),
    ("能不能不要记录这次对话？", "session"),
    ("这段对话请不要保存。", "session"),
    ("不要保存我的任何个人信息", "person"),
    ("接下来的内容别记录：我确诊了抑郁症。", "message"),
    ("别再记录了", "session"),
    ("我不想被记录", "person"),
    ("停止记录我的信息", "person"),
    ("不要记住我", "person"),
    ("今天的聊天不要存档", "session"),
    ("下面的话请不要记住，我怀孕了", "message"),
    ("从现在开始不要记录任何关于我的信息", "person"),
    ("把你的记忆关掉", "person"),
    ("Hey, could you not keep any notes about me?", "person"),
    ("Please forget I'm here, don't keep a record of this chat.", "session"),
    ("I would prefer that you not remember what I'm about to tell you.", "message"),
    ("Just between us, don't write this down: my brother is in jail.", "message"),
    ("You must not store any of this.", "message"),
    ("I don't want any of this to be saved.", "message"),
    ("Keep this off the record please: I hate my job.", "message"),
    ("Don't retain my data.", "person"),
    ("No need to remember this.", "message"),
    ("please never record our conversations", "person"),
    ("Don't learn anything about me from now on", "person"),
    ("I do not want my information stored.", "person"),
    ("Don't memorize this chat", "session"),
    ("disable memory", "person"),
    ("Pause memory for this conversation, please.", "session"),
    ("Make sure you don't remember any of this.", "message"),
    ("nothing in this chat should be stored", "session"),
    ("Don't save what I just told you.", "message"),
    ("do NOT save this!!", "message"),
    ("pls dont remember this", "message"),
    ("这句话你别记。", "message"),
    ("麻烦不要把我刚才说的话记录下来", "message"),
    ("请不要保留这次聊天记录", "session"),
    ("本次会话请勿保存", "session"),
    ("不要存储我的个人资料", "person"),
    ("别把这些写进你的记忆", "message"),
    ("我说的事情请你不要记住", "person"),
    ("以后我说的话都不要记录", "person"),
    ("不许记录关于我的任何事", "person"),
    ("这次聊天别存", "session"),
    ("希望你不要记住这些内容。", "message"),
    ("从今以后别记我的事了", "person"),
    ("把记忆功能关了吧", "person"),
    ("这段话不要被记录", "message"),
    ("这个就不要记了，我昨天去看了心理医生。", "message"),
    ("别留下这次对话的记录", "session"),
    ("不用记住这条", "message"),
    ("请删除并且不要再记录我的信息", "person"),
    ("Don't remember anything about me.", "person"),
    ("别记我的任何事", "person"),
    ("以后什么都不要记", "person"),
    ("什么都别记了", "session"),
]
LIFTED = [
    ("You can remember things again.", "here"),
    ("You may remember this conversation.", "session"),
    ("You may save my information again.", "person"),
    ("Start remembering again.", "here"),
    ("Turn memory back on.", "here"),
    ("You can remember me again.", "person"),
    ("可以重新记录我的信息了", "person"),
    ("恢复记忆", "here"),
    ("你可以继续记了", "here"),
    ("可以记住这个会话了", "session"),
    ("现在可以记录了", "here"),
    ("重新开始记录吧", "here"),
    ("退出无痕模式", "here"),
    ("ok you can start remembering again", "here"),
    ("It's fine to remember what I say now.", "person"),
    ("You're allowed to save my data again.", "person"),
    ("please resume recording", "here"),
    ("Feel free to remember this chat again", "session"),
    ("你又可以记住我说的话了", "person"),
    ("请恢复记录", "here"),
    ("重新打开记忆功能", "here"),
    ("现在起可以保存我的信息了", "person"),
    ("继续记录吧", "here"),
]
ORDINARY = [
    "don't save the file yet",
    "别记错了",
    "I don't remember this conversation.",
    "Don't save it to the desktop.",
    "Open the document but don't save it.",
    "别保存这个文件",
    "不要记错我的名字",
    "Don't forget to save this.",
    "别忘了记录体重",
    "我不记得这件事了",
    "我记不住这些",
    "He told me off the record that he quits.",
    "My boss said don't record this conversation.",
    "老板说不要记录这次对话",
    "How do I turn off memory?",
    "Why don't you remember my name?",
    "你为什么不记录我的信息？",
    "The app should not store my data.",
    "Never store passwords in plain text.",
    "Do not save changes when closing.",
    "I never remember anything.",
    "不要保存修改",
    "Please don't remind me of this.",
    "别记仇",
    "Don't log this to the console.",
    "If you don't save this, it will be lost.",
    "如果不保存这个就没了",
    "记住不要保存缓存",
    "I don't want to remember this trip.",
    "我不想记住这些公式",
    "Remember this: I never save money.",
    "I never save anything for retirement.",
    "Don't keep me waiting.",
    "Don't record the meeting.",
    "不用记账",
    "我不用记这些单词",
    "Translate: please don't save this conversation.",
    "Do you remember this conversation?",
    "you can save the file again",
    "I can't remember this.",
    "Please remember my birthday is May 4.",
    "We don't keep anything in the fridge.",
    "别存这个文件到桌面",
    "My wife doesn't want me to record this.",
    "不要把剩菜存进冰箱",
    "请记住我的生日是五月四日",
    "Should I not save this?",
    "我不想存钱",
    "Stop saving my work every minute",
    "don't note this variable",
    "他不想被记录",
    "Please don't store it in the repo.",
    "Don't save over my changes.",
    "I can't save this document.",
    "never mind, save it",
    "He doesn't remember this conversation.",
    "Do you keep records of this conversation?",
    "I want to save money, not spend it.",
    "Don't store eggs in the door.",
    "Please don't remind me to record this.",
    "I never store anything in the attic.",
    "Save this for later.",
    "不要存太多东西在C盘",
    "我不记日记",
    "别忘了记录我的体重",
    "不要记录日志到文件",
    "我不想记这么多单词",
    "这个文件不要保存到桌面",
    "请不要存图片",
    "你别记混了",
    "数据库不要存储密码",
    "那次会议不用记录",
    "she asked me not to record her",
    "Don't log in yet",
    "don't note the typo",
    "We should not store user data in plain text.",
    "the system must not store my card number",
    "I'd rather not keep this car.",
    "How can I make Chrome not save my history?",
    "我总是记不住我的密码",
    "怎么让浏览器不保存我的记录？",
    "Don't keep this coat.",
    "Do not record macros.",
    "他让我不要记住他",
    "Never record without consent",
    "I don't save anything these days, prices are too high.",
    "Don't save it as a PDF.",
    "Don't save the world, save yourself",
    "Write a story where the hero says: don't remember this.",
    "don't collect the parcel today",
    "我什么都不记得了",
    "我什么都记不住",
]


@pytest.mark.parametrize(("text", "scope"), WISHES)
def test_a_wish_not_to_be_remembered_is_recognised(text: str, scope: str) -> None:
    assert [(wish.scope, wish.remember) for wish in find_wishes(text)] == [(scope, False)]


@pytest.mark.parametrize(("text", "scope"), LIFTED)
def test_lifting_a_wish_is_recognised(text: str, scope: str) -> None:
    assert [(wish.scope, wish.remember) for wish in find_wishes(text)] == [(scope, True)]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_sentences_are_no_wishes(text: str) -> None:
    assert find_wishes(text) == ()


def test_the_words_of_a_wish_exclude_its_object() -> None:
    text = "Hello. Please don't save this: I'm getting divorced."
    assert [text[each.start : each.end] for each in find_wishes(text)] == ["Please don't save this"]
    text = "今天好累。这件事不要记下来：我要离婚了。"
    assert [text[each.start : each.end] for each in find_wishes(text)] == ["这件事不要记下来"]


class Talk:
    """Turns observed one after the other."""

    def __init__(self) -> None:
        self.wishes = Wishes()
        self.seqs: dict[str, int] = {}
        self.turns = 0

    def say(self, session: str, text: str, *, role: Role = "user", remember: bool = True) -> str | None:
        """The reason why nothing is learnt from this message in this session."""
        self.turns += 1
        seq = self.seqs[session] = self.seqs.get(session, 0) + 1
        at = AT + timedelta(minutes=self.turns)
        message = MessageText(role, text, None, 0, at)
        return self.wishes.hear(TurnPlace(UUID(int=self.turns), session, seq, at, remember), TurnText((message,)))


def test_a_wish_for_a_session_applies_to_it_until_lifted() -> None:
    talk = Talk()
    assert talk.say("a", "Don't record this conversation.") == "session"
    assert talk.say("a", "I live in Oslo.") == "session"
    assert talk.say("b", "I live in Oslo.") is None
    assert talk.say("a", "You may remember this conversation.") is None
    assert talk.say("a", "I live in Oslo.") is None


@pytest.mark.parametrize(
    ("texts", "scope", "remember"),
    [
        (("Don't remember anything about me.",), "person", False),
        (("别记我的任何事",), "person", False),
        (("以后什么都不要记",), "person", False),
        (("You can remember things again.",), "here", True),
        (("以后不要记录我的信息。", "可以重新记录我的信息了。"), "person", True),
        (("You can remember me again. Never save anything I tell you.",), "person", False),
    ],
)
def test_the_last_wish_about_learning_in_general_counts(texts: tuple[str, ...], scope: str, remember: bool) -> None:
    wish = find_learning_wish(TurnText(tuple(MessageText("user", text, None, n, AT) for n, text in enumerate(texts))))
    assert wish
    assert (wish.scope, wish.remember) == (scope, remember)


@pytest.mark.parametrize(
    "text", ["Don't record this conversation.", "这件事不要记下来：我要离婚了。", "I live in Oslo."]
)
def test_a_wish_for_a_session_or_a_message_does_not_apply_to_all(text: str) -> None:
    assert find_learning_wish(TurnText((MessageText("user", text, None, 0, AT),))) is None


def test_lifting_a_wish_for_all_takes_effect_in_its_own_message() -> None:
    talk = Talk()
    talk.say("a", "Don't record this conversation.")
    assert talk.say("b", "You can remember me again.") is None
    assert talk.say("a", "I live in Oslo.") == "session"
    assert talk.say("a", "Turn memory back on.") is None


def test_an_answer_alone_belongs_to_the_previous_message() -> None:
    talk = Talk()
    assert talk.say("a", "Please don't save this: I'm getting divorced.") == "message"
    assert talk.say("a", "I am sorry about the divorce.", role="assistant") == "message"
    assert talk.say("a", "I live in Oslo.") is None
    assert talk.say("a", "Noted.", role="assistant") is None
    assert talk.say("a", "My locker is blue.", remember=False) == "caller"
    assert talk.say("a", "Good.", role="assistant") == "caller"


def test_the_assistant_expresses_no_wishes() -> None:
    assert Talk().say("a", "Don't record this conversation.", role="assistant") is None
