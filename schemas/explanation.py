"""One package with all of its way there: asked for by whoever wants to know why, recorded by nobody."""

# ruff: noqa: RUF012 - pydantic copies a mutable default for every instance

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Contract, Instant, JsonObject
from schemas.compose import ComposeRequest
from schemas.context_package import ChatMessage, ContextPackage, PlannerDebug
from schemas.explain import ArmTiming, CandidateTrace, DroppedEvidence, ExecutedQuery, HeldBackText, Step

Arm = Literal["words", "vectors", "names", "session", "knowledge", "overlay", "all"]
"""By what something is found: `overlay` is what was said and is not learnt yet, `all` is every signal together."""


class ExplainRequest(ComposeRequest):
    """A message whose package is wanted with its way there; `policy` overrides brain.yml for this one answer."""

    policy: Annotated[
        JsonObject, Field(description="Keys of brain.yml about composing: `{compose: {evidence_max: 4}}`")
    ] = {}


class StepTime(Contract):
    """How long one step took, in milliseconds."""

    step: Step
    took_ms: float


class ArmBest(Contract):
    """Where a candidate stood highest by one arm, over all queries, and its score there."""

    arm: Arm
    rank: int
    score: float


class ExplainedCandidate(CandidateTrace):
    """A candidate with its best place by each arm, what kind of thing it is, and the step at which it was left out."""

    kind: Literal["memory", "turn", "resource"]
    scores: list[ArmBest] = []
    step: Step | None = None
    why: str = ""


class DroppedAtStep(DroppedEvidence):
    """What was left out, at which step, and why in a sentence."""

    step: Step
    why: str


class SectionBudget(Contract):
    """Tokens of one section: what it had to say, its bounds, its share, and what it has."""

    section: str
    wanted: int
    minimum: int
    maximum: int
    share: int
    granted: int
    used: int


class BudgetUse(Contract):
    """The tokens that were asked for, how many are used, and by what."""

    limit: int
    used: int
    margin: int
    profile: str
    allocation: Literal["dynamic", "static", "fallback"]
    sections: list[SectionBudget]


class Explanation(Contract):
    """A package as the model gets it (`messages`) and as it is made: nothing of it was recorded or counted as use."""

    package: ContextPackage
    messages: list[ChatMessage]
    policy: JsonObject
    policy_version: str
    planner: PlannerDebug
    queries: list[ExecutedQuery]
    arms: list[ArmTiming]
    rerank: str | bool = False
    candidates: list[ExplainedCandidate]
    dropped: list[DroppedAtStep]
    held_back: list[HeldBackText]
    why_selected: list[str]
    budget: BudgetUse
    steps: list[StepTime]
    notes: list[str] = []
    ignored: list[str] = []
    took_ms: float


class ReplayedItem(Contract):
    """A thing of a package: its key, the slot in which it stands, and its text."""

    id: str
    slot: Literal["core", "evidence"]
    text: str


class ChangedItem(Contract):
    """What stands in both packages and says something else: a new version, or another part of it."""

    before: ReplayedItem
    now: ReplayedItem


class Replay(Contract):
    """What the request of a stored package gets now, and how that differs from what it got then."""

    context_id: str
    created_at: Instant
    replayed_at: Instant
    gone: list[ReplayedItem]
    new: list[ReplayedItem]
    changed: list[ChangedItem]
    same: int
    before: ContextPackage
    explanation: Explanation
