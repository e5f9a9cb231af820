"""One composition, or one plan that was executed, with all that led to it: what replies and receipts are made from."""

from dataclasses import dataclass

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.evidence_pack import EvidencePack
from schemas.retrieve import RetrieveRequest
from services.compose.context.hits import SearchResult
from services.compose.context.planner import PlanningResult
from services.compose.rules.packing.pack import PackagedContext
from services.compose.rules.ranking.fuse import FusePolicy, FusionResult


@dataclass(frozen=True)
class Composition:
    """A package as it is answered, and its way there; `took_ms` ends before the package is written as JSON."""

    asked: ComposeRequest
    package: ContextPackage
    thought: PlanningResult
    found: SearchResult
    policy: FusePolicy
    fused: FusionResult
    packed: PackagedContext
    took_ms: float
    epoch: int
    """The user's when it was begun: after an erasure it is not recorded any more."""


@dataclass(frozen=True)
class Retrieved:
    """What a plan that was given has found; `epoch` as of a package."""

    asked: RetrieveRequest
    pack: EvidencePack
    epoch: int
