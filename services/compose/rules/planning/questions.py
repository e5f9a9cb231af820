"""Analyses a question: its sentences, listed things, the past, purpose, topics, projects, and spelling.

Only a question about the past is answered by what is outdated. Topics expand a question: 'what should I wear' asks for
taste, style, build, season. Repositories, projects and files are entities to follow. Spelling finds terms that memory
has in another form, or another name of the same thing.
"""

# ruff: noqa: E501, SIM905 - one family of forms per line; one family of cues per line, lists of words

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from schemas.vocabulary import Intent, Language, Purpose
from shared.extraction.intent import Understood, understand
from shared.language.patterns import to_pattern
from shared.language.replies import says_something
from shared.language.segment import HAN, STOPWORDS, has_word, query_terms, words

MOST_PARTS = 8
LEAST_THINGS = 3
"""How many things make a list; two joined by `and` are mostly one question."""
THING_TERMS = 4
"""The most terms of a listed thing; a longer one is a clause."""
LONGEST_HAN = 6
"""The most characters of a listed thing in Chinese."""
Kind = Literal["question", "thing"]

_SENTENCE = to_pattern(
    r"(?:[^?？!！。\n.]|(?<=\b[A-Z])\.|(?<=\b[A-Z][a-z])\.|(?<=\b[A-Z][a-z]{2})\.|\.(?!\s|$))+[?？!！。.]*"
)
"""A full stop after a capital letter or a short title ends no sentence: J. K., Dr."""
_ENDS_ASKING = to_pattern(r"[?？][\W_]{0,3}$|[吗呢么][\s。！!~～]*$")
_ASKS = to_pattern(
    r"^\W*(?:(?:so|and|but|or|ok|okay|well|oh|hi|hey|hello|also|then|anyway|please)\W+)*"
    r"(?:who|whom|whose|what|when|where|why|how|which|tell|remind|show|find|list|name|recommend|suggest|describe|summari[sz]e)\b"
    r"|\b(?:wonder(?:ing)?|know|remember|remind|tell me|ask(?:ing)?)\b(?:\W+\w+){0,2}\W+(?:who|whose|what|when|where|why|how|which|if|whether)\b"
    r"|^\W*(?:请|麻烦|帮我|帮忙|告诉我|提醒我|说说|讲讲|列出|列一下|推荐|总结|回顾)"
    r"|什么|哪[里儿个些位天年月家种本部次]|谁|怎么|怎样|多少|几[个点号月岁位时天家次]|多[久大长高远]|是否|有没有|如何|为何",
    re.IGNORECASE,
)
_MARK = to_pattern(r"\s*[;；、|\n]\s*")
"""Separators of a list."""
_COMMA = to_pattern(r"\s*,\s*")
_HAN_COMMA = to_pattern(rf"(?<=[{HAN}])\s*[,，]\s*")
_CLAUSE_END = to_pattern(r"[,，;；]")
_CLAUSE_ASKS = to_pattern(
    r"^\W*(?:(?:and|or|but|also)\W+)*(?:(?:who|whose|what|which)\b|(?:when|where|why|how)(?:['’]s|\s+(?:is|are|was|were|do|does|did|have|has|had|will|would|can|could|should|many|much|long|old|often|far))\b)"
    r"|什么|谁|哪[里儿个些位天年月家种本部次]|几[个点号月岁位时天家次]|多少|多[久大长高远]|怎么|怎样|如何|吗\W*$",
    re.IGNORECASE,
)
"""A clause that asks by itself; `when I was in Lisbon` does not."""
_OPENING_JOIN = to_pattern(r"^(?:and|or|plus|also)\b\s*|^(?:以及|还有|和|与|及|或)\s*", re.IGNORECASE)
_LAST_JOIN = to_pattern(r"\s+(?:and|or|plus)\s+|\s*(?:以及|还有|和|与|及|或)\s*", re.IGNORECASE)
_SUBJECT = to_pattern(
    r"\b(?:i|we|he|she|they|you|it)\b|[我你您他她它咱](?!的|们?的|爸|妈|家|哥|姐|弟|妹)", re.IGNORECASE
)
"""An agent: a sentence about what it does lists nothing to look for."""
_POINTS_BACK = to_pattern(
    r"^.{0,10}(?:[这那](?!么|样|里|边|会|时|天)|[他她它])|^\W*(?:\w+\W+)?(?:[a-z']+\W+){0,3}(?:it|this|these|those|they|them|he|she)\b"
)
"""At the beginning, before any name."""
_ANY = to_pattern(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a question: a sentence, or a thing in a list."""

    text: str
    kind: Kind = "question"


def list_questions(text: str) -> list[str]:
    """The sentences of the text that ask."""
    return [each for raw in _SENTENCE.findall(text) if is_question(each := raw.strip())]


def split_question(text: str) -> tuple[Part, ...]:
    """The parts that are worth a search of their own; empty for a simple question.

    Of several sentences those that ask; the things that these list, or that a text without questions and statements
    lists.
    """
    sentences = [each for raw in _SENTENCE.findall(text) if is_question(each := raw.strip()) or says_something(each)]
    asking = [_with_what_it_means(sentences, n) for n, each in enumerate(sentences) if is_question(each)]
    alone = [clause for each in asking for clause in _asking_clauses(each)]
    parts = [Part(each) for each in alone] if len(sentences) > 1 or len(alone) > 1 else []
    listing = asking or [each for each in sentences if not _SUBJECT.search(each)]
    parts += [Part(thing, "thing") for each in listing for thing in list_things(each)]
    whole = query_terms(text)
    own = {part.text: part for part in parts if (terms := query_terms(part.text)) and terms != whole}
    return tuple(own.values())[:MOST_PARTS]


def _with_what_it_means(sentences: Sequence[str], at: int) -> str:
    """The sentence, after the one before if it begins with a reference to it."""
    return " ".join(sentences[max(at - 1, 0) : at + 1]) if _POINTS_BACK.search(sentences[at]) else sentences[at]


def is_question(sentence: str) -> bool:
    """Whether the sentence asks something."""
    return bool(_ENDS_ASKING.search(sentence) or _ASKS.search(sentence))


def _asking_clauses(sentence: str) -> list[str]:
    """The clauses that ask if there are several, else the sentence."""
    clauses = [each.strip() for each in _CLAUSE_END.split(sentence) if _CLAUSE_ASKS.search(each) and query_terms(each)]
    return clauses if len(clauses) > 1 else [sentence]


def list_things(sentence: str) -> list[str]:
    """The things that a sentence lists, the first and last with the words around them; empty for fewer than three."""
    items = _split_items(_MARK, sentence)
    if len(items) < LEAST_THINGS:
        items = _split_items(_COMMA, sentence)
        inner = items[1:-1]
        joined = items and (_OPENING_JOIN.search(items[-1]) or len(items) > LEAST_THINGS)
        is_long = any(len(query_terms(each, THING_TERMS + 1)) > THING_TERMS for each in inner)
        if not joined or is_question(items[-1].rstrip("?")) or is_long:
            items = _split_items(_HAN_COMMA, sentence)
            if not all(_is_plain(each) for each in items[:-1]):
                return []
    return [_OPENING_JOIN.sub("", each) for each in items] if len(items) >= LEAST_THINGS else []


def _split_items(mark: re.Pattern[str], sentence: str) -> list[str]:
    """The items between these separators; the last two may be joined by a word."""
    items = [each for each in mark.split(sentence) if _ANY.search(each)]
    if len(items) > 1 and mark is _MARK:
        items += [each for each in _LAST_JOIN.split(items.pop(), maxsplit=1) if _ANY.search(each)]
    return items


def _is_plain(item: str) -> bool:
    """Whether a Chinese item is only a word or two, none of them a function word."""
    return len(item) <= LONGEST_HAN and all(word not in STOPWORDS for word in words(item))


_PAST = to_pattern(
    r"以前|从前|曾经|过去(?!的?(?:[一二两三四五六七八九十几\d]|这))|(?<!日)原来(?!如此|是这|你|这)|原先|起初|最初|最早|当初|当年|当时|那时候?|那会儿?|早先|先前|旧的|老的|上一(?:份|任|个(?:工作|住处|公司|手机))|之前(?!先)|改(?:之|以)?前|换(?:之|以)?前|历史(?:记录|版本)?"
    # questions about change and about history
    r"|怎么变|变过|(?:有|发生|经历)(?:了|过)?(?:什么|哪些|多少|些什么)?[^，。]{0,3}变(?:化|更|动)|的?变(?:化|更|动|迁)(?:过程|历程|历史|记录|情况)?(?:是|有|如何|怎样)?[?？。]?$|(?:换|改|搬|调整?|变|跳槽?|升级?)了?过?(?:几|多少)[次回个家趟]|(?:换|改|搬|调整|更换|修改|跳槽|搬家|改名)过|从头(?:到尾|至今|到现在|开始|说起|讲起)|一路(?:走来|以来|下来|上|都)|前后(?:都|一共|总共|换|改|用|住|有)|前前后后|先后|历任|历届|历次|历年|这些年来?|(?:这|近|过去)[几一二三两四五六七八九十\d]+年(?:来|里|间|都|以来|[^，。？?]{1,12}过)|来龙去脉|演变|沿革|(?:住|待|用|去|养|开|学|干|做|试|任|玩|吃|喝|追|谈|听|读|报|参加|上)过(?:的?哪|的?什么|的?几|的?多少|的?所有|的?全部|的?.{0,6}都有)|都(?:住|待|用|养|开|学|干|做|试|玩)过"
    r"|\b(?:used to|use to|previously|formerly|back then|back in the day|in the past|at (?:that|the) time|at first|originally|initially|once (?:was|had|lived|liked|worked)|before (?:that|then|i|we|this|it)|earlier on|no longer|any ?more|not anymore|former|previous|prior|old (?:job|address|phone|number|name|preference|favou?rite|plan|version)|history of|history\?|what (?:did|was|were) (?:i|we|my|our)\b.{1,60}\b(?:first|old|before|initial(?:ly)?|back))\b"
    r"|\bhow (?:has|have|had|did) .{1,60}\b(?:changed?|evolved?|developed?|shifted)\b|\b(?:over|through(?:out)?|across) (?:the|these|all (?:the|these|those)) (?:years|months|weeks|time)\b|\bover time\b|\b(?:so far|up to now|until now|to date)\b.{0,40}\b(?:all|every|each|been|had|lived|worked|used|owned)\b"
    r"|\b(?:all|every|each|which|what|list|how many)\b.{0,60}\b(?:i|we)(?:'ve| have)(?: ever| all)? (?:had|lived|worked|used|owned|been|tried|driven|kept|played|studied|moved|switched|changed)\b|\b(?:what|which|how many|where|who)\b.{0,40}\b(?:have|had) (?:i|we)(?: ever| all)? (?:had|lived|worked|used|owned|been|tried|driven|kept|played|studied|moved|switched|changed)\b|\bhow (?:many times|often) (?:have|did) (?:i|we) (?:chang|mov|switch|replac|updat)\w*|\bhave i ever\b|\bfrom (?:the )?(?:start|beginning) (?:to|till|until) (?:the )?(?:end|now|today|finish)\b|\b(?:timeline|chronolog\w*|progression|track record)\b|\bevery (?:change|version|stage|step) (?:of|in|to)\b|\bever changed\b|\bchanges? (?:in|to|of) my\b"
    r"|\bbefore[?.!]*$",
    re.IGNORECASE,
)
_ORDERED = to_pattern(
    r"在.{1,16}之前(?:完成|交|做|去|到|提醒|要|必须|先)|\bbefore (?:i|we) (?:go|leave|start|forget)\b|\bfor the (?:previous|past)\b",
    re.IGNORECASE,
)


def asks_past(text: str) -> bool:
    """Whether it asks about the past: 我以前喜欢什么, what did I use to drink. A `before` of order does not count."""
    return _PAST.search(_ORDERED.sub(" ", text[:1000])) is not None


_MANY = to_pattern(
    r"\b(?:what|which)(?: (?:kinds?|sorts?|types?) of)? (?:\w+ )?(?!(?:does|is|was|has|class|address|business|status|plans|news)\b)\w{3,}[^\Wsu]s\b|\b(?:all|any|every|each|everything|anything|list|both|else|other|tell me about|know about|remember about)\b"
    r"|哪些|哪几|都[^\W\d_]{0,4}(?:什么|哪)|所有|全部|几[种样]|有什么|有没有|还有|别的|其他|介绍|关于",
    re.IGNORECASE,
)
"""Questions that may have many answers."""


def asks_for_one(question: str) -> bool:
    """Whether the answer is a single thing at a time: where somebody lives, but not which sports they play."""
    return _MANY.search(question) is None


_PURPOSES: tuple[tuple[Purpose, re.Pattern[str]], ...] = (
    ("research", to_pattern(r"引用|出处|来源|文献|论文|调研|研究|考证|查(?:阅|证)|综述|\b(?:cit(?:e|es|ed|ation|ations)|references?|sources?|bibliography|literature|research|survey of|investigate|papers on|evidence (?:for|that))\b", re.IGNORECASE)),
    ("debug", to_pattern(r"报错|错误(?:信息|码|日志)?|异常|崩溃|调试|排查|故障|堆栈|跑不(?:起来|通)|编译(?:失败|不过)|\b(?:bugs?|debug|error|exception|traceback|stack ?trace|crash(?:es|ed|ing)?|segfault|fail(?:s|ed|ing|ure)|not working|broken build|500|404)\b", re.IGNORECASE)),
    ("continue_task", to_pattern(r"^(?:请|那|好|那么|我们)?[,，]?(?:继续|接着|下一步|然后呢)|(?:继续|接着|推进).{0,12}(?:上次|刚才|之前|昨天|任务|工作|项目|写|做|改|完成)|上次(?:的|那个)?(?:任务|进度|做到|停在|没做完)|进度(?:如何|怎么样|到哪)|\b(?:continue|carry on|go on|keep going|resume|pick up where|where (?:did )?we (?:left|leave) off|next steps?|what'?s next|finish (?:the|what|our|my))\b", re.IGNORECASE)),
    ("summarize", to_pattern(r"总结|概括|摘要|归纳|要点|小结|复盘|回顾(?:一下)?|梳理|\b(?:summari[sz]e|summary|recap|tl;?dr|key points|overview of|digest|main points|wrap[- ]up)\b", re.IGNORECASE)),
    ("research", to_pattern(r"对比|比较|\b(?:compare|comparison|versus|vs\.?|trade-?offs?|pros and cons)\b", re.IGNORECASE)),
)  # fmt: skip
_QUESTION = to_pattern(
    r"[?？]|(?:吗|呢|么)[。.!！]?$|什么|怎么|为什么|如何|哪|谁|多少|^(?:what|why|how|when|where|who|which|is|are|do|does|did|can|could)\b",
    re.IGNORECASE,
)


def understand_message(text: str) -> Understood:
    """The intent of the message; after small talk, that of its first question that is none."""
    understood = understand(text)
    if understood.intent != "small_talk":
        return understood
    asked = map(understand, list_questions(text))
    return next((each for each in asked if each.intent != "small_talk"), understood)


def choose_purpose(message: str, intent: Intent) -> Purpose:
    """Why evidence is looked for; it sets the defaults of the search."""
    if intent == "small_talk":
        return "other"
    for purpose, pattern in _PURPOSES:
        if pattern.search(message[:1000]):
            return purpose
    asks = intent in ("knowledge_qa", "preference_check", "recommend") or _QUESTION.search(message[:1000])
    return "qa" if asks else "other"


_TOPICS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (r"穿|衣|裤|裙|鞋|搭配|外套|毛衣|衬衫|包包|造型|\b(?:wear|outfit|dress|clothes|clothing|shoes|jacket|shirt|style)\b", ("用户穿衣偏好", "最近风格 最近喜欢的风格", "体型/场景/季节 偏好"), ("clothing preferences", "favourite style lately", "body size occasion season")),
    (r"吃|喝|菜|餐|饭|食|饮|火锅|咖啡|奶茶|外卖|做饭|\b(?:eat|food|dinner|lunch|breakfast|restaurant|cook|recipe|meal|drink|cafe|coffee|snack)\b", ("用户饮食偏好 口味", "过敏 忌口 不吃", "最近吃过 喜欢的餐厅"), ("food preferences taste", "allergy diet dislikes", "favourite restaurant recently ate")),
    (r"旅|游|去哪|玩|景点|酒店|机票|度假|周末|\b(?:travel|trip|visit|vacation|holiday|hotel|flight|weekend|destination|getaway)\b", ("用户旅行偏好", "去过的地方 计划去", "预算 同行的人 时间"), ("travel preferences", "places visited planned trip", "budget companions dates")),
    (r"电影|剧|综艺|动漫|看什么|片|\b(?:movie|film|show|series|watch|anime|netflix)\b", ("喜欢的电影 影视偏好", "最近看过的"), ("favourite movies shows", "recently watched")),
    (r"书|读|小说|\b(?:book|novel|read|author)\b", ("阅读偏好 喜欢的书", "最近读的书"), ("favourite books reading", "recently read")),
    (r"歌|音乐|乐队|听|\b(?:music|song|band|playlist|listen|concert)\b", ("音乐偏好 喜欢的歌手",), ("favourite music bands",)),
    (r"礼物|送(?:礼|给|什么)|生日|纪念日|\b(?:gift|present|birthday|anniversary)\b", ("家人 朋友 关系", "生日 纪念日 喜好", "预算"), ("family friends relationship", "birthday likes hobbies", "budget")),
    (r"运动|健身|跑步|减肥|锻炼|瑜伽|\b(?:exercise|workout|gym|running|fitness|yoga|sport)\b", ("运动习惯 健身目标", "身体状况 伤病"), ("exercise habits fitness goals", "health injuries")),
    (r"学习|课程|考试|语言|\b(?:study|learn|course|exam|language)\b", ("学习目标 进度", "学习方式偏好"), ("learning goals progress", "study preferences")),
    (r"买|手机|电脑|耳机|相机|数码|价格|预算|\b(?:buy|purchase|laptop|phone|camera|headphones|product|shop)\b", ("购买记录 用过的产品", "品牌偏好 预算"), ("past purchases products owned", "brand preferences budget")),
    (r"工作|项目|会议|代码|部署|任务|\b(?:work|project|meeting|code|deploy|task|repo)\b", ("当前项目 目标 任务", "技术栈 工具偏好"), ("current project goals tasks", "tech stack tool preferences")),
)  # fmt: skip
MOST_TOPICS = 4
_COMPILED = [(to_pattern(pattern, re.IGNORECASE), zh, en) for pattern, zh, en in _TOPICS]


def list_topic_questions(message: str, language: Language) -> list[str]:
    """Additional questions to memory for the topics of the message."""
    questions: list[str] = []
    for pattern, zh, en in _COMPILED:
        if pattern.search(message):
            questions += zh if language == "zh" else en
    return list(dict.fromkeys(questions))[:MOST_TOPICS]


_NAME = r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)?"
_REPO = to_pattern(
    rf"(?P<a>{_NAME})[\s'’s]*(?:仓库|代码库|\b(?:git )?repo(?:sitory)?\b|\bcodebase\b)|(?:仓库|代码库|\brepo(?:sitory)?)\s*[:：]?\s*(?P<b>{_NAME})(?![\w.-])|\b(?:github|gitlab|gitee)\.com/(?P<c>[\w.-]+/[\w.-]+)",
    re.IGNORECASE,
)
_PROJECT = to_pattern(
    rf"(?P<a>{_NAME})\s*(?:项目|工程|\bproject\b)|(?:\bproject\s+|项目\s*[:：「“]\s*)(?P<b>{_NAME})|[「“《](?P<c>[^「」“”《》\n]{{2,20}})[」”》]\s*(?:项目|工程)|(?:[在把给对从跟和的，,、]|^)(?P<d>[\u4e00-\u9fff]{{2,4}})(?:项目|工程)(?!经理|管理|进度|组)",
    re.IGNORECASE,
)
_FILE = to_pattern(
    r"(?<![\w/@.-])(?P<a>[\w./-]*[\w-]\.(?:py|md|ts|tsx|js|jsx|rb|go|rs|java|kt|c|h|cpp|cs|sql|sh|ya?ml|json|toml|ini|txt|csv|docx?|xlsx?|pptx?|pdf|html?|css|ipynb|proto|lock|env))\b",
    re.IGNORECASE,
)
_NOT_NAMES = frozenset(
    "the this that our my your a an new old same other which what whose any each every in on of for from to git github current"
    " last next first second side open source monorepo whole main pet school it its their his her and or with".split()
)  # fmt: skip
_NOT_HAN = frozenset("这个 那个 哪个 当前 我们 上个 下个 新的 旧的 其他 什么 一个 整个 本期 这些 那些 所有 每个 你们 他们 多个".split())  # fmt: skip
KINDS = (("repo", _REPO), ("project", _PROJECT), ("file", _FILE))


def find_projects(text: str) -> dict[str, list[str]]:
    """The repositories, projects and files that the text names, by kind."""
    by_kind: dict[str, list[str]] = {}
    for kind, pattern in KINDS:
        named = [name for match in pattern.finditer(text[:2000]) for name in match.groupdict().values() if name]
        projects_named = dict.fromkeys(
            name.rstrip(".-") for name in named if name.lower() not in _NOT_NAMES and name not in _NOT_HAN
        )
        if projects_named:
            by_kind[kind] = list(projects_named)
    return by_kind


MIN_CHARS = 5
"""The least length of a word for trigrams: most words similar to `tea` are other words."""
MOST_DOUBTFUL = 3
LIKENESS = 0.45
"""The least share of common trigrams (pg_trgm); one missing or swapped letter in a word of seven keeps about half."""
ENOUGH = 2
"""With so many known words, unknown ones are not needed."""

_MARKED = to_pattern(r"(?<=[^.!?。！？\s]\s)[A-Z][^\W_]+|\b\w*(?:[A-Z]\w*[a-z]\w*[A-Z]|[a-z]\d|_)\w*")


def list_doubtful_terms(text: str, terms: Sequence[str], indexed: Collection[str]) -> list[str]:
    """At most three terms that memory does not have and that may be spelt differently there."""
    unknown = [t for t in terms if t not in indexed and len(t) >= MIN_CHARS and t.isascii() and t[0].isalpha()]
    if not unknown:
        return []
    if sum(t in indexed for t in terms) >= ENOUGH:
        marked = " ".join(_MARKED.findall(text)).lower()
        unknown = [t for t in unknown if t[:MIN_CHARS] in marked]
    return unknown[:MOST_DOUBTFUL]


MOST_RESPELT = 3
"""The most additional spellings of a question."""
Pair = tuple[str, str]


def list_respellings(text: str, joined: Iterable[Pair]) -> list[str]:
    """The text with each other name of the same thing; empty if it has both."""
    pairs = list(joined)
    questions: dict[str, None] = {}
    for name in dict.fromkeys(each for pair in pairs for each in pair):
        if not has_word(text, name):
            continue
        for other in _list_other_names(name, pairs):
            if not has_word(text, other):
                questions.setdefault(re.sub(re.escape(name), lambda _, new=other: new, text, flags=re.IGNORECASE))
    return list(questions)[:MOST_RESPELT]


def _list_other_names(name: str, pairs: list[Pair]) -> list[str]:
    """The other names of this one, also indirect ones."""
    spellings = [name]
    for one in spellings:
        beside = [b if a.lower() == one.lower() else a for a, b in pairs if one.lower() in (a.lower(), b.lower())]
        spellings += [each for each in dict.fromkeys(beside) if each.lower() not in {k.lower() for k in spellings}]
    return spellings[1:]


_ELLIPTIC = to_pattern(
    r"^(?:那|这|它|他|她|继续|接着|然后|还有|为什么|怎么|呢|嗯|对|and|then|so|why|how about|what about|continue|go on|it|that"
    r"|this|he|she|they|more)\b|^(?:那|这|它|他|她|继续|接着|然后|还有|为什么)|呢[?？]?$|\b(?:it|that|this|them|there|he|she|him|her)\b|这个|那个|那里|它们?|他们?|她们?",
    re.IGNORECASE,
)


def points_back(text: str) -> bool:
    """Whether a short message refers to something named before it."""
    return len(text) <= 60 and _ELLIPTIC.search(text) is not None
