"""What packages carried, recorded after they were answered: the reply neither waits for it nor fails with it."""

import asyncio
import time
from types import TracebackType
from typing import Self
from uuid import UUID

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from services.compose.rules.spoken import UNSUPPORTED
from shared.db import Database, Subject
from shared.errors import TransientError
from shared.store import injections
from shared.store.injections import Injected
from shared.telemetry import INJECTIONS_DROPPED, frames, logger

STANDING = frozenset({"embedding_model_absent", "summary_blocked", UNSUPPORTED})
"""Reasons that say how an installation or a session is, not that a part failed."""
BATCH = 200
WRITE_S = 5.0
"""The longest that one writing may take, and the stop may wait for the last."""
PAUSES_S = (0.2, 1.0, 3.0)
"""Between attempts while the database is away; what comes meanwhile waits."""

Waiting = tuple[Injected, float]
"""A package and when it was answered."""


def injected(asked: ComposeRequest, package: ContextPackage, policy_version: str) -> Injected:
    """Which memories the package carries: those in its blocks, and those among its evidence, the best first."""
    core = [block.source.memory_item_id for block in package.system_blocks if block.source.memory_item_id]
    ranked = sorted(package.evidence, key=lambda each: -each.score)
    evidence = [each.ref.memory_item_id for each in ranked if each.source == "memory" and each.ref.memory_item_id]
    return Injected(
        subject=Subject(asked.tenant_id, asked.user_id),
        context_id=UUID(package.context_id),
        session_id=asked.session_id,
        request_id=package.request_id,
        core_ids=tuple(UUID(each) for each in dict.fromkeys(core)),
        evidence_ids=tuple(UUID(each) for each in dict.fromkeys(evidence)),
        degraded=not STANDING.issuperset(package.degraded_reason),
        policy_version=policy_version,
    )


class Recorder:
    """A bounded queue in front of the table; `async with` writes it until the end, and what is left at the end."""

    def __init__(self, db: Database, waiting_max: int, policy_version: str) -> None:
        self._db = db
        self._waiting: asyncio.Queue[Waiting] = asyncio.Queue(waiting_max)
        self._version = policy_version
        self._writer: asyncio.Task[None] | None = None
        self._batch: list[Waiting] = []

    def note(self, asked: ComposeRequest, package: ContextPackage) -> None:
        """The package will be recorded, or is counted as dropped; returns at once and never raises."""
        try:
            self._waiting.put_nowait((injected(asked, package, self._version), time.monotonic()))
        except asyncio.QueueFull:
            INJECTIONS_DROPPED.labels("waiting").inc()
        except Exception as error:  # noqa: BLE001 # the reply must not fail with its record
            self._refused(1, error)

    async def __aenter__(self) -> Self:
        self._writer = asyncio.create_task(self._write_forever(), name="injections")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        try:
            async with asyncio.timeout(WRITE_S):
                while self._fill():
                    await self._write(self._batch)
                    self._batch = []
        except (TransientError, TimeoutError):
            INJECTIONS_DROPPED.labels("stopped").inc(len(self._batch) + self._waiting.qsize())

    async def _write_forever(self) -> None:
        while True:
            if not self._batch:
                self._batch.append(await self._waiting.get())
            self._fill()
            await self._written()

    def _fill(self) -> bool:
        """Whether there is anything to write now."""
        while len(self._batch) < BATCH and not self._waiting.empty():
            self._batch.append(self._waiting.get_nowait())
        return bool(self._batch)

    async def _written(self) -> None:
        """The batch stands in the table, or has been dropped because the table refuses it; waits out an absence."""
        tries = 0
        while self._batch:
            try:
                async with asyncio.timeout(WRITE_S):
                    await self._write(self._batch)
                self._batch = []
            except (TransientError, TimeoutError) as error:
                pause = PAUSES_S[min(tries, len(PAUSES_S) - 1)]
                logger().warning("injections_wait", error=type(error).__name__, waiting=self._waiting.qsize())
                tries += 1
                await asyncio.sleep(pause)

    async def _write(self, batch: list[Waiting]) -> None:
        """Recorded, but for those that the database refuses; a refusal of one does not take the others with it.

        Where they are written one by one, each leaves the batch when it is done: who stops here writes the rest alone.
        """
        now = time.monotonic()
        try:
            async with self._db.single() as conn:
                await injections.record(conn, [(each, now - at) for each, at in batch])
        except TransientError:
            raise
        except Exception as error:  # noqa: BLE001 # whatever the database says, the next package must go on
            if len(batch) == 1:
                self._refused(1, error)
                return
            while batch:
                await self._write(batch[:1])
                del batch[0]

    @staticmethod
    def _refused(count: int, error: Exception) -> None:
        INJECTIONS_DROPPED.labels("refused").inc(count)
        logger().error("injections_refused", count=count, **frames(error))
