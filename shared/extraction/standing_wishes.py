"""Which turns nothing is learnt from, because the user or the caller wishes so: turn by turn, in their order. Pure."""

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
    """What was said last of remembering a session."""

    session_id: str
    remember: bool
    turn_id: UUID
    since: datetime


@dataclass(frozen=True, slots=True)
class TurnPlace:
    """A turn: where and when it was said, whether its caller lets it be remembered, and what was decided of it.

    `learning`: whether the settings of its user let anything be learnt, after what it says of that itself.
    """

    turn_id: UUID
    session_id: str
    seq: int
    at: datetime
    remember: bool = True
    withheld: str | None = None
    learning: bool = True


class Wishes:
    """What holds for each session, as turn after turn is heard."""

    def __init__(self, said: Iterable[StandingWish] = ()) -> None:
        self._said = {each.session_id: each for each in said}
        self._quiet: dict[tuple[str, int], str] = {}
        self.changed: dict[str, StandingWish] = {}

    def hear(self, place: TurnPlace, text: TurnText) -> str | None:
        """Why nothing is learnt from the turn, if so; what it wishes holds for those after it.

        What was decided of it before stands. An answer that comes in a turn of its own goes with the message before it.
        """
        own = wishes.list_wishes(text)
        for wish in own:
            self._take(wish, place)
        why = place.withheld or self._why(place, own, text)
        if why:
            self._quiet[place.session_id, place.seq] = why
        return why

    def note(self, session_id: str, seq: int, why: str) -> None:
        """A turn that was heard before was withheld."""
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
        """Whether nothing said in the session is to be remembered."""
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
