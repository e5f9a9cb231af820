"""The release gate: precision and recall must both pass; a set that is not measured fails."""

from dataclasses import dataclass

from services.cli.evaluate.score import Score
from shared.policy import GatePolicy


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """One floor, and what was measured against it."""

    name: str
    measured: float
    floor: float

    @property
    def passed(self) -> bool:
        """Whether the floor is met."""
        return self.measured >= self.floor


def verdicts(scores: dict[str, Score], policy: GatePolicy) -> list[GateVerdict]:
    """Every floor of the sets that were measured."""
    reached: list[GateVerdict] = []
    for name, score in scores.items():
        floor = policy.floors.get(name)
        if floor is None:
            continue
        counts = score.overall
        reached.append(GateVerdict(f"{name} precision", counts.precision, floor.precision))
        reached.append(GateVerdict(f"{name} recall", counts.recall, floor.recall))
        if floor.benign is not None:
            benign = score.samples - counts.right - counts.missed
            reached.append(
                GateVerdict(f"{name} benign kept", 1 - counts.wrong / benign if benign else 1.0, floor.benign)
            )
    return reached
