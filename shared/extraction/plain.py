"""What one clause states under a key, by the finders of appointments, facts of the speaker and tastes."""

from datetime import date

from shared.extraction import scheduled, signals
from shared.extraction.clauses import Clause
from shared.extraction.guards import Stance
from shared.extraction.model import Found
from shared.extraction.slots import find_facts, find_tastes


def find_plain(clause: Clause, stance: Stance, today: date) -> list[Found]:
    """What the clause states: an appointment, facts of the speaker, or tastes."""
    if appointed := scheduled.find(clause, stance, today):
        return appointed
    about = stance.subject == "self" or signals.speaker(clause)
    if about and (facts := find_facts(clause, stance)):
        return facts
    return find_tastes(clause, stance) if signals.taste(clause) else []
