"""Checks every score and decision of a package from its stored plan and receipts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isclose, prod
from typing import Any

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
    return ReplayCheck(tuple(_line(each) for each in decisions.values()), tuple(problems))


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


def _line(decision: Mapping[str, Any]) -> str:
    place = decision.get("context_position")
    at = f" at {place['slot']}[{place['index']}] ({place['zone']})" if place else ""
    rule = f", rule {decision['rule']}" if decision.get("rule") else ""
    reason, score = decision["decision_reason"], decision["candidate_score"]
    return f"{decision['id']}: {decision['decision']}{at}, {reason}, score {score}{rule}"
