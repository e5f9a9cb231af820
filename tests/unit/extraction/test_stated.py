"""Lasting statements become typed observations with stable keys, in both languages."""

import pytest

from tests.unit.extraction.say import said, shapes, stated

STATED = [
    ("我老公是程序员", "profile", "profile:user:老公:job", 0),
    ("I've been a vegetarian for ten years", "preference", "pref:food:diet", 1),
    ("以后都用英文跟我交流", "preference", "pref:writing:language", 1),
    ("我明年打算考研", "goal", None, 0),
    ("I prefer dark mode for coding", "preference", "pref:ui:theme", 1),  # OC013
    ("I am a software engineer", "profile", "profile:user:occupation", 0),  # OC014
    ("我喜欢简约风", "preference", "pref:other:简约", 1),  # OC019
    ("我们门店的客群偏年轻", "profile", None, 0),  # OC023
    ("我一般还是喜欢简约", "preference", "pref:other:简约", 1),  # OC026
    ("我不吃辣", "preference", "pref:food:辣", -1),  # OC029
    ("我一直用苹果", "preference", "pref:tools:苹果", 1),  # OC031
    ("我不喜欢撞衫", "preference", "pref:other:撞衫", -1),  # OC035
    ("我叫小明，喜欢安静", "profile", "profile:user:name", 0),  # OC041
    ("我叫小明，喜欢安静", "preference", "pref:other:安静", 1),  # OC041
    ("我不喜欢鲜艳颜色", "preference", "pref:other:鲜艳颜色", -1),  # OC043
    ("我讨厌香菜，我喜欢米饭", "preference", "pref:food:香菜", -1),  # OC046
    ("我讨厌香菜，我喜欢米饭", "preference", "pref:food:米饭", 1),  # OC046
    ("我更喜欢深色主题！还有别的", "preference", "pref:ui:theme", 1),  # OC047
    ("我喜欢吃香菜", "preference", "pref:food:香菜", 1),
    ("不喜欢吃辣", "preference", "pref:food:辣", -1),
    ("我最喜欢的颜色是蓝色", "preference", "pref:other:favourite-颜色", 1),
    ("My favorite color is blue", "preference", "pref:other:favourite-color", 1),
    ("I'm really into photography", "preference", "pref:other:photography", 1),
    ("我对人工智能很感兴趣", "preference", "pref:other:人工智能", 1),
    ("I can't stand onions", "preference", "pref:food:onion", -1),
    ("I don't like horror movies", "preference", "pref:other:horror-movies", -1),
    ("I'm vegan", "preference", "pref:food:diet", 1),
    ("我吃素", "preference", "pref:food:diet", 1),
    ("我的编辑器是VS Code", "preference", "pref:tools:editor", 1),
    ("I use Neovim as my main editor", "preference", "pref:tools:editor", 1),
    ("我手机是小米14", "preference", "pref:tools:phone", 1),
    ("I prefer 中文回复", "preference", "pref:writing:language", 1),
    ("我比较prefer dark mode", "preference", "pref:ui:theme", 1),
    ("我朋友喜欢爬山，我喜欢游泳", "preference", "pref:other:游泳", 1),
    ("Can you recommend something? I like jazz.", "preference", "pref:other:jazz", 1),
    ("以后回答简短一点", "preference", "pref:writing:response_style", 1),
    ("please always answer in Chinese", "preference", "pref:writing:language", 1),
    ("Don't use emojis in your replies", "preference", "pref:writing:response_format", -1),
    ("always use type hints in code", "constraint", None, 0),
    ("我住在北京", "profile", "profile:user:city", 0),
    ("我搬到上海了", "profile", "profile:user:city", 0),
    ("I live in Paris", "profile", "profile:user:city", 0),
    ("I moved to Berlin", "profile", "profile:user:city", 0),
    ("坐标杭州", "profile", "profile:user:city", 0),
    ("我是四川人", "profile", "profile:user:hometown", 0),
    ("I'm from Brazil", "profile", "profile:user:hometown", 0),
    ("My name is Alice Smith", "profile", "profile:user:name", 0),
    ("I'm Sarah, nice to meet you", "profile", "profile:user:name", 0),
    ("Call me Bob", "profile", "profile:user:call_me", 0),
    ("我在腾讯工作", "profile", "profile:user:employer", 0),
    ("I work as a nurse at Mercy Hospital", "profile", "profile:user:employer", 0),
    ("我是产品经理", "profile", "profile:user:occupation", 0),
    ("我今年28岁", "profile", "profile:user:age", 0),
    ("I'm 34 years old", "profile", "profile:user:age", 0),
    ("我生日是5月3号", "profile", "profile:user:birthday", 0),
    ("My birthday is May 3", "profile", "profile:user:birthday", 0),
    ("我老婆叫李娜", "profile", "profile:user:老婆:name", 0),
    ("我女儿今年5岁", "profile", "profile:user:女儿:age", 0),
    ("My wife's name is Anna", "profile", "profile:user:wife:name", 0),
    ("我养了一只猫叫咪咪", "profile", "profile:user:pet:猫", 0),
    ("我有糖尿病", "profile", "profile:user:health:糖尿病", 0),
    ("I have asthma", "profile", "profile:user:health:asthma", 0),
    ("我会说英语和法语", "profile", "profile:user:languages", 0),
    ("I speak French", "profile", "profile:user:languages", 0),
    ("我毕业于清华大学", "profile", "profile:user:school", 0),
    ("I graduated from MIT in 2015", "profile", "profile:user:school", 0),
    ("我对花生过敏", "constraint", "constraint:allergy:花生", -1),
    ("I'm allergic to peanuts and shellfish", "constraint", "constraint:allergy:peanut", -1),
    ("超过500的不要", "constraint", None, 0),
    ("预算在3000元以内", "constraint", "constraint:budget", 0),
    ("my budget is $500", "constraint", "constraint:budget", 0),
    ("nothing over $100 please", "constraint", None, 0),
    ("I need to submit the report by Friday", "task", None, 0),
    ("下周三前要交报告", "task", None, 0),
    ("报告交了", "task", None, 0),
    ("I finished the report", "task", None, 0),
    ("remind me to call mom tomorrow", "task", None, 0),
    ("todo: 给客户发合同", "task", None, 0),
    ("we decided to use PostgreSQL for the billing service", "decision", None, 0),
    ("我们团队决定采用Kafka做消息队列", "decision", None, 0),
    ("就用Redis吧", "decision", None, 0),
    ("my goal is to run a marathon this year", "goal", None, 0),
    ("我的目标是今年减重10斤", "goal", None, 0),
    ("我正在备考雅思", "goal", None, 0),
    ("I adopted a cat last Saturday", "event", None, 0),
    ("上周末去了杭州", "event", None, 0),
    ("Yesterday I went to the dentist", "event", None, 0),
    ("我上个月升职了", "event", None, 0),
    ("I'm flying to Tokyo next Tuesday", "event", None, 0),
]

SILENT = [
    "Say my name is Bob",
    "For this story, my name is Bob.",
    "在这个故事里，我叫小明",
    "My name is Bob, he said.",
    "Write a story: I am a dragon and I love gold",
    "我妈叫我回家吃饭",
    "I have a CSV file with two columns",
    "用户喜欢简洁的界面",
    "Tom loves pizza",
    "I prefer the first option",
    "",
    "Hello",
    "今天心情不好",
    "试试花哨的？",
    "最近换季有点干",
    "这次想试试安卓",
    "这次只改卧室",
    "我叫什么名字？",  # OC016-OC044
    "他说我喜欢吃甜的",
    "my boss says I like tea",  # OC022
    "Do I like tea?",
    "What do I like?",
    "你知道我喜欢什么吗",
    "我是不是喜欢咖啡",
    "I like tea, right?",
    "我喜欢喝茶，对吧？",
    "如果我喜欢蓝色你会推荐什么",
    "If I liked jazz, what would you play?",
    "I might like it",
    "I'd like a refund please",
    "想吃火锅",
    "今天想喝奶茶",
    "I want pizza tonight",
    "我要一杯咖啡",
    "I hate it when the build breaks",
    "I just love waiting for CI",
    "我可太喜欢加班了",
    "跟你开个玩笑，我喜欢加班",
    "He was just kidding, I said",
    '"我喜欢蓝色"翻译成英文',
    'Translate: "I like apples"',
    "> I like quoting",
    "```\nI like code\n```",
    "我不是不喜欢甜食",
    "I don't hate it",
    "我喜欢这个",
    "I love this!",
    "looks like rain",
    "谢谢，很有帮助",
    "还没决定用哪个数据库",
    "帮我决定一下",
    "Should we use React or Vue?",
    "I need to know how to install numpy",
    "I'm trying to install numpy but get an error",
    "你还记得我叫什么吗",
    "do you remember my name?",
    "我记住了",
    "帮我把这个函数改成异步",
    "想象一下你是一名医生",
    "Imagine I am a pilot.",
    "昨天没睡好",
    "I'm tired",
    "好的",
]


@pytest.mark.parametrize(("text", "kind", "key", "polarity"), STATED)
def test_a_lasting_statement_is_observed(text: str, kind: str, key: str | None, polarity: int) -> None:
    assert (kind, key, polarity) in shapes(text)


@pytest.mark.parametrize(
    ("text", "also"),
    [
        ("I work as a nurse at Mercy Hospital", {"profile:user:occupation": "nurse"}),
        ("I have two kids and a dog named Rex", {"profile:user:pet:dog": "a dog"}),
        ("I'm allergic to peanuts and shellfish", {"constraint:allergy:shellfish": "shellfish"}),
    ],
)
def test_one_sentence_is_one_statement_with_all_its_keys(text: str, also: dict[str, str]) -> None:
    (one,) = stated(text)
    assert (one.text, one.value["also"]) == (text, also)


@pytest.mark.parametrize("text", SILENT)
def test_other_sentences_leave_nothing(text: str) -> None:
    assert shapes(text) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我喜欢香菜", "我讨厌香菜"),
        ("我爱喝咖啡", "我不喝咖啡"),
        ("I love mushrooms", "I hate mushrooms"),
        ("I like dark mode", "我喜欢浅色主题"),
        ("I like coffee", "I don't drink coffee"),
        ("我喜欢简约风", "我不喜欢简约的风格"),
    ],
)
def test_like_and_dislike_of_one_target_share_a_key(one: str, other: str) -> None:  # OC229
    assert [key for _, key, _ in shapes(one)] == [key for _, key, _ in shapes(other)]


def test_unprompted_statements_are_declared() -> None:
    assert {one.assertion for one in stated("我喜欢简约风")} == {"declared"}
    assert {one.assertion for one in stated("I prefer tea")} == {"declared"}


def test_assistant_messages_state_nothing_about_the_user() -> None:
    assert said("You like jazz and I live in Paris", role="assistant").observations == ()


def test_a_named_speaker_owns_their_statements() -> None:
    one = next(one for one in said("I live in Paris", name="Caroline").observations if one.kind == "profile")
    assert (one.key, one.text, one.value["speaker"]) == (
        "profile:caroline:city",
        "Caroline: I live in Paris",
        "Caroline",
    )


BESIDE = [
    ("I am allergic to peanuts. What can I cook tonight?", "constraint", "I am allergic to peanuts"),
    ("Can you help me plan my week? My name is Fatima.", "profile", "My name is Fatima"),
    ("My name is Daniel. Nice to meet you.", "profile", "My name is Daniel"),
    ("How is the weather today? I like green tea.", "preference", "I like green tea"),
    ("今晚能做什么菜？我对花生过敏。", "constraint", "我对花生过敏"),
    ("我对海鲜过敏。推荐一本书吧。", "constraint", "我对海鲜过敏"),
    ("今天天气怎么样？我喜欢喝龙井茶。", "preference", "我喜欢喝龙井茶"),
    ("我吃素，帮我看看这份菜单里能点什么。", "preference", "我吃素"),
]


@pytest.mark.parametrize(("text", "kind", "content"), BESIDE)
def test_a_question_or_a_greeting_beside_a_statement_is_not_part_of_it(text: str, kind: str, content: str) -> None:
    assert (kind, content) in [(one.kind, one.text) for one in stated(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Translate into French: My name is Fatima.",
        "You are a pirate. My name is Jack.",
        "Suppose I live in Oslo. Which dentist would be near?",
        "My brother's friend is allergic to peanuts. What can he eat?",
        "我对花生过敏，这句话用英语怎么说？",
        "翻译成英文：我对花生过敏。",
        "假设我对花生过敏，今晚能做什么菜？",
        "我是不是对花生过敏？你记得吗？",
    ],
)
def test_quoted_text_and_suppositions_state_nothing(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Can you always give me prices in pounds and keep answers short please",
        "could you please always use metric units?",
        "你能不能以后都用简体字回答？",
    ],
)
def test_a_polite_order_is_an_order(text: str) -> None:
    (one,) = stated(text)
    assert one.assertion == "directive"
    assert one.kind in ("preference", "constraint")


def test_a_question_with_always_is_a_question() -> None:
    assert stated("Can you always find parking there?") == []
