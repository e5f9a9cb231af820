"""Records packages after the reply: no reply waits for it or fails because of it."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from services.compose.context.stages import Composition, PlanExecution
from services.compose.receipts.rows import Row, to_plan_row, to_row
from shared.db import Database
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.metrics.packages import INJECTIONS_DROPPED
from shared.policy import Policy
from shared.store import contexts
from shared.telemetry import frames, logger

BATCH = 32
WRITE_S = 5.0
"""The longest time for one write, and for the last one at shutdown."""
PLACE_S = 1.0
"""The longest time that a reply waits while the queue is full."""
GATHER_S = 0.4
"""How long packages are collected before a write, unless somebody waits for one."""
SETTLE_S = 2.0
"""The longest time that a turn waits for earlier packages to be recorded."""
PAUSES_S = (0.2, 1.0, 3.0)
"""Pauses between attempts while the database is not available."""

Waiting = tuple[Composition | PlanExecution, float]
"""A package or a plan, and when it was answered."""


class Recorder:
    """A bounded queue in front of the tables; `async with` runs the writer and flushes at the end.

    A full queue delays replies, so that nothing is lost except when the process is killed.
    """

    def __init__(self, db: Database, policy: Policy, policy_version: str) -> None:
        self._db = db
        self._waiting: asyncio.Queue[Waiting] = asyncio.Queue(policy.feedback.injections_waiting_max)
        self._policy = policy
        self._version = policy_version
        self._writer: asyncio.Task[None] | None = None
        self._batch: list[tuple[Row, float]] = []
        self._open: Counter[tuple[Subject, str]] = Counter()
        self._wrote = asyncio.Event()
        self._wanted = asyncio.Event()
        self._first: list[Waiting] = []

    async def note(self, answered: Composition | PlanExecution) -> None:
        """Queues it; waits while the queue is full, and counts it as dropped if nothing is written."""
        self._open[answered.session] += 1
        if self._waiting.full():
            self._wanted.set()
        try:
            async with asyncio.timeout(PLACE_S):
                await self._waiting.put((answered, time.monotonic()))
        except TimeoutError:
            INJECTIONS_DROPPED.labels("waiting").inc()
            self._close(answered.session)

    @property
    def open(self) -> int:
        """How many packages are neither recorded nor dropped."""
        return self._open.total()

    async def wait_until_recorded(self, subject: Subject, session_id: str | None = None) -> None:
        """Waits until the packages of this session, or of the user, are recorded, so that readers find them.

        Waits at most the usual time for that.
        """
        if not self._waits(subject, session_id):
            return
        self._wanted.set()
        try:
            async with asyncio.timeout(SETTLE_S):
                while self._waits(subject, session_id):
                    self._wanted.set()
                    self._wrote.clear()
                    await self._wrote.wait()
        except TimeoutError:
            logger().warning("contexts_not_settled", waiting=self._waiting.qsize())

    def _waits(self, subject: Subject, session_id: str | None) -> bool:
        if session_id is not None:
            return (subject, session_id) in self._open
        return any(each == subject for each, _ in self._open)

    async def __aenter__(self) -> Self:
        self._writer = asyncio.create_task(self._write_forever(), name="contexts")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        try:
            async with asyncio.timeout(WRITE_S):
                while await self._fill():
                    await self._write(self._batch)
                    self.note_done()
        except (TransientError, TimeoutError):
            INJECTIONS_DROPPED.labels("stopped").inc(len(self._batch) + self._waiting.qsize())

    async def _write_forever(self) -> None:
        while True:
            if not self._batch:
                self._first.append(await self._waiting.get())
                await self._gather()
            await self._fill()
            await self.write_batch()

    async def _gather(self) -> None:
        await asyncio.sleep(0)
        if self._waiting.full():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(GATHER_S):
                await self._wanted.wait()
        self._wanted.clear()

    async def _fill(self) -> bool:
        """Whether there is anything to write; yields to the event loop between packages."""
        while self._first:
            self._take(self._first.pop())
        while len(self._batch) < BATCH and not self._waiting.empty():
            await asyncio.sleep(0)
            self._take(self._waiting.get_nowait())
        return bool(self._batch)

    def _take(self, waiting: Waiting) -> None:
        answered, at = waiting
        try:
            row = (
                to_plan_row(answered, self._policy)
                if isinstance(answered, PlanExecution)
                else to_row(answered, self._policy, self._version)
            )
        except Exception as error:  # noqa: BLE001 # the other packages must be recorded
            self.note_refused(1, error)
            self._close(answered.session)
            return
        if row is None:
            self._close(answered.session)
        else:
            self._batch.append((row, at))

    async def write_batch(self) -> None:
        """Writes the batch, or drops it if the tables refuse it; waits while the database is not available."""
        tries = 0
        while self._batch:
            try:
                async with asyncio.timeout(WRITE_S):
                    await self._write(self._batch)
                self.note_done()
            except (TransientError, TimeoutError) as error:
                pause = PAUSES_S[min(tries, len(PAUSES_S) - 1)]
                logger().warning("injections_wait", error=type(error).__name__, waiting=self._waiting.qsize())
                tries += 1
                await asyncio.sleep(pause)

    def note_done(self) -> None:
        for row, _ in self._batch:
            self._close((Subject(row["tenant_id"], row["user_id"]), row["session_id"]))
        self._batch = []

    def _close(self, session: tuple[Subject, str]) -> None:
        self._open[session] -= 1
        if self._open[session] <= 0:
            del self._open[session]
        self._wrote.set()

    async def _write(self, batch: list[tuple[Row, float]]) -> None:
        """Writes the batch; if the database refuses it, writes one by one and drops those that it refuses.

        Each leaves the batch when it is written, so that after a stop only the rest is written.
        """
        now = time.monotonic()
        rows: list[Mapping[str, Any]] = [{**row, "age_s": now - at} for row, at in batch]
        try:
            async with self._db.single() as conn:
                await contexts.record(conn, rows)
        except TransientError:
            raise
        except Exception as error:  # noqa: BLE001 # whatever the database says, the next package must go on
            if len(batch) == 1:
                self.note_refused(1, error)
                return
            while batch:
                await self._write(batch[:1])
                row, _ = batch.pop(0)
                self._close((Subject(row["tenant_id"], row["user_id"]), row["session_id"]))

    @staticmethod
    def note_refused(count: int, error: Exception) -> None:
        INJECTIONS_DROPPED.labels("refused").inc(count)
        logger().error("injections_refused", count=count, **frames(error))
