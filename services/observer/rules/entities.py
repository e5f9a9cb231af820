"""Named things in both languages, and the gate that lets one become memory (docs: entity gate)."""

import re
from collections.abc import Iterable, Mapping

import rjieba

from schemas.vocabulary import EntityKind
from services.observer.rules.keys import fold, slug
from services.observer.rules.model import Mention, MessageText

_URL = re.compile(r"https?://[^\s<>\"'，。；、（）()\u3400-\u9fff]+|\bwww\.[^\s<>\"'，。；、（）()\u3400-\u9fff]+")
_REPO = re.compile(r"(?<![\w/.@-])(?P<repo>[A-Za-z0-9][A-Za-z0-9-]{1,38}/[A-Za-z0-9][A-Za-z0-9._-]{1,60})(?![\w/])")
_PATH = re.compile(r"(?<![\w:/.])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]+\.?[\w]*|(?<![\w/])[\w-]+(?:/[\w.-]+)+\.[A-Za-z]{1,6}\b|(?<![\w/.@])[\w-]+\.(?:py|rs|go|js|ts|tsx|jsx|java|kt|rb|cpp|cc|hpp|cs|php|sql|md|txt|pdf|docx?|xlsx?|pptx?|csv|json|ya?ml|toml|ini|cfg|sh|html|css|ipynb|log|zip|tar\.gz|png|jpe?g|svg|lock)\b")
_NOT_REPO = re.compile(r"^(?:and/or|he/she|she/he|his/her|him/her|w/o|i/o|tcp/ip|ci/cd|a/b|n/a|yes/no|on/off|read/write|input/output|client/server|true/false|either/or|km/h|24/7|\d+/\d+|application/\w+|text/\w+|image/\w+|pros/cons|us/them|am/pm|ui/ux|tabs/spaces|win/win|\d[\w.]*/.*)$", re.I)
_CAPITAL = re.compile(r"\b(?:[A-Z][a-z]+(?:'s)?|[A-Z]{2,}[A-Za-z0-9]*|[A-Z][a-z]*[A-Z]\w*)(?:(?:\s+(?:of|the|de|van|and)(?=\s+[A-Z]))?\s+(?:[A-Z][a-z]+|[A-Z]{2,}[A-Za-z0-9]*|[A-Z][a-z]*[A-Z]\w*|\d{1,4}(?![\d%$])))*")
_COMMON = frozenset("i i'm i'd i'll i've the a an and but so if it this that these those he she they we you my your our his her their what who when where why how which yes no ok okay please thanks thank hello hi hey dear sorry sure great good also then now today tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december todo fyi asap btw imo llm ai api url http https json html css sql pdf ui ux id ok tv pm am us faq etc can could would should do does did is are was were has have had let's let not for in on at to from by with as of one two there here maybe just well oh wow actually remember note mr mrs ms dr error warning info true false none null".split())
_PRODUCTS = re.compile(r"^(?:iphone|ipad|macbook|android|windows|linux|macos|ios|ubuntu|python|rust|java\w*|typescript|golang|kotlin|swift|react|vue|svelte|django|flask|fastapi|postgres\w*|mysql|redis|kafka|docker|kubernetes|k8s|vim|neovim|emacs|vs ?code|vscode|pycharm|notion|slack|obsidian|chrome|firefox|safari|figma|jira|github|gitlab|chatgpt|gpt-?\d.*|claude|gemini|tesla|excel|word|powerpoint|photoshop|terraform|ansible|grafana|prometheus|elasticsearch|mongodb|sqlite|rabbitmq|nginx|airpods|kindle|switch|playstation|xbox|wechat|whatsapp|telegram|zoom|netflix|spotify|pytorch|tensorflow)$", re.I)
_ORG = re.compile(r"(?:公司|集团|银行|大学|学院|医院|学校|科技|研究院|事务所|基金会|协会|局|部|出版社|工作室)$|\b(?:Inc|Corp|Ltd|LLC|GmbH|University|College|Institute|Bank|Hospital|School|Labs?|Company|Foundation|Group|Technologies|Studio|Club|Association)\.?$|^(?:google|microsoft|apple|amazon|meta|openai|anthropic|netflix|nvidia|tesla|ibm|intel|oracle|alibaba|tencent|bytedance|baidu|huawei|xiaomi|samsung|sony|stripe|airbnb|uber|twitter|facebook|linkedin|salesforce|adobe|spotify|字节跳动|阿里巴巴|腾讯|百度|华为|小米|美团|京东|拼多多|网易|滴滴|苹果公司|微软|谷歌)$", re.I)
_PLACES = frozenset("berlin paris london tokyo beijing shanghai shenzhen guangzhou hangzhou chengdu wuhan nanjing suzhou xi'an singapore seoul sydney melbourne toronto vancouver montreal boston chicago seattle austin denver portland dallas houston miami atlanta madrid barcelona rome milan lisbon amsterdam brussels vienna zurich geneva prague warsaw budapest munich hamburg frankfurt stockholm oslo copenhagen helsinki dublin edinburgh manchester istanbul dubai mumbai delhi bangalore bangkok jakarta manila hanoi kyoto osaka taipei moscow cairo nairobi lagos china japan korea india germany france spain italy portugal england scotland ireland canada mexico brazil argentina australia sweden norway denmark finland poland austria switzerland netherlands belgium greece turkey russia thailand vietnam indonesia malaysia philippines egypt kenya nigeria europe asia africa america california texas florida oregon colorado".split()) | {"new york", "san francisco", "los angeles", "hong kong", "new zealand", "south korea", "united states", "united kingdom", "san diego", "las vegas", "washington dc", "new york city", "cape town", "tel aviv"}
_PERSON_BEFORE = re.compile(r"(?:\b(?:my|with|and|named|called|friend|wife|husband|brother|sister|boss|colleague|mr|mrs|ms|dr|prof|from|by|to|told|asked|met|saw|call|email|is)\.?\s+)$", re.I)
_PERSON_AFTER = re.compile(r"^(?:'s\b|\s+(?:said|says|told|thinks|likes|loves|asked|wants|works|lives|called|texted|emailed|and I|is my|was|has|went|came|will|from)\b)")
_NAME = re.compile(r"^[A-Z][a-z]{1,14}(?:\s[A-Z][a-z]{1,14}){0,2}$")
_ZH_KINDS: dict[str, EntityKind] = {"nr": "person", "nrfg": "person", "nrt": "person", "ns": "place", "nt": "org"}
_NOT_PERSON_ZH = frozenset("小明天 高兴 明白 安静 文件 和平 高峰 金额 温馨 阳光 小时 小时候 老师 白天 全部 易 毛 强 明 方 华 高 于 曾 和 平 祝 安 石 水 江 海 雷 简 封 应该 莫 时 宁 关 单 成 任 乐 那 常 应 苗 花 方便 舒服 慢慢 周末 周五 周三 周一 周二 周四 周六 周日 周年 安卓 香菜 小米 马上 白色 黄色 简约 单身 连衣裙 金毛 通常 尤其 高铁 顾客 甘蓝 杜绝 任务 张 双 尽量 浅色 深色 方案 高级 宝马 奔驰 龙虾 苏打 马拉松 温和 严重 易用 项目 安排 纪要 季度".split())
_STRUCTURAL = frozenset(("url", "repo", "file"))


def mentions(message: MessageText) -> list[Mention]:
    """Every named thing of the message, longest reading first, none inside another."""
    text, found = message.text, list[Mention]()
    taken: list[tuple[int, int]] = []

    def add(name: str, kind: EntityKind, canonical: str, span: tuple[int, int]) -> None:
        if canonical and all(span[1] <= start or span[0] >= end for start, end in taken):
            taken.append(span)
            found.append(Mention(name, kind, canonical, span, message.ordinal))

    for match in _URL.finditer(text):
        name = match.group().rstrip(".,;:!?)")
        repo = re.match(r"https?://(?:www\.)?(?:github|gitlab|gitee)\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?$", name)
        span = (match.start(), match.start() + len(name))
        add(name, "repo" if repo else "url", (repo[1] if repo else re.sub(r"/$", "", name)).lower(), span)
    if "/" in text or "." in text:
        _add_paths(text, add)
    if re.search(r"[\u3400-\u9fff]", text):
        _add_chinese(text, add)
    _add_english(text, add)
    return sorted(found, key=lambda one: one.span)


def _add_paths(text: str, add: "_Add") -> None:
    for match in _PATH.finditer(text):
        name = match.group().rstrip(".")
        if len(name) > 3 and not re.fullmatch(r"[\d/.]+", name) and not re.fullmatch(r"/[A-Za-z]{1,12}", name):
            add(name, "file", name.lower() if name.isascii() else fold(name), (match.start(), match.start() + len(name)))
    for match in _REPO.finditer(text):
        name = match["repo"].rstrip(".")
        if not _NOT_REPO.match(name) and (re.search(r"[-_.\d]", name) or re.search(r"repo|仓库|代码库|github|gitlab|项目|branch|分支|issue|\bPR\b|clone|fork", text, re.I) or name == "org/repo" or len(text) < 80 and name.islower()):
            add(name, "repo", name.lower(), (match.start(), match.start() + len(name)))


def _add_chinese(text: str, add: "_Add") -> None:
    position = 0
    for word, tag in rjieba.tag(text):
        at = text.find(word, position)
        if at < 0:
            continue
        position = at + len(word)
        kind = _ZH_KINDS.get(tag)
        if _ORG.search(word) and len(word) > 2:
            kind = "org"
        if kind is None or len(word) < 2 or word in _NOT_PERSON_ZH or not re.search(r"[\u3400-\u9fff]", word):
            continue
        if kind == "person" and (len(word) > 4 or re.search(r"[的了是在不]", word)):
            continue
        add(word, kind, fold(word), (at, position))


def _add_english(text: str, add: "_Add") -> None:
    for match in _CAPITAL.finditer(text):
        name = re.sub(r"'s$", "", match.group())
        words = name.split()
        while words and words[0].lower() in _COMMON:
            words = words[1:]
        if not words:
            continue
        shown = " ".join(words)
        start = match.start() + match.group().index(words[0])
        kind = _kind(shown, text[max(0, start - 16) : start], text[start + len(shown) :][:16])
        before = text[:start].rstrip()
        first = not before or before[-1] in ".!?。！？\n:：*-"
        if kind == "other" and first and len(words) == 1 and not re.search(r"[A-Z].*[A-Z]|\d", shown):
            continue
        if len(shown) > 1 and shown.lower() not in _COMMON:
            add(shown, kind, fold(shown), (start, start + len(shown)))


def _kind(name: str, before: str, after: str) -> EntityKind:
    if _PRODUCTS.match(name):
        return "product"
    if _ORG.search(name):
        return "org"
    if name.lower() in _PLACES:
        return "place"
    if _NAME.match(name) and (_PERSON_BEFORE.search(before) or _PERSON_AFTER.match(after)):
        return "person"
    return "other"


class _Add:
    """The shape of the function that takes a mention."""

    def __call__(self, name: str, kind: EntityKind, canonical: str, span: tuple[int, int]) -> None: ...


def admitted(found: Iterable[Mention], recent: Mapping[str, int], wanted: Iterable[tuple[int, int, int, str]], least: int) -> list[tuple[Mention, str]]:
    """Mentions that pass the gate, each canonical name once, with the reason that let it pass.

    `wanted` holds ordinal, start, end and reason of stretches (a task, a decision, a remember) whose names always pass.
    """
    stretches = tuple(wanted)
    passed: dict[str, tuple[Mention, str]] = {}
    counts: dict[str, int] = {}
    for mention in found:
        counts[mention.canonical] = counts.get(mention.canonical, 0) + 1
        if mention.canonical in passed:
            continue
        total = counts[mention.canonical] + recent.get(mention.canonical, 0)
        reason = next((why for ordinal, start, end, why in stretches if ordinal == mention.message_ordinal and start <= mention.span[0] < end), None)
        if mention.kind in _STRUCTURAL:
            passed[mention.canonical] = (mention, "structural signal")
        elif reason:
            passed[mention.canonical] = (mention, reason)
        elif total >= least:
            passed[mention.canonical] = (mention, f"{total} mentions")
    return list(passed.values())


def key(mention: Mention) -> str:
    """The key of the entity that is mentioned."""
    name = mention.canonical if mention.kind in _STRUCTURAL else slug(mention.canonical)
    return f"entity:{mention.kind}:{name[:120]}"
