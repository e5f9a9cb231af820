"""How compose orders what was found, and how much of one source a package holds."""

from typing import Self

from pydantic import Field, model_validator

from schemas.vocabulary import Provenance
from shared.policy.base import Slice

Steps = tuple[tuple[float, float], ...]
"""(days, factor) in rising order: a factor holds from its day up to, not including, the next one's (X13)."""


def check_steps(name: str, steps: Steps) -> None:
    """ValueError where the steps do not begin with day 0 and rise, or a factor is negative."""
    days = [day for day, _ in steps]
    if not days or days[0] != 0 or days != sorted(set(days)):
        raise ValueError(f"{name}: the days must begin with 0 and rise")
    if any(factor < 0 for _, factor in steps):
        raise ValueError(f"{name}: a factor is negative")


class ProvenanceWeights(Slice):
    """What a memory counts for by where it comes from; all four must be named."""

    observation: float = Field(default=0.6, ge=0, description="Said in passing")
    analysis: float = Field(default=0.8, ge=0, description="Said in several sessions, or done again and again")
    confirmed_by_user: float = Field(default=1.0, ge=0, description="Dictated, confirmed or corrected by the user")
    tool: float = Field(default=0.9, ge=0, description="Result of a tool")

    def weight_of(self, provenance: Provenance) -> float:
        """The weight of this provenance."""
        return getattr(self, provenance)


class FrequencyFactors(Slice):
    """How the reception of a memory moves it: up where it was used and not corrected, down where it was not."""

    least: int = Field(default=5, ge=1, description="Packages that carried it, below which nothing is moved")
    good: float = Field(default=0.7, ge=0, le=1, description="Share that was received well, above which it rises")
    bad: float = Field(default=0.3, ge=0, le=1, description="Share below which it falls")
    up: float = Field(default=1.1, ge=0, description="Factor of what rises")
    down: float = Field(default=0.7, ge=0, description="Factor of what falls")


class RankingPolicy(Slice):
    """What the order of a package's notes is made of, beside how likely each is to help.

    Relevance x recency x confidence after decay (`confidence.decay`) x provenance x reception.
    """

    recency: Steps = Field(
        default=((0, 1.2), (7, 1.0), (30, 0.8), (90, 0.6)),
        description="Factor from so many days after it became true: pairs of days and factor",
    )
    provenance: ProvenanceWeights = Field(default=ProvenanceWeights(), description="Factor by where it comes from")
    frequency: FrequencyFactors = Field(default=FrequencyFactors(), description="Factor by how it was received")
    turn_confidence: float = Field(default=0.6, ge=0, le=1, description="Confidence of what was said and not learnt")
    turn_provenance: float = Field(default=0.6, ge=0, description="Factor of provenance of the same")
    share_of_best: float = Field(
        default=0.2, ge=0, le=1, description="What is less likely to help than so much of the best stays out"
    )
    small_talk_least: float = Field(
        default=0.3, ge=0, le=1, description="How likely the best must be to help where nothing was asked"
    )

    @model_validator(mode="after")
    def _rises(self) -> Self:
        check_steps("recency", self.recency)
        return self


class DiversityShares(Slice):
    """How much of one source a package holds; every memory is a source of its own. A plan may say otherwise."""

    by_document: int = Field(default=3, ge=1, description="Pieces of one document")
    by_section: int = Field(default=1, ge=1, description="Pieces of one section of it")
    by_uri: int = Field(default=2, ge=1, description="Pieces of one address")
    by_domain: int = Field(default=10, ge=1, description="Pieces of one site")
    memory_share: float = Field(
        default=0.4, ge=0, le=1, description="Share of memory in the evidence where knowledge wants the rest"
    )
