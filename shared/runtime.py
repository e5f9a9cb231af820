"""What every service is handed: opened and closed by one async context manager.

What users and their tenants have chosen of how memory works is kept for a moment, and forgotten at a change.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
from cachetools import TTLCache

from shared import cache
from shared.cache import UserCache
from shared.db import ERASED, Connection, Database, Read
from shared.domain.subjects import Subject
from shared.domain.user_settings import hold_settings
from shared.errors import ConfigurationError
from shared.knowledge.factory import NoKnowledge, make_knowledge
from shared.knowledge.port import AnswerKey, Bundle, Knowledge
from shared.models.factory import make_models
from shared.models.paces import Paces
from shared.models.provider import ModelProvider
from shared.models.thoughts import DeferredAnswers
from shared.policy import Policy
from shared.policy_file import load_policy
from shared.settings import Settings
from shared.single_flight import BackgroundCache
from shared.store import user_settings
from shared.store.user_settings import CHANNEL, OF_TENANT, ChosenSettings

if TYPE_CHECKING:
    from shared.bus.access import KafkaAccess
    from shared.bus.broker import Bus

NOTHING_CHOSEN = ChosenSettings()
PAGES_KEPT_S = 600.0
PAGES_MOST = 32
"""Pages of vectors that a process keeps, those of a user together: at ten thousand chunks 1.5 MB each."""


@dataclass(frozen=True)
class Runtime:
    """The outside world of one service, and what it remembers of it from one request to the next."""

    settings: Settings
    db: Database
    bus: Bus
    models: ModelProvider
    policy: Policy
    kafka: KafkaAccess
    version: str
    thoughts: DeferredAnswers = field(default_factory=DeferredAnswers)
    paces: Paces = field(default_factory=Paces)
    experience: BackgroundCache[str, Any] = field(default_factory=BackgroundCache[str, Any])
    knowledge: Knowledge = field(default_factory=NoKnowledge)
    known: UserCache[AnswerKey, Bundle] = field(default_factory=partial(UserCache[AnswerKey, Bundle], most=0))
    read_turns: UserCache[UUID, Any] = field(default_factory=UserCache[UUID, Any])
    pages: UserCache[str, Any] = field(
        default_factory=partial(UserCache[str, Any], keep_s=PAGES_KEPT_S, most=PAGES_MOST)
    )

    user_settings: UserSettings | None = None
    """None: nobody chooses anything, and the policy is the same for all."""

    async def of(self, owner: Subject) -> Runtime:
        """The same, with the policy as the settings of this user and their tenant make it."""
        return self if self.user_settings is None else self.under(await self.user_settings.find(owner))

    async def read_of(self, owner: Subject, *reads: Read[Any]) -> tuple[Runtime, *tuple[Any, ...]]:
        """The same as `of`, and what the statements find: one round trip, whether the settings are known or not."""
        settings = self.user_settings
        chosen = settings.find_kept(owner) if settings else NOTHING_CHOSEN
        if settings is None or chosen is not None:
            return self.under(chosen or NOTHING_CHOSEN), *await self.db.read(owner, *reads)
        chosen, *others = await self.db.read(owner, settings.ask(owner), *reads)
        return self.under(chosen), *others

    @asynccontextmanager
    async def transaction_of(self, owner: Subject) -> AsyncGenerator[tuple[Runtime, Connection], None]:
        """The same as `of`, and a transaction of this user; the settings come with the answer that it has begun."""
        settings = self.user_settings
        chosen = settings.find_kept(owner) if settings else NOTHING_CHOSEN
        reads = () if settings is None or chosen is not None else (settings.ask(owner),)
        async with self.db.transaction_with(owner, *reads) as (conn, read_now):
            yield self.under(read_now[0] if read_now else chosen or NOTHING_CHOSEN), conn

    def under(self, chosen: ChosenSettings) -> Runtime:
        """The same, with the policy as these choices make it."""
        if not (chosen.tenant or chosen.user):
            return self
        return replace(self, policy=hold_settings(self.policy, chosen.tenant, chosen.user).policy)

    def forget(self, owner: Subject, epoch: int) -> None:
        """Of the user's words from before this epoch nothing is left in the memory of the process."""
        self.read_turns.forget(owner, epoch)
        self.pages.forget(owner, epoch)
        self.thoughts.forget((owner.tenant_id, owner.user_id))
        self.experience.forget(owner.tenant_id)
        self.known.drop(owner)
        if self.user_settings:
            self.user_settings.forget(owner)
        cache.forget_texts()

    def forget_everybody(self) -> None:
        """The same of every user: where erasures may have been missed."""
        self.read_turns.clear()
        self.pages.clear()
        self.thoughts.clear()
        self.experience.clear()
        self.known.clear()
        cache.forget_texts()

    async def follow_erasures(self, longest_s: float) -> None:
        """Forgets the words of every erased user until cancelled, whichever process received the request.

        It forgets at once and again after growing pauses, because work of at most `longest_s` that had begun before may
        keep what it had read.
        """
        loop = asyncio.get_running_loop()

        def forget_erased(payload: str | None) -> None:
            if payload is None:  # erasures may have been missed
                self.forget_everybody()
                forget_later(cache.forget_texts, 1.0)
                return
            tenant_id, user_id, epoch = orjson.loads(payload)
            forget = partial(self.forget, Subject(tenant_id, user_id), epoch)
            forget()
            forget_later(forget, 1.0)

        def forget_later(forget: Callable[[], None], pause_s: float) -> None:
            loop.call_later(pause_s, forget_and_repeat, forget, pause_s)

        def forget_and_repeat(forget: Callable[[], None], pause_s: float) -> None:
            forget()
            if pause_s < longest_s:
                forget_later(forget, 2 * pause_s)

        await self.db.follow(ERASED, forget_erased)


@asynccontextmanager
async def open_runtime(
    settings: Settings, service: str, *others: str, pool: int = 8, models: bool = True
) -> AsyncGenerator[Runtime, None]:
    """A runtime whose database is connected; the bus, of the first service, connects once it has consumers.

    Without `models` the service has none, whatever the settings say: a local encoder costs each process 80 MB.
    """
    from shared.bus.access import open_access
    from shared.bus.broker import Bus  # who only names a runtime loads no client of Kafka

    if settings.database_url is None or settings.kafka_bootstrap is None:
        raise ConfigurationError(
            "SMARTBRAIN_DATABASE_URL and SMARTBRAIN_KAFKA_BOOTSTRAP must be set, or `smartbrain up` runs its own"
        )
    policy = load_policy(settings.policy)
    kafka = open_access(settings, service)
    await kafka.check()
    erasing = policy.delivery.handler_concurrency if "erasure" in (service, *others) else 2
    db = Database(settings.database_url.get_secret_value(), size=pool, erasing=erasing, watching=2 + len(others))
    provider = make_models(
        ollama_url=settings.ollama_url if models else None,
        chat_model=settings.chat_model,
        embedding_model=settings.embedding_model,
        embedding_dir=settings.embedding_dir if models else None,
        dimension=settings.embedding_dimension,
        clock=time.monotonic,
        rerank_model=settings.rerank_model if policy.compose.reranker == "model" else None,
        policy=policy.models,
    )
    thoughts = DeferredAnswers(most=policy.compose.planner_cache_size, keep_s=policy.compose.planner_cache_s)
    token = settings.knowledge_token.get_secret_value() if settings.knowledge_token else None
    knowledge = make_knowledge(settings.knowledge_url, token, time.monotonic)
    most = policy.knowledge.cache_size
    bundles = UserCache[AnswerKey, Bundle](keep_s=policy.knowledge.cache_s, most=most, most_each=most)
    await db.open()
    try:
        bus = Bus(kafka, policy.delivery)
        runtime = Runtime(
            settings,
            db,
            bus,
            provider,
            policy,
            kafka,
            policy.version,
            thoughts,
            knowledge=knowledge,
            known=bundles,
            user_settings=UserSettings(db, policy.settings.cache_s),
        )
        try:
            yield runtime
        finally:
            await runtime.experience.close()
    finally:
        await thoughts.close()
        await knowledge.close()
        await provider.close()
        await db.close()


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
