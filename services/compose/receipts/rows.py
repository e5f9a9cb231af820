"""The rows that a package or a plan leaves: receipts, decisions, fingerprints and its event."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson

from schemas.context_package import ContextPackage
from schemas.events import DecisionEvent
from schemas.topics import RECEIPT_RECORDED
from services.compose.context.stages import Composition, PlanExecution
from services.compose.intake.redact import Cleaning, clean_json
from services.compose.rules.packing import receipts
from services.compose.rules.packing.draft import UNSUPPORTED
from shared.language.fingerprint import prints
from shared.policy import Policy
from shared.secrets import SecretKind, placeholder, redact
from shared.store import outbox

PERMANENT_REASONS = frozenset({UNSUPPORTED})
"""Reasons that describe the installation or a session rather than a failure."""
Row = dict[str, Any]
REPLAY_FIELDS = {"org_id", "profile_id", "inject_limit", "model_modalities"}
"""Fields of the request that the package does not show; a replay needs them."""


def to_row(composition: Composition, policy: Policy, version: str) -> Row:
    """The row of `record_contexts` for a package, without its age."""
    package, request = composition.package, composition.request
    prints_of, pieces = _fingerprints(package)
    injection = _injection(composition, version)
    observability = policy.observability
    secrets = _find_secrets(package.user_message.content, composition.personal.kinds_kept)
    # the plan holds the words in other forms, in which a secret might not be found
    plan = _plan(composition) if observability.store_plans and not secrets else None
    body = blank_secrets(_body(package), secrets) if observability.store_contexts else None
    return {
        "tenant_id": request.tenant_id,
        "user_id": request.user_id,
        "epoch": composition.epoch,
        "context_id": package.context_id,
        "session_id": request.session_id,
        "request_id": package.request_id,
        "core_ids": _core(package),
        "evidence_ids": _evidence(package),
        "degraded": not PERMANENT_REASONS.issuperset(package.degraded_reason),
        "policy_version": version,
        "fingerprints": prints_of,
        "pieces": pieces,
        "schema_version": receipts.SCHEMA_VERSION,
        "retrieval": _retrieval(composition),
        "injection": injection,
        "plan": plan and orjson.Fragment(plan),
        "package": body and orjson.Fragment(body),
        "event": _event(composition, injection, version),
    }


def to_plan_row(execution: PlanExecution, policy: Policy) -> Row | None:
    """The row of `record_contexts` for a given plan, without its age; None if the policy keeps none or it holds a
    secret."""
    request = execution.request
    if not policy.observability.store_plans:
        return None
    plan = request.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"tenant_id", "user_id"})
    cleaning = Cleaning(execution.personal.kinds_kept)
    clean_json(plan, "plan", cleaning)
    if cleaning.redacted:
        return None
    whose = {"tenant_id": request.tenant_id, "user_id": request.user_id, "session_id": execution.session[1]}
    return {**whose, "epoch": execution.epoch, "context_id": execution.pack.plan_id, "plan": plan}


def _core(package: ContextPackage) -> list[str]:
    ids = (block.source.memory_item_id for block in package.system_blocks)
    return list(dict.fromkeys(each for each in ids if each))


def _evidence(package: ContextPackage) -> list[str]:
    """The memories among the evidence, best first."""
    ranked = sorted(package.evidence, key=lambda each: -each.score)
    ids = (each.ref.memory_item_id for each in ranked if each.source == "memory")
    return list(dict.fromkeys(each for each in ids if each))


def _fingerprints(package: ContextPackage) -> tuple[list[int], list[int]]:
    """Hashes of the sentences that the package shows, each with the number of the first piece that holds it."""
    texts = [block.text for block in package.system_blocks if block.type != "policies"]
    texts += [*package.working_summary.splitlines(), *(each.content for each in package.recent_turns)]
    texts += [text for each in package.evidence for text in (each.snippet, each.title)]
    pieces: dict[int, int] = {}
    for piece, text in enumerate(texts):
        for each in prints(text):
            pieces.setdefault(each.hash, piece)
    return list(pieces), list(pieces.values())


def _retrieval(composition: Composition) -> Row:
    planned, report = composition.planning.planned, composition.report
    kinds = {candidate.kind for candidate in composition.search.candidates}
    return {
        "candidates": receipts.describe_candidates(composition.resolution.fused),
        "candidates_count": composition.resolution.fused.candidates,
        "selected_count": len(composition.package.evidence),
        "latency_ms": round(composition.took_ms, 3),
        "modes": sorted({query.mode for query in planned.plan.queries}),
        "stores_used": receipts.list_stores(sorted(kinds)),
        "ignored_fields": list(report.ignored),
        "degraded_reason": list(report.degraded),
        "experiment": _experiment(composition),
        "intent": planned.intent,
        "planner": composition.planning.planner,
        "reranked": composition.ranking.reranked,
        "ranking": receipts.describe_ranking(composition.ranking.policy),
        "asked": composition.request.model_dump(mode="json", exclude_defaults=True, include=REPLAY_FIELDS),
        "arms": [{"arm": a.name, "status": a.status, "count": a.count, "ms": round(a.took_ms, 2)} for a in report.arms],
    }


def _injection(composition: Composition, version: str) -> Row:
    package, stale = (
        composition.package,
        {key: composition.search.changes.cause(key) for key in composition.search.stale},
    )
    return {
        "decisions": receipts.list_decisions(composition.resolution.fused, composition.packaged, stale, version),
        "threshold": composition.ranking.policy.least_score,
        "budget_allocation": composition.packaged.allocation.as_json(),
        "token_budget": package.constraints.token_budget.model_dump(),
        "budget_exceeded": composition.packaged.budget_exceeded,
        "degraded_reason": list(package.degraded_reason),
        "policy_version": version,
    }


def _experiment(composition: Composition) -> Row | None:
    context = composition.request.experiment_context
    return {"experiment_id": str(context.experiment_id), "variant": context.variant} if context else None


def _plan(composition: Composition) -> bytes:
    return composition.planning.planned.plan.model_dump_json(exclude_none=True).encode()


def _body(package: ContextPackage) -> bytes:
    """The package without its explanation."""
    return package.model_dump_json(by_alias=True, exclude_none=True, exclude={"debug"}).encode()


def _find_secrets(message: str, kept: frozenset[SecretKind]) -> dict[str, str]:
    """The secrets in the request, each with its placeholder."""
    _, hits = redact(message, kept)
    return {message[hit.start : hit.end]: placeholder(hit.kind) for hit in hits}


def blank_secrets(body: bytes, secrets: Mapping[str, str]) -> bytes:
    for secret in sorted(secrets, key=len, reverse=True):
        body = body.replace(orjson.dumps(secret)[1:-1], orjson.dumps(secrets[secret])[1:-1])
    return body


def _event(composition: Composition, injection: Row, version: str) -> Row:
    package, experiment = composition.package, composition.request.experiment_context
    payload = DecisionEvent(
        context_id=UUID(package.context_id),
        request_id=package.request_id or package.context_id,
        counts=receipts.count_reasons(injection["decisions"]),
        latency_ms=round(composition.took_ms, 3),
        budget_exceeded=composition.packaged.budget_exceeded,
        experiment=f"{experiment.experiment_id}:{experiment.variant}" if experiment else None,
    )
    subject, trace = composition.session[0], package.request_id or package.context_id
    common = {"trace_id": trace, "policy_version": version, "session_id": composition.request.session_id}
    return outbox.as_row(RECEIPT_RECORDED, outbox.event(payload, subject, package.context_id, **common), key=trace)
