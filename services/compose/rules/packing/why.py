"""Why something is in a package or not, in a sentence for whoever asks, without scores (R125)."""

from collections.abc import Mapping
from typing import Any, Literal

Told = Literal["zh", "en"]
_ZONES = {
    "zh": {"head": "最前", "middle": "中间", "tail": "最后"},
    "en": {"head": "first", "middle": "in the middle", "tail": "last"},
}
_WHY: dict[Told, dict[str, str]] = {
    "zh": {
        "injected:relevance": "与问题相关,排在证据{zone}(第 {place} 条)。",
        "injected:confidence": "属于核心记忆,每次都带上(第 {place} 条)。",
        "sanitized": "注入前已清除其中不安全的部分({rule})。",
        "relevance": "不如入选的内容切题。",
        "recency": "切题,但比入选的内容旧。",
        "confidence": "切题,但把握不如入选的内容。",
        "budget_exceeded": "切题,但令牌预算已满。",
        "blocked": "内容像是在给模型下指令或不安全({rule}),未注入;原记录未动。",
        "diversity": "同一来源的内容已经足够。",
        "ratio": "记忆与资料各有份额,这一份额已满。",
        "superseded": "已不成立:后来的话改变或收回了它。",
        "conflict_knowledge": "与企业知识冲突,以企业知识为准({rule})。",
        "not_found": "没有任何检索找到它,也不属于核心记忆。",
        "fused": "多次被用户否定,已停用,等待用户确认。",
        "erased": "已被删除。",
        "unknown": "这位用户没有这条记录。",
    },
    "en": {
        "injected:relevance": "It met the question; it stands {zone} among the evidence (number {place}).",
        "injected:confidence": "It is core memory, which every package carries (number {place}).",
        "sanitized": "What was unsafe in it was taken out first ({rule}).",
        "relevance": "It met the question less well than what was chosen.",
        "recency": "It met the question, but is older than what was chosen.",
        "confidence": "It met the question, but is less certain than what was chosen.",
        "budget_exceeded": "It met the question, but the token budget was used up.",
        "blocked": "It reads like an order to the model or is unsafe ({rule}); it stays out, its record as it is.",
        "diversity": "Enough came from the same source.",
        "ratio": "Memory and knowledge have shares of the evidence; its share was full.",
        "superseded": "It no longer holds: something said later changed it or took it back.",
        "conflict_knowledge": "It conflicts with enterprise knowledge, which goes first ({rule}).",
        "not_found": "No search found it for this message, and it is not core memory.",
        "fused": "It was rejected by the user too often and is out until it is confirmed.",
        "erased": "It was erased.",
        "unknown": "This user has no such record.",
    },
}


def why(decision: Mapping[str, Any], language: Told) -> str:
    """The sentence for a decision of a receipt."""
    phrases, reason = _WHY[language], str(decision["decision_reason"])
    rule = decision.get("rule") or "-"
    if decision["decision"] != "injected":
        return phrases.get(reason, reason).format(rule=rule)
    place: Mapping[str, Any] = decision.get("context_position") or {}
    zone = _ZONES[language][place.get("zone", "head")]
    filled = phrases[f"injected:{reason}"].format(place=place.get("index", 0) + 1, zone=zone)
    if decision.get("sanitization_result") != "sanitized":
        return filled
    return f"{filled}{'' if language == 'zh' else ' '}{phrases['sanitized'].format(rule=rule)}"
