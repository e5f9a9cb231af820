"""The figures of calibration on known examples, and the effect of receptions on a confidence."""

from collections.abc import Sequence
from xml.etree import ElementTree

import pytest

from schemas.vocabulary import Assertion
from services.cli.evaluate import calibration, reliability
from services.cli.evaluate.calibration import Belief, figures
from services.cli.evaluate.received import After, ReceptionModel, simulate_receptions
from services.cli.evaluate.stated import Stated
from shared.policy import Policy

POLICY = Policy()


def beliefs(*groups: tuple[float, int, int]) -> list[Belief]:
    """This many correct and this many wrong statements at each confidence."""
    return [(confidence, n < right) for confidence, right, wrong in groups for n in range(right + wrong)]


@pytest.mark.parametrize(
    ("found", "brier", "ece", "ece_mass"),
    [
        ([], 0.0, 0.0, 0.0),
        (beliefs((1.0, 5, 0)), 0.0, 0.0, 0.0),
        (beliefs((1.0, 0, 5)), 1.0, 1.0, 1.0),
        (beliefs((0.5, 5, 5)), 0.25, 0.0, 0.0),
        (beliefs((0.8, 8, 2), (0.3, 3, 7)), 0.185, 0.0, 0.0),
        (beliefs((0.9, 5, 5)), 0.41, 0.4, 0.4),
        # two confidences in one interval: their errors cancel in bins of equal width, not in bins of equal mass
        (beliefs((0.52, 10, 0), (0.58, 0, 10)), (0.48**2 + 0.58**2) / 2, 0.05, (0.48 + 0.58) / 2),
    ],
)
def test_figures_match_their_definition(found: Sequence[Belief], brier: float, ece: float, ece_mass: float) -> None:
    got = figures(found)
    assert (got.brier, got.ece, got.ece_mass) == pytest.approx((brier, ece, ece_mass))
    assert figures(list(reversed(found))) == got


def test_a_confidence_on_a_boundary_belongs_to_the_interval_above() -> None:
    got = figures(beliefs((0.3, 1, 0), (0.7, 1, 0), (1.0, 1, 0)))
    assert [(each.low, each.high) for each in got.bins] == [(0.3, 0.4), (0.7, 0.8), (0.9, 1.0)]


def make_stated(confidence: float, right: bool, assertion: Assertion = "declared", language: str = "zh") -> Stated:
    standing = POLICY.confidence.level_of(assertion)
    return Stated(confidence, right, assertion, standing.provenance, (), (f"language {language}",))


CERTAIN = ReceptionModel(packages=20, silent=0.0, mistaken=0.0)


def apply_receptions(one: Stated, how: ReceptionModel) -> After:
    (found,) = simulate_receptions([one], how, POLICY)
    return found


@pytest.mark.parametrize("assertion", ["declared", "inferred", "directive", "correction", "behaviour", "tool"])
def test_a_correct_memory_rises_to_its_cap_and_a_wrong_one_is_suspended(assertion: Assertion) -> None:
    standing = POLICY.confidence.standings[assertion]
    right = apply_receptions(make_stated(standing.initial, True, assertion), CERTAIN)
    assert right.shown
    assert standing.initial < right.stated.confidence
    assert right.stated.confidence <= POLICY.confidence.provenance_cap(standing.provenance)
    wrong = apply_receptions(make_stated(standing.initial, False, assertion), CERTAIN)
    assert not wrong.shown
    assert wrong.stated.confidence < 0.2


def test_no_reception_changes_nothing() -> None:
    for right in (True, False):
        found = apply_receptions(make_stated(0.5, right), ReceptionModel(silent=1.0))
        assert (found.stated.confidence, found.shown) == (0.5, True)


def test_simulated_receptions_are_reproducible_and_noise_has_a_cost() -> None:
    some = [make_stated(0.5, n % 10 > 0, language="en" if n % 2 else "zh") for n in range(200)]
    once, again = (
        simulate_receptions(some, ReceptionModel(), POLICY),
        simulate_receptions(some, ReceptionModel(), POLICY),
    )
    assert once == again
    measured = calibration.compare_groups(some, once)
    assert set(measured) == {"all", "language en", "language zh"}
    assert measured["all"].after.brier < measured["all"].before.brier
    clear = calibration.compare_groups(some, simulate_receptions(some, CERTAIN, POLICY))
    assert clear["all"].after.brier < measured["all"].after.brier
    noisy = simulate_receptions(some, ReceptionModel(mistaken=0.5), POLICY)
    assert any(each.stated.right and not each.shown for each in noisy)


def test_the_diagram_has_a_point_for_each_bin() -> None:
    some = [make_stated(0.5, True), make_stated(0.9, True, "directive"), make_stated(0.9, False, "directive")]
    whole = calibration.compare_groups(some, simulate_receptions(some, CERTAIN, POLICY))["all"]
    picture = ElementTree.fromstring(reliability.svg(whole))  # noqa: S314 # created by this test
    dots = picture.findall("{http://www.w3.org/2000/svg}circle")
    assert len(dots) == len(whole.before.bins) + len(whole.after.bins)
    lines = reliability.bars("as written", whole.before.bins)
    assert len(lines) == 1 + len(whole.before.bins)
    assert [line.split()[3:6] for line in lines[1:]] == [["0.500", "1.000", "1"], ["0.900", "0.500", "2"]]
