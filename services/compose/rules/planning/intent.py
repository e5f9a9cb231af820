"""What the user wants from this turn, and why evidence is looked for (seeds 001 and 004 section 2)."""

# ruff: noqa: E501 - one family of cues per line

import re

from schemas.vocabulary import Intent, Purpose
from services.compose.rules.planning.parts import list_questions
from shared.extraction.intent import Understood, understand
from shared.language.patterns import to_pattern

__all__ = ["purpose_of", "understand", "understand_message"]

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
    """What the message wants; behind small talk, what the first of its questions wants that is none."""
    found = understand(text)
    if found.intent != "small_talk":
        return found
    asked = map(understand, list_questions(text))
    return next((each for each in asked if each.intent != "small_talk"), found)


def purpose_of(message: str, intent: Intent) -> Purpose:
    """Why evidence is looked for; decides the executor's defaults (seed 001 section 2)."""
    if intent == "small_talk":
        return "other"
    for purpose, pattern in _PURPOSES:
        if pattern.search(message[:1000]):
            return purpose
    asks = intent in ("knowledge_qa", "preference_check", "recommend") or _QUESTION.search(message[:1000])
    return "qa" if asks else "other"
