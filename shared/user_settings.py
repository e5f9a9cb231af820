"""What users and their tenants have chosen of how memory works: kept for a moment, forgotten at a change."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
from cachetools import TTLCache

from shared.db import Database, Read
from shared.domain.subjects import Subject
from shared.store import user_settings
from shared.store.user_settings import CHANNEL, OF_TENANT, ChosenSettings

MOST_KEPT = 10_000


class UserSettings:
    """Knows what each user and their tenant chose.

    What it knows is at most `keep_s` old, and forgotten at once where a change is notified; where it had listened and
    hears nothing more, settings are read whenever they are needed.
    """

    def __init__(self, db: Database, keep_s: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._db = db
        self._kept = TTLCache[Subject, ChosenSettings](MOST_KEPT, keep_s, monotonic)
        self._changes = 0
        self._deaf = False
        self._listening = False
        self.hears = False
        """Whether changes are heard of just now."""

    async def find(self, owner: Subject) -> ChosenSettings:
        """What was chosen of this user."""
        kept = self.find_kept(owner)
        if kept is not None:
            return kept
        (chosen,) = await self._db.read(owner, self.ask(owner))
        return chosen

    def find_kept(self, owner: Subject) -> ChosenSettings | None:
        """What was chosen of this user, where it is known; None where it is to be read."""
        return self._kept.get(owner)

    def ask(self, owner: Subject) -> Read[ChosenSettings]:
        """Finds what was chosen of this user, beside whatever else is read; it is known from then on."""
        changes, statement = self._changes, user_settings.load(owner)

        def keep(rows: list[dict[str, Any]]) -> ChosenSettings:
            chosen = statement.of(rows)
            # else something has changed since it was asked for, perhaps this
            if changes == self._changes and not self._deaf:
                self._kept[owner] = chosen
            return chosen

        return replace(statement, of=keep)

    async def listen(self) -> None:
        """Hears of every change until cancelled; once in a process."""
        if self._listening:
            return
        self._listening = True
        try:
            await self._db.follow(CHANNEL, self.note_change, self.note_deaf)
        finally:
            self._listening = False
            self.note_deaf()

    def note_change(self, payload: str | None) -> None:
        """What was known of whom the notice names is read again; None: of everybody."""
        self._deaf, self.hears = False, True
        if payload is None:
            self._forget_all()
        else:
            self.forget(Subject(*orjson.loads(payload)))

    def note_deaf(self) -> None:
        """Changes are not heard any more: nothing that is known is used again."""
        self._forget_all()
        self._deaf, self.hears = True, False

    def forget(self, owner: Subject) -> None:
        """What was known of this user, or of a tenant's users, is read again; what is being read now is not kept."""
        if owner.user_id == OF_TENANT:
            self._forget_all()
            return
        self._changes += 1
        self._kept.pop(owner, None)

    def _forget_all(self) -> None:
        self._changes += 1
        self._kept.clear()
