"""Sessions: a cookie names a session of this process, which holds the key; no page or log contains it."""

import hashlib
import hmac
import secrets
from collections import deque
from dataclasses import dataclass, field

from cachetools import TTLCache

from shared.fronts.caller import AgentCaller

IDLE_S = 12 * 3600.0
"""The idle time after which a session ends."""
MOST_SESSIONS = 20_000


@dataclass(frozen=True)
class Notice:
    """A notice on the next page: a message, its values, and the undo."""

    message: str
    values: dict[str, str] = field(default_factory=dict[str, str])
    undo: str | None = None
    """The address of the POST that undoes it."""
    undo_fields: dict[str, str] = field(default_factory=dict[str, str])
    undo_ids: tuple[str, ...] = ()
    """The memories that the undo changes together."""


@dataclass
class Session:
    """A signed-in person, with a key or as the only user of this machine."""

    caller: AgentCaller
    name: str
    scopes: frozenset[str]
    of_one: bool
    """Whether the key belongs to one user; otherwise the user can be chosen."""
    language: str | None = None
    """That of the user's settings."""
    notices: deque[Notice] = field(default_factory=lambda: deque[Notice](maxlen=3))

    def may(self, scope: str) -> bool:
        """Whether the key has this scope."""
        return scope in self.scopes or "admin" in self.scopes


class Sessions:
    """The sessions of this process, and the form tokens against cross-site requests."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._sessions = TTLCache[str, Session](MOST_SESSIONS, IDLE_S)

    def begin(self, session: Session) -> str:
        """The token of the new session, for its cookie."""
        token = make_token()
        self._sessions[_digest(token)] = session
        return token

    def find(self, token: str | None) -> Session | None:
        """The session; its idle time restarts."""
        session = self._sessions.get(_digest(token)) if token else None
        if token and session:
            self._sessions[_digest(token)] = session
        return session

    def end(self, token: str | None) -> None:
        """Ends the session of this token."""
        if token:
            self._sessions.pop(_digest(token), None)

    def make_form_token(self, token: str) -> str:
        """The form token for the holder of this cookie."""
        return hmac.new(self._secret, token.encode(), "sha256").hexdigest()


def make_token() -> str:
    """A random token."""
    return secrets.token_urlsafe(32)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
