"""`smartbrain eval calibration`: stated confidence against observed correctness, before and after calibration."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from services.cli.evaluate import calibration, reliability
from services.cli.evaluate.calibration import CalibrationFigures, GroupComparison
from services.cli.evaluate.reader import Reader
from services.cli.evaluate.received import ReceptionModel, simulate_receptions
from services.cli.evaluate.sets import Part
from services.cli.evaluate.stated import statements
from services.cli.output import out
from shared.policy import Policy

NOTES = (
    "Before: as written, by the rules' own assertions and the policy's standings; declared statements are held to 0.5"
    " by the seeds however often they are right, and so are underconfident by design.",
    "After: each was received by a person made up from a seed, and every round of upkeep was applied by the evolver's"
    " own rules. Only the shape of the result speaks for them: the person knows the labels.",
    "Shown: those still in sight afterwards; what was fused or evicted answers nothing any more.",
    "Correct is what the judge of `smartbrain eval` matches to a label; what a label merely allows counts as correct.",
)


@dataclass(frozen=True, slots=True)
class Trust:
    """The measured figures, and the parameters of the simulated receptions. The shares are of hidden memories."""

    groups: dict[str, GroupComparison]
    how: ReceptionModel
    right_hidden: float
    wrong_hidden: float


async def measure(data: Path, part: Part | None, reader: Reader | None, policy: Policy, how: ReceptionModel) -> Trust:
    """The calibration of every statement extracted from the labelled sets, before and after receptions."""
    before = await statements(data, part, reader, policy.confidence)
    after = simulate_receptions(before, how, policy)
    hidden = [each.stated.right for each in after if not each.shown]
    right = sum(each.right for each in before)
    wrong = len(before) - right
    return Trust(
        groups=calibration.compare_groups(before, after),
        how=how,
        right_hidden=sum(hidden) / right if right else 0.0,
        wrong_hidden=(len(hidden) - sum(hidden)) / wrong if wrong else 0.0,
    )


def show(trust: Trust) -> None:
    """One row a group: before, after, and after of what is still shown; then the bins of all as bars."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    table.add_column("calibration")
    for column in ("n", "stated", "correct", "Brier", "ECE", "mass", "Brier after", "ECE after", "ECE shown"):
        table.add_column(column, justify="right")
    for name, each in trust.groups.items():
        table.add_row(name, *_cells(each))
    out.print(table)
    for line in [*_bars(trust), *notes(trust)]:
        out.print(Text(line, "dim"), soft_wrap=True)


def _cells(each: GroupComparison) -> tuple[str, ...]:
    before, after = each.before, each.after
    figures = (before.stated, before.observed, before.brier, before.ece, before.ece_mass, after.brier, after.ece)
    return (str(before.n), *(f"{value:.3f}" for value in (*figures, each.shown.ece)))


def _bars(trust: Trust) -> list[str]:
    whole = trust.groups["all"]
    return [
        *reliability.bars("as written", whole.before.bins),
        *reliability.bars("after", whole.after.bins),
    ]


def notes(trust: Trust) -> list[str]:
    """How the receptions were simulated, how many memories they hid, and how to read the figures."""
    how = trust.how
    return [
        f"{how.packages} packages each, upkeep after every {how.round_every}; {how.silent:.0%} of the people say"
        f" nothing, {how.mistaken:.0%} of the others say the opposite; seed {how.seed}.",
        f"Out of sight in the end: {trust.wrong_hidden:.1%} of the wrong, {trust.right_hidden:.1%} of the correct.",
        *NOTES,
    ]


def as_json(trust: Trust, about: dict[str, Any]) -> dict[str, Any]:
    """All figures, bins among them."""
    return {
        **about,
        "calibration": {
            name: {"before": to_json(each.before), "after": to_json(each.after), "shown": to_json(each.shown)}
            for name, each in trust.groups.items()
        },
        "reception": asdict(trust.how),
        "correct_out_of_sight": round(trust.right_hidden, 4),
        "wrong_out_of_sight": round(trust.wrong_hidden, 4),
        "notes": list(NOTES),
    }


def to_json(figures: CalibrationFigures) -> dict[str, Any]:
    plain = {name: round(value, 4) for name, value in asdict(figures).items() if name != "bins"}
    bins = [{name: round(value, 4) for name, value in asdict(each).items()} for each in figures.bins]
    return {**plain, "bins": bins}


def plot(trust: Trust, path: Path) -> None:
    """Writes the reliability diagram of all statements to the file, as SVG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(reliability.svg(trust.groups["all"]), "utf-8")
