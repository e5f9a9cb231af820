"""How SmartBrain behaves: brain.yml as frozen records, one file for each service that goes by them.

docs/reference/policy.md is made from these files; `shared.policy_file` reads brain.yml.
"""

import hashlib
from typing import Any, cast

from pydantic import Field, model_validator

from shared.policy.access import AccessPolicy, TokenIssuer
from shared.policy.analyzer import AnalysisPolicy
from shared.policy.base import Slice
from shared.policy.budget import BudgetPolicy, Ceilings, Maxima, Minima, Shares
from shared.policy.compose import ArmWeights, ComposePolicy, ObservabilityPolicy
from shared.policy.confidence import ConfidencePolicy, ProvenanceLevel
from shared.policy.delivery import DeliveryPolicy
from shared.policy.erasure import ErasurePolicy, LegalProfile
from shared.policy.evolver import EvolutionPolicy, ExperiencePolicy, FeedbackPolicy, PromotionPolicy
from shared.policy.gate import Floor, GatePolicy
from shared.policy.knowledge import KnowledgePolicy
from shared.policy.limits import LimitsPolicy
from shared.policy.observer import ObserverPolicy, SessionPolicy
from shared.policy.personal import PersonalDataPolicy

__all__ = (
    "AccessPolicy",
    "AnalysisPolicy",
    "ArmWeights",
    "BudgetPolicy",
    "Ceilings",
    "ComposePolicy",
    "ConfidencePolicy",
    "DeliveryPolicy",
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
    "ObservabilityPolicy",
    "ObserverPolicy",
    "PersonalDataPolicy",
    "Policy",
    "PromotionPolicy",
    "ProvenanceLevel",
    "RetentionPolicy",
    "SessionPolicy",
    "Shares",
    "Slice",
    "TokenIssuer",
)


class RetentionPolicy(Slice):
    """Older names of settings, read as the newer ones."""

    window_turns: int | None = Field(default=None, ge=0, description="Older name of `compose.recent_turns_max`")


class Policy(Slice):
    """All of brain.yml."""

    retention: RetentionPolicy = Field(default=RetentionPolicy(), exclude=True)
    confidence: ConfidencePolicy = ConfidencePolicy()
    personal_data: PersonalDataPolicy = PersonalDataPolicy()
    observer: ObserverPolicy = ObserverPolicy()
    analysis: AnalysisPolicy = AnalysisPolicy()
    compose: ComposePolicy = ComposePolicy()
    knowledge: KnowledgePolicy = KnowledgePolicy()
    feedback: FeedbackPolicy = FeedbackPolicy()
    observability: ObservabilityPolicy = ObservabilityPolicy()
    evolution: EvolutionPolicy = EvolutionPolicy()
    erasure: ErasurePolicy = ErasurePolicy()
    session: SessionPolicy = SessionPolicy()
    delivery: DeliveryPolicy = DeliveryPolicy()
    access: AccessPolicy = AccessPolicy()
    limits: LimitsPolicy = LimitsPolicy()
    gate: GatePolicy = GatePolicy()

    @model_validator(mode="before")
    @classmethod
    def _read_aliases(cls, raw: Any) -> Any:
        """What stands under another name of it stands under its own; ValueError where the two say different things."""
        fields = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
        retention: Any = fields.get("retention")
        compose: Any = fields.get("compose") or {}
        if not isinstance(retention, dict) or not isinstance(compose, dict):
            return cast("Any", raw)
        turns = cast("dict[str, Any]", retention).get("window_turns")
        given = cast("dict[str, Any]", compose)
        if turns is None:
            return fields
        other = given.get("recent_turns_max", turns)
        if other != turns:
            raise ValueError(f"retention.window_turns: {turns} is not compose.recent_turns_max, {other}")
        return {**fields, "compose": {**given, "recent_turns_max": turns}}

    @property
    def version(self) -> str:
        """Names this policy in every event and receipt: a hash of its values."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]
