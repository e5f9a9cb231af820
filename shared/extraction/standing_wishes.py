"""Determines the turns from which nothing is learnt because the user or the caller wishes so, in their order."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from shared.extraction import TurnText, wishes
from shared.extraction.wishes import MemoryWish

Why = Literal["settings", "caller", "message", "session"]


@dataclass(frozen=True, slots=True)
class StandingWish:
    """The last wish about remembering a session."""

    session_id: str
    remember: bool
    turn_id: UUID
    since: datetime


@dataclass(frozen=True, slots=True)
class TurnPlace:
    """The place and time of a turn, whether its caller lets it be remembered, and what was decided about it.

    `learning`: whether the settings of its user, with the wishes of the turn itself, let anything be learnt.
    """

    turn_id: UUID
    session_id: str
    seq: int
    at: datetime
    remember: bool = True
    withheld: str | None = None
    learning: bool = True


class Wishes:
    """The wish that applies to each session, after each turn in order."""

    def __init__(self, said: Iterable[StandingWish] = ()) -> None:
        self._said = {each.session_id: each for each in said}
        self._quiet: dict[tuple[str, int], str] = {}
        self.changed: dict[str, StandingWish] = {}

    def hear(self, place: TurnPlace, text: TurnText) -> str | None:
        """The reason why nothing is learnt from the turn, if there is one; its wishes apply to the turns after it.

        An earlier decision about the turn remains. An answer in a turn of its own is treated as its question is.
        """
        own = wishes.list_wishes(text)
        for wish in own:
            self._take(wish, place)
        why = place.withheld or self._why(place, own, text)
        if why:
            self._quiet[place.session_id, place.seq] = why
        return why

    def note(self, session_id: str, seq: int, why: str) -> None:
        """Records that an earlier turn was withheld."""
        self._quiet[session_id, seq] = why

    def _why(self, place: TurnPlace, own: tuple[MemoryWish, ...], text: TurnText) -> str | None:
        if not place.learning:
            return "settings"
        if not place.remember:
            return "caller"
        if any(wish.scope == "message" and not wish.remember for wish in own):
            return "message"
        if self.is_silent(place.session_id):
            return "session"
        answers = text.messages and not any(message.role == "user" for message in text.messages)
        before = self._quiet.get((place.session_id, place.seq - 1))
        return before if answers and before in ("message", "caller") else None

    def is_silent(self, session_id: str) -> bool:
        """Whether nothing in the session may be remembered."""
        session = self._said.get(session_id)
        return session is not None and not session.remember

    def _take(self, wish: MemoryWish, place: TurnPlace) -> None:
        if wish.remember:
            if self.is_silent(place.session_id):
                self._set(place.session_id, place, remember=True)
        elif wish.scope == "session":
            self._set(place.session_id, place, remember=False)

    def _set(self, session_id: str, place: TurnPlace, *, remember: bool) -> None:
        self._said[session_id] = self.changed[session_id] = StandingWish(session_id, remember, place.turn_id, place.at)
