"""Who is signed in: a cookie names a session of this process, which holds the key; no page and no log does."""

import hashlib
import hmac
import secrets
from collections import deque
from dataclasses import dataclass, field

from cachetools import TTLCache

from shared.fronts.caller import AgentCaller

IDLE_S = 12 * 3600.0
"""So long nobody has to sign in again who asks for nothing."""
MOST_SESSIONS = 20_000


@dataclass(frozen=True)
class Notice:
    """One sentence that is shown on the next page: a message, its values, and what takes the act back."""

    message: str
    values: dict[str, str] = field(default_factory=dict[str, str])
    undo: str | None = None
    """The address to which a POST takes it back."""
    undo_fields: dict[str, str] = field(default_factory=dict[str, str])
    undo_ids: tuple[str, ...] = ()
    """The memories that are taken back together."""


@dataclass
class Session:
    """Somebody who is signed in, by a key or as the only one who can reach this machine."""

    caller: AgentCaller
    name: str
    scopes: frozenset[str]
    of_one: bool
    """Whether the key is of this user alone; else whose memory it is can be chosen."""
    language: str | None = None
    """That of the user's settings."""
    notices: deque[Notice] = field(default_factory=lambda: deque[Notice](maxlen=3))

    def may(self, scope: str) -> bool:
        """Whether the key is for this."""
        return scope in self.scopes or "admin" in self.scopes


class Sessions:
    """The sessions of this process, and the tokens that its forms carry against foreign pages."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._sessions = TTLCache[str, Session](MOST_SESSIONS, IDLE_S)

    def begin(self, session: Session) -> str:
        """The token of the new session, for its cookie."""
        token = make_token()
        self._sessions[_digest(token)] = session
        return token

    def find(self, token: str | None) -> Session | None:
        """The session, which goes on for as long again."""
        session = self._sessions.get(_digest(token)) if token else None
        if token and session:
            self._sessions[_digest(token)] = session
        return session

    def end(self, token: str | None) -> None:
        """Nobody is signed in by this token any more."""
        if token:
            self._sessions.pop(_digest(token), None)

    def make_form_token(self, token: str) -> str:
        """What a form must carry that was made for the holder of this cookie."""
        return hmac.new(self._secret, token.encode(), "sha256").hexdigest()


def make_token() -> str:
    """What nobody guesses."""
    return secrets.token_urlsafe(32)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
