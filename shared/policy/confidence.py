"""The confidence of memories: used by the observer, the analyzer, the evolver and compose."""

from typing import Self

from pydantic import Field, model_validator

from schemas.vocabulary import Assertion, Provenance
from shared.policy.base import Slice
from shared.policy.compose import Steps, check_steps


class ProvenanceLevel(Slice):
    """Provenance and confidence of a new memory."""

    provenance: Provenance = Field(description="Provenance of the memory")
    initial: float = Field(ge=0, le=1, description="Initial confidence")
    cap: float = Field(ge=0, le=1, description="Maximum confidence, however often it is repeated")


def _default_confidences() -> dict[Assertion, ProvenanceLevel]:
    return {
        "directive": ProvenanceLevel(provenance="confirmed_by_user", initial=0.9, cap=1.0),
        "confirmed": ProvenanceLevel(provenance="confirmed_by_user", initial=0.8, cap=1.0),
        "correction": ProvenanceLevel(provenance="confirmed_by_user", initial=0.9, cap=1.0),
        "tool": ProvenanceLevel(provenance="tool", initial=0.9, cap=0.95),
        "declared": ProvenanceLevel(provenance="observation", initial=0.5, cap=0.5),
        "inferred": ProvenanceLevel(provenance="observation", initial=0.4, cap=0.6),
        "behaviour": ProvenanceLevel(provenance="analysis", initial=0.7, cap=0.8),
    }


class ConfidencePolicy(Slice):
    """The initial and maximum confidence of a memory, by how the statement was made.

    A claim of money, entitlement or authority is always capped. The higher provenance wins: `confirmed_by_user`,
    `tool`, `analysis`, `observation`; among equals the later statement. Stored confidence never decays.
    """

    standings: dict[Assertion, ProvenanceLevel] = Field(
        default_factory=_default_confidences, description="By how the statement was made"
    )
    self_benefit: ProvenanceLevel = Field(
        default=ProvenanceLevel(provenance="observation", initial=0.4, cap=0.5),
        description="For claims of money, entitlement or authority, however they are made",
    )
    repeated: ProvenanceLevel = Field(
        default=ProvenanceLevel(provenance="analysis", initial=0.7, cap=0.8),
        description="For a declaration that was made in several sessions",
    )
    decay: Steps = Field(
        default=((0, 1.0), (30, 0.85), (90, 0.6), (180, 0.3)),
        description="Decay of confidence since the last confirmation: pairs of days and factor",
    )
    repeated_sessions: int = Field(
        default=2, ge=2, description="Number of sessions that raise a declaration to `analysis`"
    )

    @model_validator(mode="after")
    def _rises(self) -> Self:
        check_steps("decay", self.decay)
        return self

    def provenance_cap(self, provenance: Provenance, flags: tuple[str, ...] = ()) -> float:
        """The maximum confidence of a memory with this provenance."""
        if "self_benefit" in flags:
            return self.self_benefit.cap
        every = (*self.standings.values(), self.repeated)
        return max((each.cap for each in every if each.provenance == provenance), default=1.0)

    def level_of(self, assertion: Assertion, flags: tuple[str, ...] = ()) -> ProvenanceLevel:
        """The initial confidence of an assertion with these flags."""
        return self.self_benefit if "self_benefit" in flags else self.standings[assertion]
