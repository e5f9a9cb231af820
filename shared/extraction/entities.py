"""Finds entities in both languages, second names of one entity, and the entities that pass the gate to memory."""

# ruff: noqa: E501 - one family of words per line

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from schemas.vocabulary import EntityKind
from shared.extraction.keys import fold, slug
from shared.extraction.model import Mention, MessageText
from shared.language.patterns import to_pattern
from shared.language.segment import tag_words
from shared.secrets import PLACEHOLDERS

URL = to_pattern(r"https?://[^\s<>\"'，。；、（）()\u3400-\u9fff]+|\bwww\.[^\s<>\"'，。；、（）()\u3400-\u9fff]+")
REPO = to_pattern(r"(?<![\w/.@-])(?P<repo>[A-Za-z0-9][A-Za-z0-9-]{1,38}/[A-Za-z0-9][A-Za-z0-9._-]{1,60})(?![\w/])")
PATH = to_pattern(
    r"(?<![\w:/.])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]+\.?[\w]*|(?<![\w/])[\w-]+(?:/[\w.-]+)+\.[A-Za-z]{"
    r"1,6}\b|(?<![\w/.@])[\w-]+\.(?:py|rs|go|js|ts|tsx|jsx|java|kt|rb|cpp|cc|hpp|cs|php|sql|"
    r"md|txt|pdf|docx?|xlsx?|pptx?|csv|json|ya?ml|toml|ini|cfg|sh|html|css|ipynb|log|zip|tar\.gz"
    r"|png|jpe?g|svg|lock)\b"
)
NOT_REPO = to_pattern(
    (
        r"^(?:and/or|he/she|she/he|his/her|him/her|w/o|i/o|tcp/ip|ci/cd|a/b|n/a|yes/no|on/off|read/write"
        r"|input/output|client/server|true/false|either/or|km/h|24/7|\d+/\d+|application/\w+|text/\w+"
        r"|image/\w+|pros/cons|us/them|am/pm|ui/ux|tabs/spaces|win/win|\d[\w.]*/.*)$"
    ),
    re.I,
)
TICKET = to_pattern(r"(?<![A-Za-z0-9_/-])[A-Z][A-Z0-9]{1,9}-\d{1,7}(?![\w-])")
NOT_TICKET = to_pattern(r"(?:UTF|SHA|ISO|RFC|GPT|COVID|HTTP|MP|USB|AES|RSA|MD|UTC|GMT|IP|PS|CVE|ES|TLS|EN|IEEE)-\d")
_NAME_WORD = r"(?:[A-Z][A-Za-z0-9]*|[a-z]{1,3}[A-Z][A-Za-z0-9]+)"
CAPITAL = to_pattern(
    rf"(?<![A-Za-z0-9_.@/'-]){_NAME_WORD}(?:'s(?![a-z]))?(?:(?:[ ](?:of|the|de|van)(?=[ ][A-Z]))?[ ]"
    rf"(?:{_NAME_WORD}|\d{{1,4}}(?![\d%$:.,-]))(?![A-Za-z0-9_@/]))*(?![A-Za-z0-9_@/]|-\d)",
    re.A,
)
_CALENDAR_WORDS = """
monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
sundays january february march april may june july august september october november december jan feb mar apr jun jul
aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun am pm utc gmt christmas easter halloween
thanksgiving q1 q2 q3 q4 spring summer autumn winter
"""
CALENDAR = frozenset(_CALENDAR_WORDS.split())
ORG_ENDS = frozenset("司团行学院校技所会局部社室动巴讯度为米美东多易滴软歌")
NO_NAME_ZH = to_pattern(
    r"[的了是在不]|^[喝吃看买去做听说想要玩学写打洗喂]|[茶酒饭菜汤面粉店路街镇村山河湖江桥楼房车船油米糕糖鱼肉果花草树色天月日年]$"
)
_COMMON_WORDS = """
i i'm i'd i'll i've the a an and but so if it this that these those he she they we you my your our his her their what
who when where why how which yes no ok okay please thanks thank hello hi hey dear sorry sure great good also then now
today tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday january february march april may
june july august september october november december todo fyi asap btw imo llm ai api url http https json html css sql
pdf ui ux id ok tv pm am us faq etc can could would should do does did is are was were has have had let's let not for
in on at to from by with as of one two there here maybe just well oh wow actually remember note mr mrs ms dr error
warning info true false none null
"""
COMMON = frozenset(_COMMON_WORDS.split())
PRODUCTS = to_pattern(
    (
        r"^(?:iphone|ipad|macbook|android|windows|linux|macos|ios|ubuntu|python|rust|java\w*|typescript"
        r"|golang|kotlin|swift|react|vue|svelte|django|flask|fastapi|postgres\w*|mysql|redis|kafka"
        r"|docker|kubernetes|k8s|vim|neovim|emacs|vs ?code|vscode|pycharm|notion|slack|obsidian|"
        r"chrome|firefox|safari|figma|jira|github|gitlab|chatgpt|gpt-?\d.*|claude|gemini|tesla|excel"
        r"|word|powerpoint|photoshop|terraform|ansible|grafana|prometheus|elasticsearch|mongodb|"
        r"sqlite|rabbitmq|nginx|airpods|kindle|switch|playstation|xbox|wechat|whatsapp|telegram|"
        r"zoom|netflix|spotify|pytorch|tensorflow)$"
    ),
    re.I,
)
ORG = to_pattern(
    (
        r"(?:公司|集团|银行|大学|学院|医院|学校|科技|研究院|事务所|基金会|协会|局|部|出版社|工作室)$"
        r"|\b(?:Inc|Corp|Ltd|LLC|GmbH|University|College|Institute|Bank|Hospital|School|Labs?|Company"
        r"|Foundation|Group|Technologies|Studio|Club|Association)\.?$|^(?:google|microsoft|apple"
        r"|amazon|meta|openai|anthropic|netflix|nvidia|tesla|ibm|intel|oracle|alibaba|tencent|bytedance"
        r"|baidu|huawei|xiaomi|samsung|sony|stripe|airbnb|uber|twitter|facebook|linkedin|salesforce"
        r"|adobe|spotify|字节跳动|阿里巴巴|腾讯|百度|华为|小米|美团|京东|拼多多|网易|滴滴|苹果公司"
        r"|微软|谷歌)$"
    ),
    re.I,
)
_PLACES_WORDS = """
berlin paris london tokyo beijing shanghai shenzhen guangzhou hangzhou chengdu wuhan nanjing suzhou xi'an singapore
seoul sydney melbourne toronto vancouver montreal boston chicago seattle austin denver portland dallas houston miami
atlanta madrid barcelona rome milan lisbon amsterdam brussels vienna zurich geneva prague warsaw budapest munich
hamburg frankfurt stockholm oslo copenhagen helsinki dublin edinburgh manchester istanbul dubai mumbai delhi bangalore
bangkok jakarta manila hanoi kyoto osaka taipei moscow cairo nairobi lagos china japan korea india germany france
spain italy portugal england scotland ireland canada mexico brazil argentina australia sweden norway denmark finland
poland austria switzerland netherlands belgium greece turkey russia thailand vietnam indonesia malaysia philippines
egypt kenya nigeria europe asia africa america california texas florida oregon colorado
"""
_LONG_PLACES = (
    "new york, san francisco, los angeles, hong kong, new zealand, south korea, united states, united kingdom, san "
    "diego, las vegas, washington dc, new york city, cape town, tel aviv"
)
PLACES = frozenset((*_PLACES_WORDS.split(), *_LONG_PLACES.split(", ")))
PERSON_BEFORE = to_pattern(
    (
        r"(?:\b(?:my|with|and|named|called|friend|wife|husband|brother|sister|boss|colleague|mr|"
        r"mrs|ms|dr|prof|from|by|to|told|asked|met|saw|call|email|is)\.?\s+)$"
    ),
    re.I,
)
PERSON_AFTER = to_pattern(
    r"^(?:'s\b|\s+(?:said|says|told|thinks|likes|loves|asked|wants|works|lives|called|texted"
    r"|emailed|and I|is my|was|has|went|came|will|from)\b)"
)
NAME = to_pattern(r"^[A-Z][a-z]{1,14}(?:\s[A-Z][a-z]{1,14}){0,2}$")
ZH_KINDS: dict[str, EntityKind] = {"nr": "person", "nrfg": "person", "nrt": "person", "ns": "place", "nt": "org"}
_NOT_PERSON_ZH_WORDS = """
小明天 高兴 明白 安静 文件 和平 高峰 金额 温馨 阳光 小时 小时候 老师 白天 全部 易 毛 强 明 方 华 高 于 曾 和 平 祝 安
石 水 江 海 雷 简 封 应该 莫 时 宁 关 单 成 任 乐 那 常 应 苗 花 方便 舒服 慢慢 周末 周五 周三 周一 周二 周四 周六
周日 周年 安卓 香菜 小米 马上 白色 黄色 简约 单身 连衣裙 金毛 通常 尤其 高铁 顾客 甘蓝 杜绝 任务 张 双 尽量 浅色 深色
方案 高级 宝马 奔驰 龙虾 苏打 马拉松 温和 严重 易用 项目 安排 纪要 季度
"""
NOT_PERSON_ZH = frozenset(_NOT_PERSON_ZH_WORDS.split())
STRUCTURAL = frozenset(("url", "repo", "file"))


_BLANKED = to_pattern("|".join(re.escape(each) for each in sorted(PLACEHOLDERS)))
"""A placeholder of a secret is no name."""
_OF_REPOS = to_pattern(r"repo|仓库|代码库|github|gitlab|项目|branch|分支|issue|\bPR\b|clone|fork", re.I)
_BEFORE = 80
"""A name within so many characters may be the first word of its sentence."""
_Add = Callable[[str, EntityKind, str, tuple[int, int]], None]


def find_mentions(message: MessageText) -> list[Mention]:
    """All mentions of entities in the message, the longest match first, without overlaps."""
    text, named = message.text, list[Mention]()
    taken = [match.span() for match in _BLANKED.finditer(text)]

    def add(name: str, kind: EntityKind, canonical: str, span: tuple[int, int]) -> None:
        at = bisect_left(taken, span)
        free = (at == 0 or taken[at - 1][1] <= span[0]) and (at == len(taken) or taken[at][0] >= span[1])
        if canonical and free:
            taken.insert(at, span)
            named.append(Mention(name, kind, canonical, span, message.ordinal))

    for match in URL.finditer(text):
        name = match.group().rstrip(".,;:!?)")
        repo = re.match(r"https?://(?:www\.)?(?:github|gitlab|gitee)\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?$", name)
        span = (match.start(), match.start() + len(name))
        add(name, "repo" if repo else "url", (repo[1] if repo else re.sub(r"/$", "", name)).lower(), span)
    if "/" in text or "." in text:
        _add_paths(text, add)
    if re.search(r"[\u3400-\u9fff]", text):
        _add_chinese(text, add)
    _add_english(text, add)
    return sorted(named, key=lambda one: one.span)


def _add_paths(text: str, add: _Add) -> None:
    for match in PATH.finditer(text):
        name = match.group().rstrip(".")
        if len(name) > 3 and not re.fullmatch(r"[\d/.]+", name) and not re.fullmatch(r"/[A-Za-z]{1,12}", name):
            add(
                name, "file", name.lower() if name.isascii() else fold(name), (match.start(), match.start() + len(name))
            )
    of_repos = _OF_REPOS.search(text) is not None
    for match in REPO.finditer(text):
        name = match["repo"].rstrip(".")
        if not NOT_REPO.match(name) and (
            re.search(r"[-_.\d]", name) or of_repos or name == "org/repo" or (len(text) < 80 and name.islower())
        ):
            add(name, "repo", name.lower(), (match.start(), match.start() + len(name)))


def _add_chinese(text: str, add: _Add) -> None:
    position = 0
    for word, tag in tag_words(text):
        at, position = position, position + len(word)
        kind = ZH_KINDS.get(tag)
        if len(word) > 2 and word[-1] in ORG_ENDS and ORG.search(word):
            kind = "org"
        if kind is None or len(word) < 2 or word in NOT_PERSON_ZH or word[0] < "\u3400":
            continue
        if kind == "person" and (len(word) > 4 or NO_NAME_ZH.search(word)):
            continue
        add(word, kind, fold(word), (at, position))


def _add_english(text: str, add: _Add) -> None:
    for match in TICKET.finditer(text):
        if not NOT_TICKET.match(match.group()):
            add(match.group(), "other", match.group().lower(), match.span())
    for match in CAPITAL.finditer(text):
        words_said = match.group().removesuffix("'s")
        parts = words_said.split()
        while parts and (parts[0].lower() in COMMON or parts[0].lower() in CALENDAR):
            parts = parts[1:]
        while parts and (parts[-1].lower() in CALENDAR or _is_loose(parts)):
            parts = parts[:-1]
        if not parts:
            continue
        shown = " ".join(parts)
        start = match.start() + words_said.index(parts[0])
        if (len(shown) < 3 and shown.upper() != "C#") or shown.lower() in COMMON or "  " in words_said:
            continue
        kind = _choose_kind(shown, text[max(0, start - 16) : start], text[start + len(shown) : start + len(shown) + 16])
        before = text[max(0, start - _BEFORE) : start].rstrip()
        first = not before or before[-1] in ".!?。！？\n:：*-(（\"'“"
        if kind == "other" and first and len(parts) == 1 and not re.search(r"[A-Za-z].*[A-Z]|\d", shown):
            continue
        add(shown, kind, fold(shown), (start, start + len(shown)))


def _is_loose(parts: list[str]) -> bool:
    """Whether the last part is a number outside the name: of a day, a time, a count."""
    return parts[-1].isdigit() and (len(parts) == 1 or parts[-2].lower() in CALENDAR or parts[-2].isdigit())


def _choose_kind(name: str, before: str, after: str) -> EntityKind:
    if PRODUCTS.match(name):
        return "product"
    if ORG.search(name):
        return "org"
    if name.lower() in PLACES:
        return "place"
    if NAME.match(name) and (PERSON_BEFORE.search(before) or PERSON_AFTER.match(after)):
        return "person"
    return "other"


def admit_mentions(
    candidates: Iterable[Mention],
    recent: Mapping[str, int],
    known_names: Collection[str],
    wanted: Iterable[tuple[int, int, int, str]],
    least: int,
) -> list[tuple[Mention, str]]:
    """The mentions that pass the gate, each canonical name once with its reason; a message counts once.

    A name in `known` has passed by its number already, and does not again.
    `wanted` holds ordinal, start, end and reason of stretches (a task, a decision, a remember) whose names always pass.
    """
    stretches = tuple(wanted)
    passed: dict[str, tuple[Mention, str]] = {}
    named: dict[str, set[int]] = {}
    for mention in candidates:
        named.setdefault(mention.canonical, set()).add(mention.message_ordinal)
        if mention.canonical in passed:
            continue
        total = len(named[mention.canonical]) + recent.get(mention.canonical, 0)
        reason = next(
            (
                why
                for ordinal, start, end, why in stretches
                if ordinal == mention.message_ordinal and start <= mention.span[0] < end
            ),
            None,
        )
        if mention.kind in STRUCTURAL:
            passed[mention.canonical] = (mention, "structural signal")
        elif reason:
            passed[mention.canonical] = (mention, reason)
        elif total >= least and mention.canonical not in known_names:
            passed[mention.canonical] = (mention, f"{total} mentions")
    return list(passed.values())


def to_entity_key(mention: Mention) -> str:
    """The key of the mentioned entity."""
    name = mention.canonical if mention.kind in STRUCTURAL else slug(mention.canonical)
    return f"entity:{mention.kind}:{name[:120]}"


MAY = to_pattern(r"[叫喊名号称][^。]|[（(]|\bcalls?\b|known as|\bgoes by\b|\ba\.?k\.?a\b|nicknamed|\bshort for\b")
"""A text without any of these gives no second name."""
_NAME = r"(?-i:[A-Z][\w'’-]*[a-z](?: [A-Z][\w'’-]*[a-z]){0,2})"
_END = r"(?=[\s，。,.;；:：！!?？）)”\"的]|$)"
_ZH_NAME = r"[\u4e00-\u9fff]{2,3}?"
_BESIDE_ZH = to_pattern(
    rf"[，,、\s]*(?:不过|但|其实)?(?:大家|我们|别人|同事们?|朋友们?|同学们?|家里人?|人家|所有人)?(?:都|一般|平时|通常|习惯|私下)*(?:叫|喊|称呼?|管)(?:他|她|它|ta)(?:作|做|叫)?\s*(?P<b>{_ZH_NAME}|{_NAME}){_END}"
    rf"|[，,、\s]*(?:他|她)?的?(?:又叫做?|也叫|小名|外号|绰号|昵称|花名|英文名字?|中文名字?)(?:是|叫|：|:)?\s*(?P<b2>{_ZH_NAME}|{_NAME}){_END}",
    re.I,
)
_BESIDE_EN = to_pattern(
    rf",? (?:but |and |though |who |whom )?(?:(?:everyone|everybody|we|people|folks|(?:my |our |his |her )?(?:friends|colleagues|family)|they|most people|the (?:whole )?team)(?: all| just| usually| always)? calls? (?:him |her |them )?|(?:is |was )?(?:also |better |usually )?(?:known as |nicknamed |a\.?k\.?a\.? )|goes by )(?P<b>{_NAME}){_END}",
    re.I,
)
_IN_BRACKETS = to_pattern(
    rf"\s?[（(](?:英文名|也叫|又叫|又名|中文名|aka |a\.k\.a\. |also |or )?\s*(?P<b>{_NAME}|[\u4e00-\u9fff]{{2,4}})[）)]",
    re.I,
)
_LAST_NAME = to_pattern(rf"{_NAME}$")
_LAST_HAN = to_pattern(r"[\u4e00-\u9fff]$")


def join_names_of_one(message: MessageText, found: Iterable[Mention]) -> list[Mention]:
    """The mentions, with the second names that the message gives to some of them."""
    mentions = list(found)
    if not MAY.search(message.text):
        return mentions
    for form in (_BESIDE_ZH, _BESIDE_EN, _IN_BRACKETS):
        for match in form.finditer(message.text):
            name = "b" if match["b"] else "b2"
            first = _find_mention_before(message, mentions, match.start())
            if first and _may_join(first.name, match[name], bracketed=form is _IN_BRACKETS):
                mentions = join_names(mentions, first, _make_mention(message, match[name], match.span(name)))
    return sorted(mentions, key=lambda one: one.span)


def _find_mention_before(message: MessageText, mentions: Iterable[Mention], end: int) -> Mention | None:
    """The mention right before this place, or else a name with capital letters there."""
    named = [each for each in mentions if each.span[1] == end]
    if named:
        return max(named, key=lambda each: each.span[1] - each.span[0])
    match = _LAST_NAME.search(message.text[max(0, end - 60) : end])
    if match is None:
        return None
    parts = match.group().split()
    while parts and parts[0].lower() in COMMON:
        parts = parts[1:]
    name = " ".join(parts)
    return _make_mention(message, name, (end - len(name), end)) if name else None


def _make_mention(message: MessageText, name: str, span: tuple[int, int]) -> Mention:
    return Mention(name, "person", fold(name), span, message.ordinal)


def _may_join(one: str, other: str, *, bracketed: bool) -> bool:
    """Whether both names may mean one entity; names in brackets must be in the other script."""
    if fold(one) == fold(other) or other.lower() in COMMON or PRODUCTS.match(other) or ORG.search(other):
        return False
    return not bracketed or bool(_LAST_HAN.search(one)) != bool(_LAST_HAN.search(other))


def join_names(mentions: list[Mention], first: Mention, other: Mention) -> list[Mention]:
    kept = [each for each in mentions if each.span not in (first.span, other.span)]
    known = next((each for each in mentions if each.span == other.span), other)
    return [*kept, replace(first, same_as=other.name), known]
