"""Whether a memory may be promoted, and its class. Pure."""

# ruff: noqa: E501 - one family of words per line

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from schemas.memory_types import types_with
from schemas.promotion import PromotionClass, PromotionStatus
from schemas.vocabulary import Epistemic, MemoryType
from shared.extraction import MessageText
from shared.extraction.entities import find_mentions
from shared.language.patterns import to_pattern
from shared.policy import PromotionPolicy
from shared.screening.sanitize import screen
from shared.secrets import PLACEHOLDERS, find_secrets

Lack = Literal["confidence", "frequency", "sessions", "epistemic", "conflicts"]
ENDURING: frozenset[Epistemic] = frozenset({"fact", "preference"})
OF_A_PERSON = types_with("personal")
"""Types that concern the user, whatever their text."""
NO_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PromotionFigures:
    """The criteria of a memory; `uses_30d` counts answers that used it and repetitions."""

    confidence: float
    uses_30d: int
    sessions: int
    epistemic: Epistemic
    conflict_ratio: float


@dataclass(frozen=True, slots=True)
class PromotionVerdict:
    """The decision on a qualifying memory; `reason` names a rule, never text."""

    status: PromotionStatus
    class_: PromotionClass
    reason: str | None = None


_SECRET = to_pattern(
    r"机密|保密|绝密|涉密|商业秘密|内部(?:资料|文件|消息|使用|价|数据)|不(?:得|要|能|可)外传|不(?:对外|公开)|未公开|未发布|底价|进货价|进价|采购价|供货价|成本价?|毛利|净利|利润率|返点|客户名单|供应商名单|合同(?:价|金额|条款)|薪(?:资|酬)|工资(?:表|条)|裁员|并购|收购|融资|估值|配方|投标|标书|报价策略|源代码"
    r"|\b(?:confidential|trade secrets?|proprietary|internal[- ](?:only|use|document|data|pricing)|not (?:for|to be) (?:public|shared|disclos\w+)|under (?:nda|embargo)|nda|unreleased|unannounced|cost price|purchase price|wholesale price|supplier price|(?:gross|profit|net) margins?|rebates?|customer list|supplier list|client list|contract (?:value|terms)|payroll|salar(?:y|ies)|layoffs?|acquisition|merger|funding round|valuation|recipe|tender|bid price|source code)\b",
    re.IGNORECASE,
)
_PERSONAL = to_pattern(
    r"我|咱|本人|家人|爱人|妻子|老婆|丈夫|老公|孩子|儿子|女儿|父母|爸|妈|爷爷|奶奶|朋友|同事|女友|男友|生日|岁|年龄|住址|地址|住在|老家|家里|过敏|生病|疾病|病史|怀孕|手术|血型|体重|身高|收入|存款|房贷|婚|宗教|信仰|政治|身份证|电话|微信"
    r"|\b(?:i|me|my|mine|myself|we|our|family|wife|husband|spouse|partner|kids?|children|son|daughter|parents?|mother|father|mom|dad|friend|colleague|girlfriend|boyfriend|birthday|years old|age|address|lives? (?:in|at|near)|hometown|allerg\w+|illness|disease|diagnos\w+|pregnan\w+|surgery|blood type|weight|height|income|savings|mortgage|married|divorced|religio\w+|political|phone|passport)\b",
    re.IGNORECASE,
)


def eligible(figures: PromotionFigures, policy: PromotionPolicy) -> tuple[Lack, ...]:
    """The thresholds that the memory does not reach; empty if it qualifies."""
    lacks: dict[Lack, bool] = {
        "confidence": figures.confidence < policy.least_confidence,
        "frequency": figures.uses_30d < policy.least_uses_30d,
        "sessions": figures.sessions < policy.least_sessions,
        "epistemic": figures.epistemic not in ENDURING,
        "conflicts": figures.conflict_ratio >= policy.conflict_ratio_below,
    }
    return tuple(name for name, lacking in lacks.items() if lacking)


def conflict_ratio(against: int, confirmations: int) -> float:
    """The share of contradictions among all statements about the memory."""
    return round(against / (against + confirmations), 4) if against else 0.0


def verdict(kind: MemoryType, text: str) -> PromotionVerdict:
    """Rejects personal data, credentials, orders to the agent and business secrets.

    Everything else waits for a decision; personal content also for the user's consent.
    """
    class_ = class_of(kind, text)
    failed = _unclean(text)
    if class_ == "business_secret" and (failed is None or failed.endswith(":learned")):
        return PromotionVerdict("rejected", class_, class_)
    if failed:
        return PromotionVerdict("sanitize_failed", class_, failed)
    return PromotionVerdict("pending_approval", class_)


def class_of(kind: MemoryType, text: str) -> PromotionClass:
    """A business secret by its words; personal by type, words or a person's name; otherwise public."""
    if _SECRET.search(text):
        return "business_secret"
    if kind in OF_A_PERSON or _PERSONAL.search(text):
        return "personal"
    named = any(each.kind == "person" for each in find_mentions(MessageText("user", text, None, 0, NO_TIME)))
    return "personal" if named else "public"


def _unclean(text: str) -> str | None:
    if hits := find_secrets(text):
        return f"{hits[0].group}:{hits[0].kind}"
    if any(each in text for each in PLACEHOLDERS):
        return "blanked"
    screened = screen(text)
    return f"{screened.outcome}:{screened.rule}" if screened.outcome != "pass" else None
