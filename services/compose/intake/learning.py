"""Decides before the commit whether a turn asks to be remembered or not: the setting `learning` of its user."""

from dataclasses import dataclass
from datetime import datetime

from schemas.content import words_of
from schemas.turn_events import TurnEvents
from shared import clock
from shared.domain.subjects import Subject
from shared.domain.user_settings import hold_settings, is_allowed
from shared.extraction import MessageText, TurnText
from shared.extraction.wishes import find_learning_wish
from shared.runtime import Runtime
from shared.store import user_settings


@dataclass(frozen=True, slots=True)
class LearningDecision:
    """Whether the turn may be learnt from, and how it changes the setting, with the time of that wish.

    `silences_session`: the user may not change the setting, so that the wish holds for the session only.
    """

    learning: bool
    chosen: bool | None = None
    at: datetime | None = None
    silences_session: bool = False


async def decide_learning(turn: TurnEvents, rt: Runtime, sent_at: datetime | None) -> LearningDecision:
    """The decision under the user's settings, with the wishes in the turn. `rt` is the runtime without user settings.

    A turn older than the last choice changes nothing. Detecting a wish takes about 0.13 ms per turn.
    """
    subject = Subject(turn.tenant_id, turn.user_id)
    wish = find_learning_wish(to_turn_text(turn))
    if wish is None:
        return LearningDecision((await rt.of(subject)).policy.observer.learn)
    (settings,) = await rt.db.read(subject, user_settings.load(subject))
    of_tenant = hold_settings(rt.policy, settings.tenant, {}).policy
    learning = hold_settings(rt.policy, settings.tenant, settings.user).policy.observer.learn
    if wish.scope == "here" and learning:
        return LearningDecision(learning)
    may = "learning" in of_tenant.settings.user_may
    if not may or not is_allowed(rt.policy, of_tenant, "learning", "user", wish.remember):
        return LearningDecision(learning, silences_session=not wish.remember)
    at = min(each for each in (turn.created_at, sent_at, clock.now()) if each is not None)
    if at < settings.find_since("learning"):
        return LearningDecision(learning and wish.remember)
    return LearningDecision(wish.remember, wish.remember, at)


def to_turn_text(turn: TurnEvents) -> TurnText:
    """The text of the turn in which wishes are detected, before it is committed."""
    at = clock.now()
    words = [m.content if isinstance(m.content, str) else words_of(m.content) for m in turn.messages]
    spoken = zip(turn.messages, words, strict=True)
    messages = tuple(MessageText(m.role, text, m.name, n, at) for n, (m, text) in enumerate(spoken))
    return TurnText(messages, remembered=turn.session_remembered)
