"""Facts about the speaker that fill slots: name, home, work, family, health; and facts about the speaker's business."""

import re

from shared.reading import profile_words as words
from shared.reading.clauses import Clause
from shared.reading.guards import Stance
from shared.reading.keys import tidy
from shared.reading.model import Found
from shared.reading.profile_build import fact
from shared.reading.profile_en import ANY_EN, english
from shared.reading.profile_zh import ANY_ZH, call_zh, chinese


def find(clause: Clause, stance: Stance) -> list[Found]:
    """The facts about the speaker or the speaker's business that the clause states."""
    if stance.asked or stance.supposed or stance.reported or stance.ironic or stance.subject == "agent":
        return _call(clause) if stance.subject == "agent" and not stance.asked and not stance.reported else []
    signs = clause.mask
    if clause.language == "en":
        return english(clause.text, stance, signs) if signs & ANY_EN else []
    found = chinese(clause.text, stance, signs) if signs & ANY_ZH else []
    return found or (
        english(clause.text, stance, signs) if signs & ANY_EN and re.search(r"\b(?:I|my|our|we)\b", clause.text) else []
    )


def _call(clause: Clause) -> list[Found]:
    if clause.language == "zh":
        return call_zh(clause.text)
    match = words.CALL_EN.search(clause.text)
    if match and not words.NOT_NAME.search(match["name"]):
        name = tidy(match["name"])
        return [fact("call_me", name, f"wants to be called {name}", "call_me")]
    return []
