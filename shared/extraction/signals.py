"""Cheap signs that a detector may have something to find; a clause without the sign is not read further."""

import re

from shared.extraction.clauses import Clause
from shared.extraction.gates import gate
from shared.language.patterns import to_pattern

_TASTE = to_pattern(
    r"[喜爱厌恨烦怕嫌钟倾迷酷恶宁习素比用只]|受不了|接受|早睡|平时|兴趣|无感|上瘾|一直|一般|通常|总是|每天|每周|常年|长期|经常"
    r"|基本|天天|清真|手机|电脑|笔记本|编辑器|浏览器|主力|开发机|键盘|耳机|相机|终端|系统|生酮"
    r"|低碳|无麸|[不没少][\u4e00-\u9fff]?[吃喝抽碰沾穿看玩听]|prefer|like|lov|enjoy|ador|favou?r"
    r"|person|introvert|extrovert|owl|fan |fond|into"
    r"|keen|obsess|passion|crazy|rather|lean|hate|detest|loath|despis|stand|bear|avoid|abhor"
    r"|go-to|default|usual|main|primar"
    r"|hobb|interest|always|normally|typical|general|mostly|exclusiv|only|never|rarely|vegan"
    r"|veget|pescat|keto|gluten|halal|kosher"
    r"|low[- ]carb|dairy|paleo|plant|don't|do not|can't|cannot|won't|phone|laptop|computer|edit"
    r"|browser|shell|terminal|use",
    re.I,
)
_SPEAKER = to_pattern(r"[我咱本叫名家]|坐标|今年|\b(?:I|I'm|I've|my|our|we|me)\b", re.I | re.A)
_CORRECTION = to_pattern(
    r"[不换改戒停弃错调转挪延迁切]|现在|如今|目前|以前|之前|过去|曾经|原[来先]|本来|小时候|口误|更正|纠正|订正|修正|勘误|反了|变卦|收回|误会"
    r"|其实|实际上|事实上|过时|推迟|提前|跳槽|告别|卸载|应该|\bnot?\b|n't|no |nope|any ?more|longer|switch|migrat"
    r"|chang|convert|swap"
    r"|transition|pivot|upgrad|mov|reschedul|push|postpon|shift|renam|bump|replac|trad|ditch"
    r"|drop|left|instead|now|days|actual|in fact|meant"
    r"|misspoke|wrong|mistake|correct|scratch|take|wait|sorry|oops|make that|second thought|"
    r"updat|used to|was|stop|quit|gave|given|done|off|rid",
    re.I,
)


_TASTES = gate(_TASTE)
_SPEAKS = gate(_SPEAKER)
_CORRECTS = gate(_CORRECTION)


def taste(clause: Clause) -> bool:
    """Whether the clause may state a taste."""
    return bool(clause.mask & _TASTES)


def speaker(clause: Clause) -> bool:
    """Whether the clause may state a fact about who speaks."""
    return bool(clause.mask & _SPEAKS)


def correction(clause: Clause) -> bool:
    """Whether the clause may take something back."""
    return bool(clause.mask & _CORRECTS)
