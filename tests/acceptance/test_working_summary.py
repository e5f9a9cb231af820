"""The working summary over HTTP: ordinary messages that left the window, without corrected or erased text."""

import pytest

from services.observer.summary import SummaryPolicy
from shared.language.segment import query_terms
from shared.language.tokens import count
from tests.system.erasures import completed, erase
from tests.system.person import Json, Person, shown
from tests.system.wait import wait_for

WINDOW = 8
TALK: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("I live in Leiden, right behind the old harbour.", "Leiden is lovely, the harbour too."),
        ("My daughter Fenna started at the music school this month.", "How nice, which instrument?"),
        ("She picked the cello, so the flat sounds like a ship's horn.", "Give it a few weeks."),
        ("I can't eat shellfish, one prawn and I end up in hospital.", "Understood."),
        ("The dishwasher has been leaking since Sunday.", "Check the door seal and the inlet hose first."),
        ("It was the hose, I tightened it and the floor is dry again.", "Great."),
        ("My mother is visiting from Zagreb over Easter.", "Sounds good."),
        ("She loves the tulip fields, and crowds make her nervous.", "Go on a weekday, early."),
        ("We took the boat to Braassem lake instead and saw two herons.", "Lovely."),
        ("I'm reading a history of lighthouses at the moment.", "Noted."),
        ("The chapter on Fresnel lenses kept me up half the night.", "They changed navigation."),
        ("My bike was stolen outside the library.", "I'm sorry to hear that. Report it online with the frame number."),
        ("The police form wanted a frame number that I never wrote down.", "Your receipt may have it."),
        ("Found the receipt, the number was on the back.", "Perfect."),
        ("Work is busy, our team ships the ticketing app for the ferries.", "OK."),
        ("I prefer short answers without lists.", "Will do."),
        ("Joris from payments broke his wrist, so I cover his shifts.", "That is a lot."),
        ("We painted the hallway in a colour called wet sand.", "Nice."),
        ("Fenna says it looks like porridge.", "Ha!"),
        ("The neighbours are cutting down the walnut tree.", "Pity."),
        ("I planted rosemary and two figs on the balcony.", "Figs like a warm wall."),
        ("My running knee is acting up again.", "Rest it for a week."),
        ("The physiotherapist gave me exercises with a rubber band.", "Keep at it."),
        ("I signed up for the half marathon in October anyway.", "Brave."),
        ("We tried the Georgian restaurant near the station.", "How was it?"),
        ("Too loud, and the khachapuri was worth it.", "Good to know."),
        ("The ferry app crashed for an hour on Monday morning.", "Ouch."),
        ("It was an expired certificate, of all things.", "Set an alarm for it."),
        ("I'm learning to bake rye bread with my own starter.", "Patience helps."),
        ("The first loaf could have stopped a door.", "The second is always better."),
    ),
    "zh": (
        ("我住在泉州，就在老码头后面。", "泉州很有味道。"),
        ("我女儿小满这个月开始上音乐学校了。", "真好，学的什么乐器？"),
        ("她选了大提琴，家里整天像轮船在鸣笛。", "过几周就好听了。"),
        ("我不能吃贝类，吃一口扇贝就得进医院。", "明白。"),
        ("洗碗机从周日开始一直漏水。", "先检查门封条和进水管。"),
        ("果然是水管，我拧紧以后地上就干了。", "太好了。"),
        ("我妈妈清明要从长沙过来看我们。", "好的。"),
        ("她喜欢看油菜花，但是人一多就紧张。", "挑工作日一早去。"),
        ("后来我们改坐船去了崇武，看到两只白鹭。", "真美。"),
        ("我最近在读一本讲灯塔历史的书。", "记下了。"),
        ("讲菲涅尔透镜那一章让我读到半夜。", "它改变了航海。"),
        ("我的自行车在图书馆门口被偷了。", "真糟糕，可以带上车架号去网上报案。"),
        ("报案的表格要车架号，我从来没抄下来过。", "发票上可能有。"),
        ("发票找到了，号码就印在背面。", "太好了。"),
        ("最近工作很忙，我们组在做轮渡的售票应用。", "好的。"),
        ("我更喜欢简短的回答，不要列清单。", "好的。"),
        ("支付组的阿坤摔伤了手腕，他的班由我来顶。", "辛苦了。"),
        ("我们把走廊刷成了一种叫湿沙的颜色。", "不错。"),
        ("小满说看上去像一碗粥。", "哈哈！"),
        ("邻居正在砍那棵核桃树。", "可惜了。"),
        ("我在阳台种了迷迭香和两棵无花果。", "无花果喜欢暖和的墙边。"),
        ("跑步伤过的膝盖又开始疼了。", "休息一周吧。"),
        ("康复师教我用弹力带做训练。", "坚持下去。"),
        ("十月的半程马拉松我还是报名了。", "勇敢。"),
        ("我们去试了车站旁边那家格鲁吉亚餐厅。", "怎么样？"),
        ("太吵了，不过奶酪船面包值得一吃。", "好的。"),
        ("周一早上轮渡应用崩溃了一个小时。", "哎呀。"),
        ("原因居然是证书过期。", "给它设个闹钟吧。"),
        ("我在学用自己养的酵种烤黑麦面包。", "要有耐心。"),
        ("第一个硬得可以拿来挡门。", "第二个总会更好。"),
    ),
}
CELLO = {"en": "cello", "zh": "音乐学校"}
MOVED = {
    "en": ("Leiden", "Utrecht", "I don't live in Leiden any more, I live in Utrecht now."),
    "zh": ("泉州", "厦门", "我不住泉州了，现在住厦门。"),
}
ALLERGY = {"en": ("prawn", "shellfish"), "zh": ("扇贝", "贝类")}
languages = pytest.mark.parametrize("language", TALK)


async def say(person: Person, user: str, assistant: str = "", session: str = "s1") -> None:
    """An observed turn of user and assistant."""
    messages = [{"role": "user", "content": user}]
    messages += [{"role": "assistant", "content": assistant}] if assistant else []
    answer = await person.post("/v1/turns", {**person.whose, "session_id": session, "messages": messages})
    assert answer.status_code == 201, answer.text
    await person.outcome(answer.json()["turn_id"])


async def talk(person: Person, language: str, turns: int = 30) -> None:
    for user, assistant in TALK[language][:turns]:
        await say(person, user, assistant)


async def summary(person: Person) -> Json:
    answer = await person.get("/v1/sessions/s1/summary")
    assert answer.status_code == 200, answer.text
    return answer.json()


def is_summed_up(said: str, text: str) -> bool:
    """Whether a line contains most of the significant words of the statement."""
    words = set(query_terms(said))
    return any(len(words & set(query_terms(line))) >= len(words) / 2 for line in text.splitlines())


def hello(language: str) -> str:
    return "Good evening!" if language == "en" else "晚上好！"


@languages
async def test_thirty_ordinary_turns_leave_a_summary_of_those_that_left_the_window(
    person: Person, language: str
) -> None:
    for seq, (user, assistant) in enumerate(TALK[language], 1):
        await say(person, user, assistant)
        package = await person.compose(hello(language), session="s1")
        recent = {message.content for message in package.recent_turns}
        covered = (await summary(person))["source_to_seq"] if seq >= WINDOW else 0
        assert [n for n, (said, _) in enumerate(TALK[language][:seq], 1) if n > covered and said not in recent] == []
    assert 0 < count(package.working_summary) <= SummaryPolicy().text_tokens
    assert ALLERGY[language][1] in package.working_summary, "what sets a limit stays"
    left = [said for said, _ in TALK[language][:-WINDOW]]
    assert sum(is_summed_up(said, package.working_summary) for said in left) >= len(left) / 2
    assert "Noted." not in package.working_summary
    assert "记下了" not in package.working_summary
    lines = [line for line in package.working_summary.splitlines() if line.startswith("- ")]
    assert len(lines) == len(set(lines)) >= 8


@languages
@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_corrected_value_is_in_no_package_and_no_later_summary(
    person: Person, language: str, elsewhere: bool
) -> None:
    old, new, correction = MOVED[language]
    await talk(person, language, 10)
    assert old in (await person.compose(hello(language), session="s1")).working_summary
    pending = await person.compose(correction, session="s1")
    assert old not in pending.working_summary, "from the very message on"
    await say(person, correction, session="s2" if elsewhere else "s1")
    later = await person.compose(hello(language), session="s1")
    assert later.working_summary
    assert old not in without(later.working_summary, new)
    for user, assistant in TALK[language][10:20]:
        await say(person, user, assistant)
    made = await summary(person)
    assert made["source_to_seq"] > 10
    assert old not in without(made["text"], new)
    assert CELLO[language] in made["text"], "the rest stays"


def without(text: str, word: str) -> str:
    """The lines without the word."""
    return "\n".join(line for line in text.splitlines() if word not in line)


@languages
async def test_erased_text_is_not_in_the_summary(person: Person, language: str) -> None:
    words = ALLERGY[language]
    await talk(person, language, 12)
    before = (await person.compose(hello(language), session="s1")).working_summary
    assert all(word in before for word in words)
    known = [each for each in await person.memories() if any(word in each["content"] for word in words)]
    assert known
    receipt = await erase(person, "items", memory_ids=[each["memory_id"] for each in known])
    at_once = await person.compose(hello(language), session="s1")
    assert not any(word in shown(at_once) for word in words)
    await completed(person, receipt)
    for user, assistant in TALK[language][12:16]:
        await say(person, user, assistant)

    async def made_anew() -> Json | None:
        answer = await person.get("/v1/sessions/s1/summary")
        return answer.json() if answer.status_code == 200 else None

    again = await wait_for(made_anew, "the summary is made anew")
    assert again
    assert again["source_from_seq"] == 1
    assert CELLO[language] in again["text"], "the rest is summed up again"
    assert not any(word in str(again) for word in words)
