"""Stated confidence and truth of each statement that the rules read into the labelled sets."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schemas.vocabulary import Assertion, Provenance
from services.cli.evaluate import score as scoring
from services.cli.evaluate.judge import of_part, seen_in
from services.cli.evaluate.reader import Reader
from services.cli.evaluate.sets import Correction, Label, LabelledExtraction, Part, SetName, read
from shared.extraction import Observation
from shared.extraction.turn_texts import confidence_of
from shared.policy import ConfidencePolicy


@dataclass(frozen=True, slots=True)
class Stated:
    """One statement as it would be written: how far it is believed, whether it is right, and where it comes from."""

    confidence: float
    right: bool
    assertion: Assertion
    provenance: Provenance
    flags: tuple[str, ...]
    groups: tuple[str, ...]


async def statements(
    folder: Path, part: Part | None, reader: Reader | None, policy: ConfidencePolicy
) -> tuple[Stated, ...]:
    """Every statement read into the sets of extractions and corrections that a label says anything of.

    In the set of corrections that is the corrections alone. What a label neither asks for nor forbids is left out.
    """
    extractions = of_part(read(folder, "extraction", LabelledExtraction), part)
    corrections = of_part(read(folder, "corrections", Correction), part)
    stated: list[Stated] = []
    for label, observed in zip(extractions, await seen_in(extractions, reader), strict=True):
        _, right_ones, wrong = scoring.judge_statements(label, observed.observations)
        stated += list_statements("extraction", label, right_ones, wrong, policy)
    for label, observed in zip(corrections, await seen_in(corrections, reader), strict=True):
        read_as = [one for one in observed.observations if one.assertion == "correction"]
        right = [one for one in read_as if scoring.judge_change(label, one)]
        stated += list_statements("corrections", label, right, [one for one in read_as if one not in right], policy)
    return tuple(stated)


def list_statements(
    name: SetName, label: Label, right: list[Observation], wrong: list[Observation], policy: ConfidencePolicy
) -> Iterator[Stated]:
    for one, so in [*((one, True) for one in right), *((one, False) for one in wrong)]:
        standing = policy.level_of(one.assertion, one.flags)
        yield Stated(
            confidence=confidence_of(one, policy),
            right=so,
            assertion=one.assertion,
            provenance=standing.provenance,
            flags=one.flags,
            groups=(
                f"set {name}",
                f"part {label.part}",
                f"language {label.language}",
                f"assertion {one.assertion}",
            ),
        )
