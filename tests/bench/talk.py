"""Conversations with an assistant in both languages: facts worth remembering among many other messages."""

# ruff: noqa: E501 - one sentence per line

import random
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.turn_events import TurnEvents

_WORDS = """
city: Lisbon,Oslo,Kyoto,Austin,Tallinn,Porto,Leeds,Ghent,Malmo,Turin,Bergen,Nantes
food: peanuts,shellfish,jasmine tea,oat milk,dark chocolate,ramen,goat cheese,espresso,kimchi,lentil soup,rye bread,mango lassi
tech: PostgreSQL,Kafka,Redis,FastAPI,Rust,Terraform,gRPC,ClickHouse,SQLite,Kubernetes,DuckDB,NATS
part: billing ledger,search index,mobile client,import job,audit log,session store,rate limiter,photo archive,report builder,alert rules,login page,data lake
name: Alice,Bruno,Chen,Dmitri,Emma,Farid,Grace,Hana,Ivan,Julia,Kenji,Lucia
task: renew the TLS certificate,send the invoice,book the dentist,review the migration,call the landlord,order the new laptop,update the runbook,file the expense report
day: 2026-10-03,2026-10-11,2026-10-19,2026-11-02,2026-11-14,2026-11-27,2026-12-05,2026-12-18
style: answer in short paragraphs,show the command before the explanation,use metric units,quote the source,keep code samples under twenty lines,start with the conclusion
hobby: bouldering,film photography,long-distance cycling,sourdough baking,chess,gardening,kayaking,calligraphy
市: 杭州,成都,苏州,厦门,青岛,昆明,西安,大连,南京,珠海
食: 花生,龙井茶,美式咖啡,小龙虾,豆浆,火锅,香菜,榴莲,燕麦奶,酸辣粉
术: PostgreSQL,Kafka,Redis,FastAPI,Rust,Terraform,gRPC,ClickHouse,SQLite,Kubernetes
件: 账单系统,搜索索引,手机客户端,导入任务,审计日志,会话存储,限流器,照片归档,报表模块,告警规则
人: 李梅,王强,张伟,刘洋,陈静,赵磊,周婷,吴昊,孙悦,何洁
事: 续签证书,发出发票,预约牙医,评审迁移方案,联系房东,订购新电脑,更新运维手册,提交报销单
日: 10月3日,10月11日,10月19日,11月2日,11月14日,11月27日,12月5日,12月18日
风: 先给结论再解释,回答尽量简短,代码示例不超过二十行,用公制单位,注明出处,用中文回答
好: 攀岩,胶片摄影,长途骑行,烤面包,下围棋,种花,皮划艇,写书法
"""
_SLOTS = {name: words.split(",") for name, _, words in (line.partition(": ") for line in _WORDS.strip().splitlines())}
FACTS: dict[str, list[tuple[str, str]]] = {
    "en": [
        ("preference", "I really like {food} after a long day at the {part} desk."),
        ("preference", "I prefer {tech} over {tech} for the {part}."),
        ("profile", "I live in {city} and I work on the {part} as a backend engineer."),
        ("constraint", "I am allergic to {food}, so keep it out of the dinner plan."),
        ("task", "Remind me to {task} before {day}."),
        ("decision", "We decided to use {tech} for the {part} because {name} has run it for years."),
        ("event", "The review of the {part} with {name} is on {day} at {n}:30."),
        ("goal", "My goal is to move the {part} to {tech} before {day}."),
        ("constraint", "Please always {style}."),
        ("preference", "I enjoy {hobby} with {name} on Sundays."),
        ("note", "Remember that the {part} of {name} listens on port {n}{n}."),
    ],
    "zh": [
        ("preference", "我喜欢{食}，每周和{人}去一次。"),
        ("preference", "{件}这块我更喜欢用{术}，不喜欢{术}。"),
        ("profile", "我住在{市}，是{件}的后端工程师。"),
        ("constraint", "我对{食}过敏，订餐的时候要注意。"),
        ("task", "{日}之前提醒我{事}。"),
        ("decision", "我们决定{件}用{术}，因为{人}维护过很多年。"),
        ("event", "{日}下午{n}点和{人}评审{件}。"),
        ("goal", "我的目标是在{日}之前把{件}迁到{术}。"),
        ("constraint", "以后请{风}。"),
        ("preference", "我周末喜欢和{人}一起{好}。"),
        ("note", "记住，{人}的{件}端口是{n}{n}。"),
    ],
}
_CHATTER = {
    "en": [
        "The build of the {part} took {n} minutes again today and two of its tests failed before they passed.",
        "Could you look at the stack trace from {tech} that {name} posted this morning and tell me what it means?",
        "It rained in {city} all week, which did not help anybody's mood during the incident on the {part}.",
        "I read the chapter on {tech} last night and still do not see why the retries have to be bounded.",
        "What would you try first if the {part} answered slowly only between {n} and midnight?",
        "{name} thinks that the numbers of the {part} look wrong since the last release, but nobody has checked.",
    ],
    "zh": [
        "今天{件}的构建又花了{n}分钟，有两个测试先失败后来又过了。",
        "能不能看一下{人}早上贴出来的{术}报错，帮我分析一下是什么原因？",
        "{市}这周一直下雨，大家处理{件}故障的时候心情都不太好。",
        "昨晚看了{术}那一章，还是不明白为什么重试次数必须有上限。",
        "如果{件}只在晚上{n}点以后变慢，你会先从哪里查起？",
        "{人}觉得{件}上线以后数据不太对，但是还没有人去核对。",
    ],
}
_REPLIES = {
    "en": "Noted. I would start with the {part}: check its queue, then its slowest query, and compare both with the day before the release.",
    "zh": "好的，记下了。建议先看{件}的队列长度，再看最慢的查询，然后和上线前一天对比。",
}
_ASKED = {
    "en": [
        "What should I order for dinner tonight?",
        "Which database did we decide to use for the {part}?",
        "When is the review of the {part} with {name}?",
        "Where do I live and what do I work on?",
        "What do I still have to do before {day}?",
        "How do I like my answers written?",
        "Do I prefer {tech} or something else for the {part}?",
        "What did {name} say about the {part}?",
    ],
    "zh": [
        "今晚聚餐帮我推荐点吃的，我有什么忌口吗？",
        "{件}我们最后决定用什么数据库？",
        "和{人}评审{件}是什么时候？",
        "我住在哪里，做什么工作？",
        "{日}之前我还有哪些事没做？",
        "我喜欢什么样的回答方式？",
        "我周末一般喜欢做什么？",
        "上次{人}说{件}有什么问题？",
    ],
}


def filled(template: str, dice: random.Random) -> str:
    """The sentence with a word in each of its slots."""
    out = template
    for slot, words in _SLOTS.items():
        while f"{{{slot}}}" in out:
            out = out.replace(f"{{{slot}}}", dice.choice(words), 1)
    return out.replace("{n}", str(dice.randint(1, 99)))


@dataclass(frozen=True)
class Fact:
    """One memory's type, language and text."""

    type: str
    language: str
    text: str


def facts(many: int, seed: int = 7) -> list[Fact]:
    """This many distinct facts, alternating between both languages."""
    dice = random.Random(seed)
    found: dict[str, Fact] = {}
    while len(found) < many:
        language = "en" if len(found) % 2 else "zh"
        kind, template = dice.choice(FACTS[language])
        text = filled(template, dice)
        found.setdefault(text, Fact(kind, language, text))
    return list(found.values())


def questions(many: int, seed: int = 11) -> list[str]:
    """Questions about earlier statements."""
    dice = random.Random(seed)
    return [filled(dice.choice(_ASKED["en" if n % 2 else "zh"]), dice) for n in range(many)]


def user_message(dice: random.Random, language: str) -> str:
    """One or two facts among chatter: 200 to 500 characters of English, 100 to 200 of Chinese."""
    sentences = [filled(dice.choice(FACTS[language])[1], dice) for _ in range(dice.choice((0, 1, 1, 1, 2)))]
    sentences += [filled(dice.choice(_CHATTER[language]), dice) for _ in range(dice.randint(2, 3))]
    dice.shuffle(sentences)
    return (" " if language == "en" else "").join(sentences)


def turns(users: int, tag: str, seed: int = 3) -> Iterator[TurnEvents]:
    """Endless turns, spread evenly over this many users, in sessions of 20 turns."""
    dice = random.Random(f"{tag}{users}{seed}")
    at = 0
    while True:
        language = dice.choice(("en", "zh"))
        said = user_message(dice, language)
        if dice.random() < 0.15:
            said += " " + filled(dice.choice(FACTS["zh" if language == "en" else "en"])[1], dice)
        yield TurnEvents.model_validate(
            {
                "user_id": f"{tag}-{at % users}",
                "session_id": f"{tag}-{at % users}-{at // users // 20}",
                "idempotency_key": f"{tag}-{seed}-{at}",
                "messages": [
                    {"role": "user", "content": said},
                    {"role": "assistant", "content": filled(_REPLIES[language], dice)},
                ],
            }
        )
        at += 1
