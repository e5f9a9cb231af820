"""What an observation means next to what is known: pure (seed 004 section 2.3)."""

from collections.abc import Sequence

from shared.policy import ConfidencePolicy
from shared.relate import Known, Relation, Statement, relate


def propose(new: Statement, known: Sequence[Known], policy: ConfidencePolicy) -> Relation:
    """Create, confirm, supersede, retract, skip or ask, with the standing that the result should have."""
    return relate(new, known, policy)
