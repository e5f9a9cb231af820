"""The behaviour of SmartBrain: brain.yml as frozen records, one file per task of the system.

docs/reference/policy.md is generated from these files; `shared.policy_file` reads brain.yml.
"""

import hashlib
from typing import Any, Self, cast

from pydantic import model_validator

from shared.policy.access import AccessPolicy, LimitsPolicy, SignInPolicy, TokenIssuer
from shared.policy.base import Slice
from shared.policy.compose import (
    ArmWeights,
    BudgetPolicy,
    Ceilings,
    ComposePolicy,
    DiversityShares,
    Maxima,
    Minima,
    ObservabilityPolicy,
    RankingPolicy,
    Shares,
)
from shared.policy.delivery import DeliveryPolicy
from shared.policy.erasure import ErasurePolicy, LegalProfile
from shared.policy.gate import Floor, GatePolicy
from shared.policy.knowledge import KnowledgePolicy
from shared.policy.learning import (
    AnalysisPolicy,
    CalibrationPolicy,
    ConfidencePolicy,
    EvolutionPolicy,
    ExperiencePolicy,
    FeedbackPolicy,
    ObserverPolicy,
    PersonalDataPolicy,
    PromotionPolicy,
    ProvenanceLevel,
    SessionPolicy,
)
from shared.policy.models import ModelPrice, ModelsPolicy
from shared.policy.retention import RetentionPolicy
from shared.policy.settings import SettingsPolicy

__all__ = (
    "AccessPolicy",
    "AnalysisPolicy",
    "ArmWeights",
    "BudgetPolicy",
    "CalibrationPolicy",
    "Ceilings",
    "ComposePolicy",
    "ConfidencePolicy",
    "DeliveryPolicy",
    "DiversityShares",
    "ErasurePolicy",
    "EvolutionPolicy",
    "ExperiencePolicy",
    "FeedbackPolicy",
    "Floor",
    "GatePolicy",
    "KnowledgePolicy",
    "LegalProfile",
    "LimitsPolicy",
    "Maxima",
    "Minima",
    "ModelPrice",
    "ModelsPolicy",
    "ObservabilityPolicy",
    "ObserverPolicy",
    "PersonalDataPolicy",
    "Policy",
    "PromotionPolicy",
    "ProvenanceLevel",
    "RankingPolicy",
    "RetentionPolicy",
    "SessionPolicy",
    "SettingsPolicy",
    "Shares",
    "SignInPolicy",
    "Slice",
    "TokenIssuer",
)


MOVED = {
    "retention.window_turns": "compose.recent_turns_max",
    "observability.contexts_keep_days": "retention.packages_days",
    "observability.receipts_keep_days": "retention.receipts_days",
    "feedback.injections_keep_days": "retention.injections_days",
    "delivery.inbox_keep_days": "retention.claims_days",
    "erasure.keep_years": "retention.proofs_years",
}
"""Older names of keys, with the newer ones."""


class Policy(Slice):
    """All of brain.yml."""

    retention: RetentionPolicy = RetentionPolicy()
    confidence: ConfidencePolicy = ConfidencePolicy()
    personal_data: PersonalDataPolicy = PersonalDataPolicy()
    observer: ObserverPolicy = ObserverPolicy()
    models: ModelsPolicy = ModelsPolicy()
    analysis: AnalysisPolicy = AnalysisPolicy()
    compose: ComposePolicy = ComposePolicy()
    knowledge: KnowledgePolicy = KnowledgePolicy()
    feedback: FeedbackPolicy = FeedbackPolicy()
    observability: ObservabilityPolicy = ObservabilityPolicy()
    evolution: EvolutionPolicy = EvolutionPolicy()
    erasure: ErasurePolicy = ErasurePolicy()
    session: SessionPolicy = SessionPolicy()
    settings: SettingsPolicy = SettingsPolicy()
    delivery: DeliveryPolicy = DeliveryPolicy()
    access: AccessPolicy = AccessPolicy()
    limits: LimitsPolicy = LimitsPolicy()
    gate: GatePolicy = GatePolicy()

    @model_validator(mode="before")
    @classmethod
    def _read_moved_keys(cls, raw: Any) -> Any:
        """Moves a value from an older name to the newer; ValueError if both have different values."""
        if not isinstance(raw, dict):
            return raw  # pyright: ignore[reportUnknownVariableType] # pydantic reports errors in it
        fields = dict(cast("dict[str, Any]", raw))
        for former, name in MOVED.items():
            (old_part, old_key), (part, key) = former.split("."), name.split(".")
            given, target = _to_mapping(fields.get(old_part)), _to_mapping(fields.get(part) or {})
            if given is None or target is None or (value := given.get(old_key)) is None:
                continue  # pydantic reports errors in a part
            if target.setdefault(key, value) != value:
                raise ValueError(f"{former}: {value} is not {name}, {target[key]}")
            if former != "retention.window_turns":  # that one is still a key, so that its own errors name it
                del given[old_key]
            fields |= {old_part: given, part: target}
        return fields

    @model_validator(mode="after")
    def _keeps_what_is_counted(self) -> Self:
        counted, kept = self.evolution.experience.days, self.retention.tool_receipts_days
        if counted > kept:
            raise ValueError(f"retention.tool_receipts_days: {kept} is less than evolution.experience.days, {counted}")
        return self

    @property
    def version(self) -> str:
        """The id of this policy in every event and receipt: a hash of its values."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]


def _to_mapping(part: Any) -> dict[str, Any] | None:
    """A copy of the part, for one of several keys."""
    return dict(cast("dict[str, Any]", part)) if isinstance(part, dict) else None
