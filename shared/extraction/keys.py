"""Makes keys that are the same whenever a thing is stated again: normalises targets and recognises slots."""

import re
import unicodedata
from collections.abc import Set

from schemas.memory_types import KEY_PREFIXES
from shared.extraction.gates import gate, mask
from shared.language.patterns import to_pattern

EDGE = " \t\u00a0,，.。!！?？;；:：、~～\"'“”‘’「」『』()（）[]【】<>《》*_`-"
TAIL_ZH = to_pattern(
    r"(?:(?:这|那)(?:种|类|样|些)(?:的)?(?:东西|风格|类型)?|的(?:东西|风格|类型|那种|款式|感觉"
    r"|样式|时候|话)|风格|(?<=..)[风款]|的|了|啊|呀|呢|吧|哦|嘛|哈|啦|喔|噢|耶|而已|就好|就行"
    r"|就可以|的话|什么的|之类的?|等等?|(?<=[A-Za-z\u3400-\u9fff])来?(?:写代码|写作|办公|编程"
    r"|记笔记|上网|剪视频|画图|写文档|做笔记))+$"
)
HEAD_ZH = to_pattern(
    r"^(?:(?:一|几|两|三)?(?:点儿?|些|种|个|只|条|款|杯|件|双|本|台|辆|位|名|份|间|套)(?=[\u3400-\u9fffA-Z"
    r"a-z])|各种|各类|所有的?|任何|比较|更加?|最|很|太|非常|特别|有点儿?|偏|稍微|那种|这种|这类"
    r"|那类|那些|这些|我的?|一切)+"
)
VERB_ZH = to_pattern(
    r"^(?:吃|喝|穿|用|看|听|玩|买|写|读|打|做|去|养|抽|逛|学|住|选|使用|观看|收到|看到|听到|食用|购买|阅读)(?=[\u3400-\u9fffA-Za-z0-9])"
)
_WHOLE_ZH_WORDS = """
看书 做饭 打球 写作 用户 写代码 学习 读书 看病 买菜 做梦 打工 打字 去年 用力 看法 做法 写法 听话 选择 玩具 打架 打扫
养生 养老 做人 做事 做爱 住院 听力 学校 学生 穿搭 穿着
"""
WHOLE_ZH = frozenset(_WHOLE_ZH_WORDS.split())
HEAD_EN = to_pattern(
    r"^(?:(?:a|an|the|some|any|all|my|our|your|those|these|that|this|kind of|sort of|lots of"
    r"|a lot of|to|having|eating|drinking|using|wearing|watching|playing|listening to|reading"
    r"|eat|drink|use|wear|watch|play|listen to|read|see|get|getting|more|very|really|mostly)\s+)+",
    re.I,
)
TAIL_EN = to_pattern(
    r"\s+(?:anymore|any more|any longer|now|too|as well|a lot|very much|so much|instead|though"
    r"|these days|nowadays|please|style|stuff|things|in general|at all|the most|the best|best"
    r"|ever|again|right now|at the moment|these days|recently|lately|actually|honestly|by default"
    r"|whenever possible|in my opinion|tbh|lol|haha|usually|(?:in|every|each) (?:the )?(?:morning"
    r"|evening|afternoon|day|night|week|weekend)|at night|on weekends|with breakfast|for breakfast"
    r"|daily|for (?:coding|work|writing|everything|notes|programming))$",
    re.I,
)
NOT_WORD = to_pattern(r"[^\w\u3400-\u9fff+#./@]+")
SLOTS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    (
        "ui",
        "theme",
        to_pattern(
            r"(?:深色|浅色|暗色|亮色|暗黑|黑色|白色|夜间|明亮|日间)(?:主题|模式|界面|背景)|\b(?:dark"
            r"|light|night|high[- ]contrast|solarized)\s*(?:mode|theme|ui)\b",
            re.I | re.A,
        ),
    ),
    (
        "writing",
        "language",
        to_pattern(
            r"(?:用|使用|说|讲|以)?\s*(?:简体|繁体)?(?:中文|英文|英语|日语|法语|德语|韩语|西班牙语|粤语"
            r"|汉语|普通话)(?:来)?(?:[跟和与]我)?(?:回答|回复|交流|沟通|跟我说|和我说|答复|输出|写|聊|对话)|(?:回复"
            r"|回答|交流|输出)(?:的)?(?:语言|时)?(?:都|一律|请|统一|全部|也|尽量)*(?:用|使用|是|为|改成|换成)?\s*(?:简体|繁体)?(?:中文|英文"
            r"|英语|日语|法语|德语|韩语)|(?:answer|repl|respon|communicat|talk|speak|writ|output|chat)\w*\s+"
            r"(?:\w+\s+){0,3}in\s+(?:simplified |traditional )?(?:chinese|english|japanese|french|german"
            r"|korean|spanish|italian|mandarin)|in (?:chinese|english|japanese|french|german|korean|"
            r"spanish|mandarin)$",
            re.I | re.A,
        ),
    ),
    (
        "writing",
        "response_format",
        to_pattern(
            r"(?:bullet|表格|列表|要点|分点|markdown|分条|table|numbered|纯文本|plain text|emoji|表情"
            r"|代码块|code block|step[- ]by[- ]step|分步|逐步).{0,14}(?:回|答|列|format|answer|repl|"
            r"response|list|point|输出|展示|use|emoji|表情|步骤|$)|(?:回|答|answer|repl|response|输出).{0,16}"
            r"(?:bullet|表格|列表|要点|markdown|分点|table|emoji|表情|step[- ]by[- ]step)",
            re.I | re.A,
        ),
    ),
    (
        "writing",
        "response_style",
        to_pattern(
            r"(?:简短|简洁|简明|精简|详细|详尽|短|长|啰嗦|冗长|精炼|简单)(?:一?点|一些|些)?(?:的|地)?"
            r"(?:回答|回复|答案|答复|解释|说明|输出|版本)|(?:回答|回复|答案|答复|解释|说话|输出|讲解"
            r"|说明)(?:得|的|要|请|时|内容|尽量|都|一定|应该|可以|能)*(?:简短|简洁|简明|精简|详细|详尽"
            r"|短|长|啰嗦|冗长|精炼|简单|直接)|\b(?:short|concise|brief|detailed|terse|long|verbose|"
            r"succinct|thorough|direct|crisp|lengthy|wordy)\b(?:\s+\w+){0,2}\s+(?:answer|repl|response"
            r"|explanation|message|summar|output)\w*|(?:answer|repl|response|explanation|output)\w*\s+"
            r"(?:\w+\s+){0,4}(?:short|concise|brief|detailed|terse|long|verbose|succinct|thorough|direct"
            r"|to the point)\b|\b(?:be|keep it|keep things)\s+(?:more\s+)?(?:short|concise|brief|terse"
            r"|succinct|direct|detailed)",
            re.I | re.A,
        ),
    ),
    (
        "writing",
        "tone",
        to_pattern(
            r"(?:正式|轻松|幽默|口语化|专业|友好|严肃|随意)(?:一?点|一些|些)?(?:的|地)?(?:语气|口吻|"
            r"文风|语调|风格|措辞)|(?:语气|口吻|文风|措辞)(?:\S{0,4})(?:正式|轻松|幽默|口语|专业|友好"
            r"|严肃|随意)|\b(?:formal|casual|friendly|humorous|professional|playful|informal)\s+(?:tone"
            r"|style|voice|language|wording)",
            re.I | re.A,
        ),
    ),
    (
        "coding",
        "indentation",
        to_pattern(
            r"\b(?:tabs?|spaces?|indentation|[248]-space)\b.{0,20}\b(?:over|than|indent|tabs?|spaces?)"
            r"|缩进|制表符",
            re.I | re.A,
        ),
    ),
)
SCOPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "writing",
        to_pattern(
            r"回答|回复|答案|文风|语气|口吻|文章|写作|称呼|emoji|表情|\b(?:answers?|repl(?:y|ies)|responses?"
            r"|tone|writing|summar(?:y|ies)|prose|explanations?|bullet)\b",
            re.I | re.A,
        ),
    ),
    (
        "ui",
        to_pattern(
            r"界面|主题|字体|字号|深色|浅色|暗黑|配色|布局|\b(?:theme|mode|fonts?|layout|interface|ui)\b", re.I | re.A
        ),
    ),
    (
        "coding",
        to_pattern(
            r"代码|编程|变量|注释|函数|类型|测试驱动|单元测试|\b(?:python|rust|golang|go|java|javascript"
            r"|typescript|kotlin|swift|ruby|c\+\+|c#|php|haskell|scala|code|coding|programming|tabs|"
            r"spaces|type hints?|tests?|tdd|functional|camelcase|snake_case|comments?|linter?|async|"
            r"react|vue|svelte|django|flask|fastapi|sql)\b",
            re.I | re.A,
        ),
    ),
    (
        "tools",
        to_pattern(
            r"苹果|安卓|华为|小米|手机|电脑|软件|工具|编辑器|微信|钉钉|飞书|浏览器|\b(?:vim|neovim|emacs"
            r"|vs ?code|vscode|pycharm|intellij|notion|slack|obsidian|iphone|android|mac(?:book)?|windows"
            r"|linux|git|docker|kubernetes|postgres\w*|mysql|redis|kafka|chrome|firefox|safari|figma"
            r"|jira|editor|browser|terminal|tmux|zsh|fish)\b",
            re.I | re.A,
        ),
    ),
    (
        "food",
        to_pattern(
            r"吃|喝|菜|饭|肉|鱼|辣|甜|咸|酸|茶|咖啡|奶|酒|水果|面条?$|汤|糖|火锅|寿司|海鲜|蛋|豆|素|"
            r"葱|蒜|姜|可乐|\b(?:food|tea|coffee|meat|fish|sushi|pizza|spicy|vegan|vegetarian|cilantro"
            r"|coriander|beer|wine|milk|sugar|rice|noodles?|chocolate|seafood|pasta|dessert|fruit|vegetables?"
            r"|cuisine|latte|espresso|cheese|bread|eggs?|mushrooms?|onions?|garlic)\b",
            re.I | re.A,
        ),
    ),
)
SYNONYMS = {
    "暗色主题": "深色主题",
    "暗色模式": "深色主题",
    "深色模式": "深色主题",
    "浅色模式": "浅色主题",
    "vs code": "vscode",
    "visual studio code": "vscode",
}
PLURAL = frozenset(
    {"postgres", "kubernetes", "windows", "blues", "news", "jeans", "glasses", "spaces", "tabs", "redis", "airpods"}
)
_PROFILE_SLOTS_WORDS = """
name call_me surname pronouns gender age birthday nationality languages native_language hometown city work_city
address timezone marital_status partner wife husband children siblings parents family occupation employer team manager
industry income school major degree skills certificates phone computer car housing landlord bank pet health condition
medication blood_type allergy diet height weight shoe_size clothing_size doctor dentist therapist coach gym sport
hobby hobbies instrument religion personality zodiac email website commute fact
"""
PROFILE_SLOTS = frozenset(_PROFILE_SLOTS_WORDS.split())
"""Slots of a profile with one value each."""
PROFILE_GROUPS = frozenset(
    ["family", "health", "pet", "owns", "trait", "skill", "language", "hobby", "allergy", "fact", "place"]
)
"""Slots of a profile with several values each; the value is the last part of the key."""
OF_PERSON = PROFILE_SLOTS | {"place"}
"""Slots of somebody whom a profile names by a role or kind, such as a daughter or a dog."""
SLOT_SYNONYMS = {
    "job": "occupation",
    "job_title": "occupation",
    "profession": "occupation",
    "role": "occupation",
    "work": "occupation",
    "company": "employer",
    "workplace": "employer",
    "location": "city",
    "residence": "city",
    "home_city": "city",
    "home": "city",
    "town": "city",
    "lives_in": "city",
    "nickname": "call_me",
    "preferred_name": "call_me",
    "first_name": "name",
    "full_name": "name",
    "last_name": "surname",
    "birth_date": "birthday",
    "date_of_birth": "birthday",
    "dob": "birthday",
    "mother_tongue": "native_language",
    "language": "languages",
    "spouse": "partner",
    "kids": "children",
    "university": "school",
    "college": "school",
    "education": "school",
    "salary": "income",
    "boss": "manager",
    "laptop": "computer",
    "vehicle": "car",
    "allergies": "allergy",
    "bloodtype": "blood_type",
    "e_mail": "email",
}
"""Other names that clients and models give to these slots."""
_SCOPES = tuple((scope, pattern, gate(pattern)) for scope, pattern in SCOPES)
_SLOTS = tuple((scope, slot, pattern, gate(pattern)) for scope, slot, pattern in SLOTS)
PREFIXES = tuple(KEY_PREFIXES.values())


def fold(text: str) -> str:
    """The text in one width, lower case, without blanks between Chinese characters."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return re.sub(r"(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])", "", re.sub(r"\s+", " ", folded)).strip(EDGE)


def tidy(text: str) -> str:
    """The original text without punctuation and particles at its ends."""
    text = text.strip(EDGE)
    shorter = re.sub(r"(?:了|啊|呀|呢|吧|哦|嘛|哈|啦|喔|噢|而已)+$", "", text)
    return (shorter or text).strip(EDGE)


def to_target(text: str) -> str:
    """The normalised target of a taste, without articles, measure words and verbs of use."""
    folded = fold(text)
    for _ in range(2):
        cut = TAIL_ZH.sub("", folded).strip(EDGE)
        cut = HEAD_ZH.sub("", cut) or cut
        cut = TAIL_EN.sub("", HEAD_EN.sub("", cut)).strip(EDGE)
        if cut not in WHOLE_ZH and not any(cut.startswith(word) for word in WHOLE_ZH):
            cut = VERB_ZH.sub("", cut) or cut
        if not cut or cut == folded:
            break
        folded = cut
    folded = SYNONYMS.get(folded, folded)
    return _to_singular(folded)


def _to_singular(text: str) -> str:
    if text in PLURAL:
        return text
    if (
        len(text) > 4
        and text.isascii()
        and text.endswith("s")
        and not text.endswith(("ss", "us", "is", "ies", "ses", "xes", "os"))
    ):
        return text[:-1]
    return text


def slug(text: str, limit: int = 48) -> str:
    """The text as one segment of a key."""
    return NOT_WORD.sub("-", fold(text)).strip("-")[:limit].strip("-.") or "x"


def find_scope(text: str) -> str:
    """The scope of a preference: writing, ui, coding, tools, food or other."""
    signs = mask(text)
    return next((scope for scope, pattern, bit in _SCOPES if signs & bit and pattern.search(text)), "other")


def find_slot(text: str) -> tuple[str, str] | None:
    """The scope and slot of a taste that has one value at a time, such as the theme."""
    signs = mask(text)
    return next(((scope, slot) for scope, slot, pattern, bit in _SLOTS if signs & bit and pattern.search(text)), None)


def preference_key(target: str) -> tuple[str, str, str | None]:
    """The key, scope and slot of a taste for the target."""
    slot = find_slot(target)
    if slot:
        return f"pref:{slot[0]}:{slot[1]}", slot[0], slot[1]
    canonical = to_target(target)
    scope = find_scope(canonical)
    return f"pref:{scope}:{slug(canonical)}", scope, None


def is_known(key: str) -> bool:
    """Whether a client may choose the key: it has a prefix, a subject and a name."""
    parts = key.split(":")
    return key.startswith(PREFIXES) and len(parts) >= 2 and all(parts) and len(key) <= 160


def profile_key(key: str, more: Set[str] | None = frozenset()) -> str | None:
    """The key of a profile with the listed name of its slot; None if neither the list nor `more` has the slot.

    If `more` is None, any slot is accepted. Keys of other types are not changed.
    """
    prefix, _, rest = key.partition(":")
    if prefix != "profile":
        return key
    who, *names = rest.split(":")
    if len(names) == 1:
        slot = _to_slot(names[0])
        return f"profile:{who}:{slot}" if more is None or slot in PROFILE_SLOTS or slot in more else None
    if more is None:
        return key
    if len(names) != 2:
        return None
    if names[0] in PROFILE_GROUPS or names[0] in more:
        return key
    return key if _to_slot(names[1]) in OF_PERSON else None


def _to_slot(name: str) -> str:
    name = name.replace("-", "_").lower()
    return SLOT_SYNONYMS.get(name, name)
