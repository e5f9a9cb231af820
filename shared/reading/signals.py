"""Cheap signs that a detector may have something to find; a clause without the sign is not read further."""

import re

from shared.reading.clauses import Clause
from shared.reading.gates import gate
from shared.text.patterns import to_pattern

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
_DECISION = to_pattern(
    r"决定|敲定|拍板|定下|选定|确定|商定|一致|定了|就[用选按采上定]|decid|decision|agree|chose|settl|opted|pick|commit|voted|resolv"
    r"|signed|going with|go with|went with|sticking|stick with|standard|will use|'ll |let'?s",
    re.I,
)
_GOAL = to_pattern(
    r"目标|梦想|心愿|志|愿望|OKR|计划|力争|争取|致力|努力|备考|准备|打算|想|希望|goal|dream|aim|objective|ambition|resolution"
    r"|target|hop|plan|work|striv|train|prepar|study|saving|want|love|trying|intend|determin|aspir|learn|commit",
    re.I,
)
_EVENT = to_pattern(
    r"[升薪婚业职退孕搬房车养考奖]|[了过]|手术|住院|参加|完成|移民|[天晚日周月年号]|\b(?:I|we|my|our|me)\b|I'",
    re.I | re.A,
)
_BODY = to_pattern(r"敏|不耐|allerg|intoleran|can't|cannot|doctor|[不没][能可得许法]|[忌禁少别医]", re.I)
_DIRECTIVE = to_pattern(
    r"以后|今后|之后|从[现今]|每次|永远|始终|一律|所有|总是|请|你|拜托|[给跟和对]我|回[答复]|必须|要求|底线|原则|规定|不得|允许|禁|不能"
    r"|只能|只支持|只接受|至少|always|never|from now|going forward|future|henceforth|please|"
    r"don't|do not|stop|avoid|only|keep|\bbe\b|use"
    r"|answer|repl|respon|whenever|must|can't|cannot|may not|has to|have to|need|available|\bno\b"
    r"|skip|call|explain|limit|speak|talk|write",
    re.I,
)
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
_MUST = to_pattern(
    r"[要得需该前内截止醒办了期]|任务|工单|完成|ticket|打算|准备|todo|task|remind|need|must|have to|gotta|should|due"
    r"|deadline|supposed|ought|done|ed\b"
    r"|sent|paid|shipped|don't|cancel|finish|action item|to-do|now|got to",
    re.I,
)


_TASTES = gate(_TASTE)
_SPEAKS = gate(_SPEAKER)
_DECIDES = gate(_DECISION)
_AIMS = gate(_GOAL)
_HAPPENS = gate(_EVENT)
_BODILY = gate(_BODY)
_DIRECTS = gate(_DIRECTIVE)
_CORRECTS = gate(_CORRECTION)
_OUGHT = gate(_MUST)


def taste(clause: Clause) -> bool:
    """Whether the clause may state a taste."""
    return bool(clause.mask & _TASTES)


def speaker(clause: Clause) -> bool:
    """Whether the clause may state a fact about who speaks."""
    return bool(clause.mask & _SPEAKS)


def decision(clause: Clause) -> bool:
    """Whether the clause may state a decision."""
    return bool(clause.mask & _DECIDES)


def goal(clause: Clause) -> bool:
    """Whether the clause may state a goal."""
    return bool(clause.mask & _AIMS)


def event(clause: Clause) -> bool:
    """Whether the clause may tell an event."""
    return bool(clause.mask & _HAPPENS)


def body(clause: Clause) -> bool:
    """Whether the clause may tell what the body does not bear."""
    return bool(clause.mask & _BODILY)


def directive(clause: Clause) -> bool:
    """Whether the clause may direct the answers to come."""
    return bool(clause.mask & _DIRECTS)


def correction(clause: Clause) -> bool:
    """Whether the clause may take something back."""
    return bool(clause.mask & _CORRECTS)


def task(clause: Clause) -> bool:
    """Whether the clause may state something to do."""
    return clause.text[0] == "[" or bool(clause.mask & _OUGHT)
