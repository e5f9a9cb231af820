"""Whether a sentence tells of a relative, and whether words speak of health: a father's illness is not the user's."""

# ruff: noqa: E501 - one family of words per line

import re

from shared.extraction.clauses import split
from shared.extraction.guards import stances
from shared.extraction.guards_words import KIN_EN, KIN_ZH
from shared.language.patterns import to_pattern
from shared.memo import Recall

_OF_KIN = to_pattern(
    rf"^(?:and |but |so |also |well |oh )*(?:[Mm]y|[Oo]ur)\s+(?:\w+\s+)?{KIN_EN}\b|^(?:其实|对了|最近|昨天|今天|上周|另外|还有)?[，,]?我(?:们)?(?:家)?的?(?:大|小|二)?{KIN_ZH}",
)  # fmt: skip
_CALLED = to_pattern(
    r"^(?:Dad(?:dy)?|M[ou]m(?:my)?|Grand(?:ma|pa|ad|mother|father)|Granny|Nana)(?:'s)? (?!(?:and|or) I\b)"
    r"|^(?:老[爸妈]|爸爸|妈妈|爷爷|奶奶|外公|外婆|姥姥|姥爷|老公|老婆|孩子|儿子|女儿|宝宝)(?!们|和我|跟我|[,，])"
)
"""Relatives by the name that their own give them."""
_KIN = to_pattern(rf"\b{KIN_EN}(?:'s|s)?\b|\bfamily\b|{KIN_ZH}|爸|妈|家里", re.IGNORECASE)
_HEALTH = to_pattern(
    r"\b(?:health(?:y)?|allerg\w+|intoleran\w+|diagnos\w+|disease|illness|sick|condition|conditions|medic\w+|prescri\w+|symptom\w*|surger\w+"
    r"|operation|cancer|diabet\w+|asthma|stroke|tumou?r|blood pressure|heart attack|dementia|alzheimer\w*|depress\w+|migraine\w*|arthritis)\b"
    r"|健康|过敏|病|药|手术|癌|瘤|血压|血糖|住院|确诊|查出|症|哮喘|中风|心梗|痛风|忌口|身体",
    re.IGNORECASE,
)
_SELF = to_pattern(r"\b(?:i|i'm|i've|my|me)\b|我", re.IGNORECASE)


_telling: Recall[bool] = Recall()


_LIMITS = to_pattern(
    r"\b(?:allerg\w+|intoleran\w+|diabet\w+|asthma\w*|blood pressure|heart (?:disease|condition|attack)|strokes?|cancer|tumou?r"
    r"|migraine\w*|arthritis|gout|c(?:o)?eliac|pregnan\w+|epilep\w+|seizures?|kidney|liver|ulcer|dialysis|pacemaker|diagnosed)\b"
    r"|过敏|忌口|糖尿病|痛风|血压|血糖|血脂|哮喘|癌|肿瘤|心梗|中风|心脏病|肾|结石|胃病|胃溃疡|癫痫|怀孕|孕期|孕妇|确诊|不耐受",
    re.IGNORECASE,
)
"""States of health that limit what is good for somebody."""


def tells_of_relative(text: str) -> bool:
    """Whether the text begins with a statement about somebody of the user's family or near them."""
    known = _telling.get(text)
    return _telling.put(text, _tells_of_relative(text)) if known is None else known


def _tells_of_relative(text: str) -> bool:
    clauses = split(text[:300])
    first = next(iter(clauses), None)
    of_kin = first is not None and bool(_OF_KIN.match(first.text) or _CALLED.match(first.text))
    return of_kin and stances(clauses)[0].subject in ("other", "none")


def speaks_of_health(text: str) -> bool:
    """Whether the text speaks of an illness, of what is done about one, or of what the body does not bear."""
    return _HEALTH.search(text) is not None or names_limit_of_health(text)


def names_limit_of_health(text: str) -> bool:
    """Whether the text names a state of health that limits what is good for somebody; that health matters is none."""
    return _LIMITS.search(text) is not None


def asks_own_health(question: str) -> bool:
    """Whether the question asks about the user's own health and nobody else's."""
    return asks_of_self(question) and speaks_of_health(question)


def asks_of_self(question: str) -> bool:
    """Whether the question names the user and nobody of the family."""
    return _SELF.search(question) is not None and _KIN.search(question) is None
