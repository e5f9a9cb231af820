"""The receipts of a package: candidates, decisions, budget, a sentence for each reason; and their check.

The check computes every score and decision again from the stored plan and receipts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose, prod
from typing import Any, Literal

from services.compose.rules.candidates import RankedCandidate
from services.compose.rules.packing.draft import Decision, PackagedContext
from services.compose.rules.ranking.fuse import FusePolicy, FusionResult

CORE = "system"


@dataclass(frozen=True, slots=True)
class ReplayCheck:
    """The decisions of the receipts, and their inconsistencies."""

    explained: tuple[str, ...]
    problems: tuple[str, ...]


def check_receipts(
    retrieval: Mapping[str, Any], injection: Mapping[str, Any], package: Mapping[str, Any] | None
) -> ReplayCheck:
    """`problems` is empty if each candidate has one decision, each score follows from ranks and factors, and the
    package holds what the receipts say."""
    decisions: dict[str, Mapping[str, Any]] = {each["id"]: each for each in injection["decisions"]}
    problems = [
        *find_undecided(retrieval["candidates"], decisions, len(injection["decisions"])),
        *_scores(retrieval, decisions),
        *(f"{key}: incomplete decision" for key, each in decisions.items() if not _complete(each)),
        *(find_misplaced(decisions, package) if package is not None else ()),
    ]
    return ReplayCheck(tuple(_split_line(each) for each in decisions.values()), tuple(problems))


def find_undecided(candidates: Iterable[Mapping[str, Any]], decisions: Mapping[str, Any], told: int) -> Iterable[str]:
    if told != len(decisions):
        yield "something was decided twice"
    for each in candidates:
        if each["id"] not in decisions:
            yield f"{each['id']}: a candidate without a decision"


def _scores(retrieval: Mapping[str, Any], decisions: Mapping[str, Mapping[str, Any]]) -> Iterable[str]:
    ranking = retrieval["ranking"]
    for each in retrieval["candidates"]:
        decision = decisions.get(each["id"], {})
        factors = decision.get("factors")
        fused = sum(ranking["weights"].get(arm, 1.0) / (ranking["rrf_k"] + rank) for arm, rank in each["ranks"].items())
        if _is_ranked(each, ranking) and not isclose(fused, each["rrf"], abs_tol=2e-6):
            yield f"{each['id']}: its ranks do not give its rrf"
        if factors and not isclose(prod(factors.values()), decision["candidate_score"], abs_tol=1e-4):
            yield f"{each['id']}: its factors do not give its score"


def _is_ranked(candidate: Mapping[str, Any], ranking: Mapping[str, Any]) -> bool:
    """Whether its ranks count; before version 5 only if it met enough of the question."""
    return "least_score" in ranking or candidate["support"] >= ranking["least_support"]


def _complete(decision: Mapping[str, Any]) -> bool:
    """Whether the five-tuple is complete: score, reason, policy, guardrail, and a position if injected."""
    there = all(decision.get(name) is not None for name in ("candidate_score", "decision_reason", "policy_version"))
    placed = decision["decision"] != "injected" or decision.get("context_position") is not None
    return there and placed and isinstance(decision.get("guardrail"), Mapping)


def find_misplaced(decisions: Mapping[str, Mapping[str, Any]], package: Mapping[str, Any]) -> Iterable[str]:
    evidence = [each["id"] for each in package.get("evidence", [])]
    sources = [block.get("source", {}).get("memory_item_id") for block in package.get("system_blocks", [])]
    core = [f"memory:{each}" for each in sources if each]
    said = {key: each["context_position"] for key, each in decisions.items() if each["decision"] == "injected"}
    for slot, there in (("evidence", evidence), (CORE, core)):
        told = sorted((place["index"], key) for key, place in said.items() if place["slot"] == slot)
        if [key for _, key in told] != there or [at for at, _ in told] != list(range(len(there))):
            yield f"{slot}: the package holds {there}, the receipt says {[key for _, key in told]}"


def _split_line(decision: Mapping[str, Any]) -> str:
    place = decision.get("context_position")
    at = f" at {place['slot']}[{place['index']}] ({place['zone']})" if place else ""
    rule = f", rule {decision['rule']}" if decision.get("rule") else ""
    reason, score = decision["decision_reason"], decision["candidate_score"]
    return f"{decision['id']}: {decision['decision']}{at}, {reason}, score {score}{rule}"


SCHEMA_VERSION = 5
"""The version of the details: 3 added five-tuples, 4 sanitising and budget, 5 probabilities."""
NO_CONFLICT: dict[str, Any] = {"detected": False, "resolution": None, "with": None}
NO_GUARDRAIL: dict[str, Any] = {"hit": False, "rule_id": None, "reason": None}


def describe_candidates(fused: FusionResult) -> list[dict[str, Any]]:
    """Every candidate with its rank and score in every list."""
    return [_candidate(each) for each in index_judged(fused).values()]


def _candidate(ranked: RankedCandidate) -> dict[str, Any]:
    source = ranked.candidate
    return {
        "id": ranked.key,
        "memory_id": source.memory_id,
        "kind": source.kind,
        "ranks": dict(source.arm_ranks),
        "scores": {arm: round(score, 4) for arm, score in source.arm_scores.items()},
        "rrf": round(ranked.rrf, 6),
        "probability": round(source.probability, 6),
        "rerank": source.rerank_score,
    }


def describe_ranking(policy: FusePolicy) -> dict[str, Any]:
    """The ranking parameters, for a replay."""
    return {
        "method": policy.method,
        "rrf_k": policy.rrf_k,
        "weights": dict(policy.weights),
        "least_score": policy.least_score,
        "least_best": policy.least_best,
        "least_share": policy.least_share,
        "best_beside": policy.best_beside,
        "limit": policy.limit,
        "memories_max": policy.memories_max,
        "memory_ratio": policy.memory_ratio,
    }


def list_decisions(
    fused: FusionResult, packed: PackagedContext, stale: Mapping[str, str | None], policy_version: str
) -> list[dict[str, Any]]:
    """One decision for every candidate: first what is in the package, in its order.

    `stale` are the keys that are no longer valid, with the rule.
    """
    judged = index_judged(fused)
    by_key: dict[str, dict[str, Any]] = {}
    for each in sorted(packed.decisions, key=_place):
        by_key.setdefault(each.key, _decision(each, judged.get(each.key), policy_version))
    for out in fused.dropped:
        late = Decision(out.key, False, out.reason, out.score, rule=out.rule)
        by_key.setdefault(out.key, _decision(late, judged.get(out.key), policy_version))
    for key, rule in stale.items():
        by_key.setdefault(key, _decision(Decision(key, False, "superseded", rule=rule), None, policy_version))
    return list(by_key.values())


def index_judged(fused: FusionResult) -> dict[str, RankedCandidate]:
    return {each.key: each for each in (*fused.judged, *fused.ranked)}


def _place(decision: Decision) -> tuple[bool, bool, int]:
    return (not decision.injected, decision.position is None, decision.position or 0)


def _decision(decision: Decision, ranked: RankedCandidate | None, policy_version: str) -> dict[str, Any]:
    blocked = decision.reason == "blocked" or decision.sanitization != "pass"
    position = (
        None
        if decision.position is None
        else {"slot": decision.slot, "index": decision.position, "zone": decision.zone}
    )
    return {
        "id": decision.key,
        "decision": "injected" if decision.injected else "rejected",
        "decision_reason": decision.reason,
        "candidate_score": round(ranked.score if ranked else decision.score, 6),
        "factors": _factors(ranked) if ranked else None,
        "policy_version": policy_version,
        "guardrail": {"hit": True, "rule_id": decision.rule, "reason": decision.sanitization}
        if blocked
        else NO_GUARDRAIL,
        "context_position": position,
        "sanitization_result": decision.sanitization,
        "conflict": _conflict(decision),
        "rule": decision.rule,
        "source_uri": ranked.candidate.uri if ranked and ranked.candidate.is_resource else None,
        "tokens": decision.tokens,
    }


def _conflict(decision: Decision) -> dict[str, Any]:
    """The knowledge that contradicted the memory, which of them won, and the rule."""
    if decision.reason != "conflict_knowledge":
        return NO_CONFLICT
    return {"detected": True, "resolution": "knowledge_first", "with": decision.rule}


def _factors(ranked: RankedCandidate) -> dict[str, float]:
    factors = ranked.factors
    return {
        "relevance": round(factors.relevance, 6),
        "recency": factors.recency,
        "confidence_eff": round(factors.confidence, 6),
        "provenance": factors.provenance,
        "frequency": factors.frequency,
    }


def count_reasons(decisions: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The number of decisions by reason; `injected` counts those in the package."""
    by_reason: dict[str, int] = {"injected": 0}
    for each in decisions:
        name = "injected" if each["decision"] == "injected" else str(each["decision_reason"])
        by_reason[name] = by_reason.get(name, 0) + 1
    return by_reason


def list_stores(kinds: Sequence[str]) -> list[str]:
    """The stores that the candidates came from."""
    names = {"memory": "memory", "turn": "conversation", "resource": "knowledge"}
    return sorted({names[kind] for kind in kinds})


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


def explain_decision(decision: Mapping[str, Any], language: Told) -> str:
    """The sentence for a decision."""
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
