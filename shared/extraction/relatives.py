"""Recognises statements about relatives and words of health: an illness of the father is not one of the user."""

# ruff: noqa: E501 - one family of words per line

import re

from shared.cache import BoundedMemo
from shared.extraction.clauses import split
from shared.extraction.guards import stances
from shared.extraction.guards_words import KIN_EN, KIN_ZH
from shared.language.patterns import to_pattern

_OF_KIN = to_pattern(
    rf"^(?:and |but |so |also |well |oh )*(?:[Mm]y|[Oo]ur)\s+(?:\w+\s+)?{KIN_EN}\b|^(?:其实|对了|最近|昨天|今天|上周|另外|还有)?[，,]?我(?:们)?(?:家)?的?(?:大|小|二)?{KIN_ZH}",
)  # fmt: skip
_CALLED = to_pattern(
    r"^(?:Dad(?:dy)?|M[ou]m(?:my)?|Grand(?:ma|pa|ad|mother|father)|Granny|Nana)(?:'s)? (?!(?:and|or) I\b)"
    r"|^(?:老[爸妈]|爸爸|妈妈|爷爷|奶奶|外公|外婆|姥姥|姥爷|老公|老婆|孩子|儿子|女儿|宝宝)(?!们|和我|跟我|[,，])"
)
"""Relatives by the names that their family uses."""
_KIN = to_pattern(rf"\b{KIN_EN}(?:'s|s)?\b|\bfamily\b|{KIN_ZH}|爸|妈|家里", re.IGNORECASE)
_HEALTH = to_pattern(
    r"\b(?:health(?:y)?|allerg\w+|intoleran\w+|diagnos\w+|disease|illness|sick|condition|conditions|medic\w+|prescri\w+|symptom\w*|surger\w+"
    r"|operation|cancer|diabet\w+|asthma|stroke|tumou?r|blood pressure|heart attack|dementia|alzheimer\w*|depress\w+|migraine\w*|arthritis)\b"
    r"|健康|过敏|病|药|手术|癌|瘤|血压|血糖|住院|确诊|查出|症|哮喘|中风|心梗|痛风|忌口|身体",
    re.IGNORECASE,
)
_SELF = to_pattern(r"\b(?:i|i'm|i've|my|me)\b|我", re.IGNORECASE)


_ONE_EN = rf"(?:{KIN_EN}|boss|landlord|landlady|mentor|(?:mother|father|brother|sister)-in-law)"
_MANY_EN = "(?:friend|colleague|co-?worker|neighbou?r|classmate|flat-?mate|room-?mate|teammate)"
_MANY_ZH = "(?:同事|朋友|闺蜜|室友|同学|客户|邻居|队友|组员|下属|老乡|亲戚)"
"""People of whom the user has several: only a name says who is meant."""
_WHAT_LASTS = to_pattern(
    r"^(?:[Mm]y|[Oo]ur)\s+(?:(?:old|best|close|good|new|eldest|older|younger|little|big|college|school|work)\s+)*"
    rf"(?:{_ONE_EN}\s+(?:[A-Z][\w'’-]+\s+){{0,2}}|{_MANY_EN}\s+(?:[A-Z][\w'’-]+\s+){{1,2}})"
    r"(?:(?:works|lives|runs|owns|teaches|studies|speaks|plays|grew up|comes|volunteers|coaches|writes|drives|manages|leads)\s+(?:(?!today|tonight|tomorrow|now|right|like|well|hard|too|so|it|this|that)\w+[\s,.]*){1,12}$"
    r"|is (?:a|an|from|the|married|retired|vegan|vegetarian)\b(?! (?:bit|little|mess|pain|joke|good|great|bad|nice|real|total|such|saint|star|liar|idiot|worst|best)\b)[\w\s,'’-]{2,60}$"
    r"|has (?:a|an|two|three|four|five|\d+) (?!(?:cold|headache|fever|point|bad|good|great|lot|bit|few|meeting|day)\b)[\w\s'’-]{2,40}$)"
    rf"|^(?:[Mm]y|[Oo]ur) (?:\w+ ){{0,2}}(?:{_ONE_EN}|{_MANY_EN})(?:'s| is) (?:called|named) [A-Z][\w'’-]+\b"
    r"|^我(?:们)?(?:家)?的?(?:大学|高中|以前的?|老)?"
    rf"(?:{_MANY_ZH}[\u4e00-\u9fffA-Za-z]{{1,4}}?|(?!{_MANY_ZH}){KIN_ZH}[\u4e00-\u9fffA-Za-z]{{0,4}}?)(?:现在|一直|以前)?"
    r"(?:住在?[\u4e00-\u9fff]{2,8}|在[\u4e00-\u9fffA-Za-z]{1,10}?(?:工作|上班|上学|读[\u4e00-\u9fff]{1,3}|教[\u4e00-\u9fff]{1,4}|当[\u4e00-\u9fff]{2,8}|做[\u4e00-\u9fff]{2,8}|开了?(?:一?[家间个])?[\u4e00-\u9fff]{1,6})"
    r"|是(?:一?[名个位])?[\u4e00-\u9fff]{0,4}(?:人|师|员|生|家|工|者|医生|护士|警察|教授|老板|司机)|毕业于[\u4e00-\u9fff]{2,10}|会说[\u4e00-\u9fff]{2,8})$"
)
"""States what somebody near the user is, has or does for a living."""
_telling: BoundedMemo[bool] = BoundedMemo()


_LIMITS = to_pattern(
    r"\b(?:allerg\w+|intoleran\w+|diabet\w+|asthma\w*|blood pressure|heart (?:disease|condition|attack)|strokes?|cancer|tumou?r"
    r"|migraine\w*|arthritis|gout|c(?:o)?eliac|pregnan\w+|epilep\w+|seizures?|kidney|liver|ulcer|dialysis|pacemaker|diagnosed)\b"
    r"|过敏|忌口|糖尿病|痛风|血压|血糖|血脂|哮喘|癌|肿瘤|心梗|中风|心脏病|肾|结石|胃病|胃溃疡|癫痫|怀孕|孕期|孕妇|确诊|不耐受",
    re.IGNORECASE,
)
"""Health conditions that limit what is good for somebody."""
_SOMEBODY_EN = rf"(?:[Hh]e|[Ss]he|(?:[Mm]y|[Oo]ur) (?:\w+ ){{0,2}}{KIN_EN}(?: [A-Z][a-z]+)?|(?!(?:I|It|That|This|What|There|Who)\b)[A-Z][a-z]+)"
_SOMEBODY_ZH = rf"(?:[他她]|(?:我(?:们)?家?的?[大小二]?|[\u4e00-\u9fff]{{1,3}})?{KIN_ZH})"
_BOUND = to_pattern(
    rf"(?:^|[,.;!] |\b(?:and|but|so|because|since|as|that|though) ){_SOMEBODY_EN}"
    r"(?:'s| is|'s got| has(?: got)?| was| has been)(?: also| actually| very| really| severely| badly| just| now| apparently| recently){0,2} "
    r"(?:(?:a|an|the) )?(?:\w+[- ])?(?:allerg\w+|intoleran\w+|diabet\w+|asthma\w*|c(?:o)?eliac|pregnant|epilep\w+|arthritis|gout|migraines?|diagnosed|high blood pressure"
    r"|vegan|vegetarian|pescatarian|pescetarian|kosher|halal|teetotal)\b"
    rf"|(?:^|[,.;!] |\b(?:and|but|so|because|since|as|that|though) ){_SOMEBODY_EN} (?:doesn['’]t|does not|can['’]t|cannot|won['’]t|never) (?:eats?|drinks?|touch(?:es)?) (?!it\b|that\b|this\b|much\b|any\b)\w+"
    rf"|(?:^|[，,。；;！!、\s]){_SOMEBODY_ZH}(?:也|都|就|是|从来|一直|其实|本来|好像|最近|现在|刚)?"
    r"(?:对[\u4e00-\u9fff]{1,8}(?:严重)?过敏|[\u4e00-\u9fff]{1,6}过敏|过敏体质|(?:有|得了|查出|确诊)[\u4e00-\u9fff]{0,6}(?:糖尿病|痛风|高血压|高血糖|高血脂|哮喘|癌|心脏病|肾病|胃病|癫痫|孕妇|不耐受)"
    r"|[\u4e00-\u9fff]{1,4}不耐受|血压高|血糖高|血脂高|怀孕|吃素|素食|吃清真)"
)
"""States what somebody near the user does not eat or drink for reasons of health, faith or will."""


def tells_of_relative(text: str) -> bool:
    """Whether the text begins with a statement about somebody in the user's family or near them."""
    known = _telling.get(text)
    return _telling.put(text, _tells_of_relative(text)) if known is None else known


def _tells_of_relative(text: str) -> bool:
    clauses = split(text[:300])
    first = next(iter(clauses), None)
    of_kin = first is not None and bool(_OF_KIN.match(first.text) or _CALLED.match(first.text))
    return of_kin and stances(clauses)[0].subject in ("other", "none")


def tells_what_lasts(text: str) -> bool:
    """Whether the sentence plainly says what somebody near the user is, has, or does for a living."""
    return _WHAT_LASTS.match(text) is not None


def tells_limit_of_somebody(text: str) -> bool:
    """Whether the sentence plainly says what somebody else's health allows, or what they do not eat or drink."""
    return _BOUND.search(text) is not None


def speaks_of_health(text: str) -> bool:
    """Whether the text mentions an illness, a treatment, or an intolerance."""
    return _HEALTH.search(text) is not None or names_limit_of_health(text)


def names_limit_of_health(text: str) -> bool:
    """Whether the text names a health condition that limits what is good for somebody."""
    return _LIMITS.search(text) is not None


def asks_own_health(question: str) -> bool:
    """Whether the question asks about the user's own health and nobody else's."""
    return asks_of_self(question) and speaks_of_health(question)


def asks_of_self(question: str) -> bool:
    """Whether the question names the user and nobody of the family."""
    return _SELF.search(question) is not None and _KIN.search(question) is None
