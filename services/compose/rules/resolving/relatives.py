"""What is told of a relative is shown where it is asked about: not as the user's own, and not in small talk."""

from dataclasses import replace

from schemas.vocabulary import Intent
from services.compose.rules.candidates import Dropped, RankedCandidate
from services.compose.rules.ranking.fuse import OF_BEST, FusionResult
from shared.extraction.relatives import asks_of_self, asks_own_health, speaks_of_health, tells_of_relative

RULE = "of_relative"


def without_relatives(fused: FusionResult, message: str, intent: Intent) -> FusionResult:
    """The order without what is told of a relative, where the question is about the user and has an answer of theirs.

    A relative's illness is left out even where there is none, and in small talk.
    """
    personal = intent == "preference_check" and asks_of_self(message)
    of_health = intent == "small_talk" or asks_own_health(message)
    if not (personal or of_health):
        return fused
    told = [each for each in fused.ranked if not each.candidate.is_resource and tells_of_relative(each.candidate.text)]
    keys = {each.key for each in told}
    own = max((each.candidate.probability for each in fused.ranked if each.key not in keys), default=0.0)

    def misleads(each: RankedCandidate) -> bool:
        if of_health and speaks_of_health(each.candidate.text):
            return True
        return personal and own >= OF_BEST * each.candidate.probability

    gone = {each.key for each in told if misleads(each)}
    if not gone:
        return fused
    dropped = [Dropped(each.key, "relevance", each.score, RULE) for each in fused.ranked if each.key in gone]
    left = tuple(each for each in fused.ranked if each.key not in gone)
    return replace(fused, ranked=left, dropped=(*fused.dropped, *dropped))
