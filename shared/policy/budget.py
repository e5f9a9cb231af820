"""The tokens of a package, which compose hands out."""

from typing import Literal, Self

from pydantic import Field, model_validator

from schemas.compose import PROFILE_WINDOWS, BudgetProfileName
from shared.policy.base import Slice


class Shares(Slice):
    """Tokens of each slot of a package."""

    system: int = Field(ge=0)
    user_turn: int = Field(ge=0)
    generation: int = Field(ge=0)
    personal: int = Field(ge=0)
    window: int = Field(ge=0)
    summary: int = Field(ge=0)
    entities: int = Field(ge=0)
    knowledge: int = Field(ge=0)

    @property
    def incompressible(self) -> dict[str, int]:
        """The slots that are never cut."""
        return {"system": self.system, "user_turn": self.user_turn, "generation": self.generation}


class Minima(Shares):
    """The least of each slot."""

    system: int = Field(default=1500, ge=0)
    user_turn: int = Field(default=1000, ge=0)
    generation: int = Field(default=2000, ge=0)
    personal: int = Field(default=2000, ge=0)
    window: int = Field(default=3000, ge=0)
    summary: int = Field(default=1000, ge=0)
    entities: int = Field(default=500, ge=0)
    knowledge: int = Field(default=0, ge=0)


class Maxima(Shares):
    """The most of each slot."""

    system: int = Field(default=3000, ge=0)
    user_turn: int = Field(default=4000, ge=0)
    generation: int = Field(default=6000, ge=0)
    personal: int = Field(default=8000, ge=0)
    window: int = Field(default=10_000, ge=0)
    summary: int = Field(default=5000, ge=0)
    entities: int = Field(default=2000, ge=0)
    knowledge: int = Field(default=14_000, ge=0)


class Ceilings(Slice):
    """The most tokens of personal memory by the intent of the message."""

    small_talk: int = Field(default=500, ge=0)
    recommend: int = Field(default=3000, ge=0)
    complaint: int = Field(default=2000, ge=0)
    knowledge_qa: int = Field(default=1000, ge=0)
    preference_check: int = Field(default=4000, ge=0)
    task: int = Field(default=2000, ge=0)
    other: int = Field(default=2000, ge=0)


def _profiles() -> dict[BudgetProfileName, Shares]:
    slots = ("system", "user_turn", "generation", "personal", "window", "summary", "entities", "knowledge")
    sizes: dict[BudgetProfileName, tuple[int, ...]] = {
        "8k": (1500, 1000, 2000, 1000, 1200, 500, 150, 400),
        "16k": (2000, 1500, 2500, 2500, 3500, 1200, 500, 1800),
        "32k": (2000, 2000, 4000, 4000, 6000, 3000, 1000, 8000),
    }
    return {name: Shares.model_validate(dict(zip(slots, each, strict=True))) for name, each in sizes.items()}


class BudgetPolicy(Slice):
    """Who gets how many tokens of a package.

    Rules and the user's message are never cut, and the answer keeps its least. Each other slot is given what it
    wants, up to its most; where that is too much, each gives way in `order`, down to its share and then to its
    least. What one slot does not use goes to those that want more. In windows below 8,192 tokens the minima
    shrink with the room. A budget that cannot hold `minima` of system, user turn and generation with the margin
    stops the start.
    """

    allocation: Literal["dynamic", "static"] = Field(
        default="dynamic",
        description="`dynamic`: the shares of the profile are moved by what there is to say. `static`: the shares as"
        " they are",
    )
    order: Literal["fixed_priority", "evidence_first"] = Field(
        default="fixed_priority",
        description="Who gives way first. `fixed_priority`: knowledge, summary, entities, window, personal."
        " `evidence_first`: entities, window, summary, knowledge, personal",
    )
    margin_share: float = Field(default=0.05, ge=0, lt=1, description="Share of the window that is never spent ...")
    margin_min: int = Field(default=200, ge=0, description="... and the least number of tokens of it")
    profiles: dict[BudgetProfileName, Shares] = Field(
        default_factory=_profiles, description="Tokens of each slot by the name of the window; other limits lie between"
    )
    minima: Minima = Field(default=Minima(), description="The least of each slot")
    maxima: Maxima = Field(default=Maxima(), description="The most of each slot")
    ceilings: Ceilings = Field(default=Ceilings(), description="The most tokens of personal memory by intent")
    small_talk_items: int = Field(default=2, ge=0, description="Memories at most in a greeting")

    def margin(self, window: float) -> float:
        """What is never spent: a share of the window, and at least so many tokens."""
        return max(window * self.margin_share, self.margin_min)

    @model_validator(mode="after")
    def _holds_what_is_never_cut(self) -> Self:
        """Fail at the start: every profile holds the incompressible minima, its shares and the margin (X24, X52)."""
        if missing := [name for name in PROFILE_WINDOWS if name not in self.profiles]:
            raise ValueError(f"profiles.{missing[0]} is missing")
        for slot, least in dict(self.minima).items():
            if least > (most := getattr(self.maxima, slot)):
                raise ValueError(f"minima.{slot}: {least} is more than maxima.{slot}, {most}")
        for name, window in PROFILE_WINDOWS.items():
            self._fits(name, window)
        return self

    def _fits(self, name: BudgetProfileName, window: int) -> None:
        room, shares = int(window - self.margin(window)), self.profiles[name]
        needed = sum(self.minima.incompressible.values())
        if needed > room:
            problem = f"system, user_turn and generation need {needed}; a window of {window} leaves {room}"
            raise ValueError(f"minima: {problem} beside its margin (profiles.{name})")
        for slot, least in self.minima.incompressible.items():
            if (share := getattr(shares, slot)) < least:
                raise ValueError(f"profiles.{name}.{slot}: {share} is less than minima.{slot}, {least}")
        for slot, most in dict(self.maxima).items():
            if (share := getattr(shares, slot)) > most:
                raise ValueError(f"profiles.{name}.{slot}: {share} is more than maxima.{slot}, {most}")
        if (whole := sum(dict(shares).values())) > room:
            raise ValueError(f"profiles.{name}: its slots need {whole}; {window} less the margin leaves {room}")
