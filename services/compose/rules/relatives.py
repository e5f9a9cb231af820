"""A relative's illness is shown where it is asked about: not as the user's own, and not in small talk."""

from dataclasses import replace

from schemas.vocabulary import Intent
from services.compose.rules.fuse import Fused
from services.compose.rules.model import Dropped
from shared.reading.relatives import asks_own_health, speaks_of_health, tells_of_relative

RULE = "of_relative"


def without_relatives(fused: Fused, message: str, intent: Intent) -> Fused:
    """The order without a relative's health, where small talk is made or the user's own is asked about."""
    if intent != "small_talk" and not asks_own_health(message):
        return fused
    gone = {
        each.key
        for each in fused.ranked
        if not each.candidate.is_resource
        and speaks_of_health(each.candidate.text)
        and tells_of_relative(each.candidate.text)
    }
    if not gone:
        return fused
    dropped = [Dropped(each.key, "relevance", each.score, RULE) for each in fused.ranked if each.key in gone]
    left = tuple(each for each in fused.ranked if each.key not in gone)
    return replace(fused, ranked=left, dropped=(*fused.dropped, *dropped))
