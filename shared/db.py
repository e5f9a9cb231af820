"""The pools, transactions bound to one tenant and user, and what errors of psycopg mean. Its home beside the store."""

import asyncio
import select
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, LiteralString, Self, TypeAlias, TypeVar, cast, overload

import orjson
import psycopg
from psycopg import AsyncConnection, errors
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from shared.domain.subjects import Subject
from shared.errors import TransientError

set_json_loads(orjson.loads)

SCHEMA = "smart_brain"
JOURNAL = "smart_brain_restore"
"""The schema that stands while a restore is under way: which erasures are to be replayed, and how far it is."""
APP_ROLE = "smartbrain_app"
SYSTEM_ROLE = "smartbrain_system"
ERASURE_ROLE = "smartbrain_erasure"
ERASED = "smartbrain_erased"
"""The channel on which the transaction that begins an epoch notifies its erasure: tenant, user, epoch."""
KEYS = "smartbrain_keys"
"""Each change of a key is notified here by its transaction: the key's id."""
CHANNEL = "smartbrain_outbox"
"""The channel on which new rows of the outbox are notified."""

RECONNECT_S = 4.0
"""A pool restarts its attempts after this time without a server; otherwise each pause doubles the last."""
IDLE_S = 60.0
"""A pool closes a connection that it has not needed for this time: each is a process of the server."""
WAITS: Mapping[str, Any] = MappingProxyType({"timeout": 10, "max_idle": IDLE_S, "reconnect_timeout": RECONNECT_S})

Connection: TypeAlias = AsyncConnection[DictRow]
Pool: TypeAlias = AsyncConnectionPool[AsyncConnection[DictRow]]
R = TypeVar("R")
R1 = TypeVar("R1")
R2 = TypeVar("R2")
R3 = TypeVar("R3")

AWAY = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout)
"""Errors while the server is away, restarting or out of connections."""
BEHIND = (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedObject, errors.UndefinedFunction)
"""Errors if a migration or an extension is missing: the event itself may be good, and is delivered again."""
RACE = (errors.SerializationFailure, errors.DeadlockDetected, errors.UniqueViolation)


class translated:  # noqa: N801 # reads as a verb in `with`
    """Turns what psycopg raises into what the caller should do next."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        # asyncio.wait_for of Python 3.11 may lose a cancellation that comes as its future is done
        task = asyncio.current_task()
        if error is None and task is not None and task.cancelling():
            raise asyncio.CancelledError
        if isinstance(error, AWAY):
            raise TransientError(f"database away: {type(error).__name__}") from error
        if isinstance(error, BEHIND):
            raise TransientError(f"the schema lacks what is asked: {type(error).__name__}") from error
        if isinstance(error, RACE):
            raise TransientError(f"lost a race: {type(error).__name__}") from error


@dataclass(frozen=True, slots=True)
class Read(Generic[R]):
    """A statement that changes nothing, and what its rows mean."""

    statement: LiteralString
    params: Mapping[str, Any]
    of: Callable[[list[DictRow]], R]
    binary: bool = False

    async def on(self, conn: Connection) -> R:
        """What it finds on this connection."""
        return self.of(await (await conn.execute(self.statement, self.params, binary=self.binary)).fetchall())


_BIND: LiteralString = "SELECT bind(%s, %s) AS epoch"
_BIND_ALONE: LiteralString = "SELECT bind(%s, %s, true) AS epoch"
_BIND_TO_READ: LiteralString = (
    "SELECT set_config('app.tenant', %s, true), set_config('app.user', %s, true) FROM serving"
)
CLOSED = "the database is being restored: nothing is served until every erasure has been replayed"


class Database:
    """A pool a role. `transaction` binds to one user, `erasing` for an erasure; `system` sees ids of all, no text.

    In a schema of another name (`scratch`) nothing is worth a sync to disk, and no relay is woken.
    """

    def __init__(self, dsn: str, *, size: int = 8, erasing: int = 2, watching: int = 2, schema: str = SCHEMA) -> None:
        self.dsn = dsn
        self.schema = schema
        self._app = _pool(dsn, APP_ROLE, size, schema)
        self._system = _pool(dsn, SYSTEM_ROLE, watching, schema)
        self._erasure = _pool(dsn, ERASURE_ROLE, erasing, schema, least=0)
        self._written = asyncio.Event()
        self._waker: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Ready to be used; raises TransientError when the server does not answer in 15 s."""
        with translated():
            await self._app.open(wait=True, timeout=15)
            await self._system.open(wait=True, timeout=15)
            await self._erasure.open()
        if self.schema == SCHEMA:
            self._waker = asyncio.create_task(self._wake_relays())

    async def close(self) -> None:
        """All is closed, and a last wake-up has been tried."""
        if self._waker:
            self._waker.cancel()
            with suppress(asyncio.CancelledError):
                await self._waker
        await self._app.close()
        await self._system.close()
        await self._erasure.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @asynccontextmanager
    async def transaction(self, subject: Subject, *, since: int | None = None) -> AsyncGenerator[Connection, None]:
        """One transaction that can see and write the rows of this user alone; commits at the end, or leaves nothing.

        With `since`, the user's epoch when what is to be written was read: TransientError where something of the user
        has been erased meanwhile.
        """
        with translated():
            async with _live(self._app) as conn, conn.transaction():
                epoch = await bind_subject(conn, _BIND, subject)
                if since is not None and epoch != since:
                    raise TransientError("something of the user was erased meanwhile")
                yield conn
        self.wake()

    @asynccontextmanager
    async def transaction_with(
        self, subject: Subject, *reads: Read[R]
    ) -> AsyncGenerator[tuple[Connection, tuple[R, ...]], None]:
        """The same, with what the statements find in it: they cost it no round trip."""
        with translated():
            async with _live(self._app) as conn, conn.transaction():
                bound, answers = await _run_together(conn, _BIND, subject, reads)
                if not bound or bound[0]["epoch"] is None:
                    raise TransientError(CLOSED)
                yield conn, answers
        self.wake()

    @asynccontextmanager
    async def as_erasure(self, subject: Subject) -> AsyncGenerator[Connection, None]:
        """One transaction of an erasure: it sees what is hidden of this user too, and nobody else writes of the user.

        It may be had while the database is not served.
        """
        with translated():
            async with _live(self._erasure) as conn, conn.transaction():
                await bind_subject(conn, _BIND_ALONE, subject)
                yield conn
        self.wake()

    @overload
    async def read(self, subject: Subject, one: Read[R1], /) -> tuple[R1]: ...
    @overload
    async def read(self, subject: Subject, one: Read[R1], two: Read[R2], /) -> tuple[R1, R2]: ...
    @overload
    async def read(self, subject: Subject, one: Read[R1], two: Read[R2], three: Read[R3], /) -> tuple[R1, R2, R3]: ...
    @overload
    async def read(self, subject: Subject, one: Read[R1], /, *others: Read[R]) -> tuple[R1, *tuple[R, ...]]: ...
    async def read(self, subject: Subject, /, *reads: Read[Any]) -> tuple[Any, ...]:
        """What the statements find among the rows of this user, in one transaction and one round trip."""
        with translated():
            async with _live(self._app) as conn:
                # up to its end a pipeline is one transaction, so the binding holds for all of it and no longer
                bound, answers = await _run_together(conn, _BIND_TO_READ, subject, reads)
                if not bound:
                    raise TransientError(CLOSED)
                return answers

    @asynccontextmanager
    async def single(self) -> AsyncGenerator[Connection, None]:
        """A connection for one statement that is its own transaction and binds its user itself."""
        with translated():
            async with _live(self._app) as conn:
                yield conn
        self.wake()

    @asynccontextmanager
    async def system(self) -> AsyncGenerator[Connection, None]:
        """One transaction over all users that sees ids and states, never text."""
        with translated():
            async with _live(self._system) as conn, conn.transaction():
                yield conn

    @asynccontextmanager
    async def system_single(self) -> AsyncGenerator[Connection, None]:
        """A connection over all users for one statement that is its own transaction: a third of the round trips."""
        with translated():
            async with _live(self._system) as conn:
                yield conn

    @asynccontextmanager
    async def hold_connection(self) -> AsyncGenerator[Connection, None]:
        """A connection over all users that stays this caller's own, with its session-level locks."""
        with translated():
            async with self._system.connection() as conn:
                try:
                    yield conn
                finally:
                    await conn.close()

    def wake(self) -> None:
        """The relays hear of it within milliseconds; many calls at once cost one NOTIFY."""
        self._written.set()

    async def ping(self) -> bool:
        """Whether the server answers within two seconds."""
        return await self._finds_row("SELECT 1")

    async def as_serving(self) -> bool:
        """Whether the database may be served: it is available, and no restore is in progress."""
        return await self._finds_row("SELECT FROM serving")

    async def _finds_row(self, statement: LiteralString) -> bool:
        try:
            async with asyncio.timeout(2), self.system() as conn:
                return await (await conn.execute(statement)).fetchone() is not None
        except (TransientError, TimeoutError):
            return False

    async def _wake_relays(self) -> None:
        # a NOTIFY inside each committing transaction would serialise their commits
        # Python 3.11's wait_for, which psycopg uses, may swallow a cancellation
        while not cast("asyncio.Task[None]", asyncio.current_task()).cancelling():
            await self._written.wait()
            self._written.clear()
            try:
                async with self._system.connection() as conn:
                    await conn.execute(f"NOTIFY {CHANNEL}")
            except AWAY:
                await asyncio.sleep(0.2)

    async def follow(
        self, channel: LiteralString, on_notice: Callable[[str | None], None], lost: Callable[[], None] = lambda: None
    ) -> None:
        """Calls `on_notice` with each notice; with None once it listens; after every break `lost`, and None again."""
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(self.dsn, autocommit=True) as conn:
                    await conn.execute(f"LISTEN {channel}")
                    on_notice(None)
                    async for notice in conn.notifies():
                        on_notice(notice.payload)
            except AWAY:
                lost()
                await asyncio.sleep(0.2)


@asynccontextmanager
async def owner(dsn: str) -> AsyncGenerator[Connection, None]:
    """A connection in the role of the DSN, bound to nobody: for what is done to the database as a whole."""
    with translated():
        options = f"-c search_path={SCHEMA},public -c timezone=UTC"
        async with await AsyncConnection[DictRow].connect(
            dsn, autocommit=True, row_factory=dict_row, options=options, application_name="smartbrain:owner"
        ) as conn:
            yield conn


async def epoch_of(conn: Connection) -> int:
    """The epoch of the user to whom this transaction is bound: how many erasures there had been when it began."""
    row = await (await conn.execute("SELECT current_setting('app.epoch')::integer AS epoch")).fetchone()
    assert row is not None  # noqa: S101 # it always answers
    return row["epoch"]


async def bind_subject(conn: Connection, statement: LiteralString, subject: Subject) -> int:
    """The user's epoch, to whom the transaction is bound now; TransientError while the database is not served."""
    row = await (await conn.execute(statement, subject)).fetchone()
    if row is None or row["epoch"] is None:
        raise TransientError(CLOSED)
    return row["epoch"]


async def _run_together(
    conn: Connection, bind: LiteralString, subject: Subject, reads: Sequence[Read[Any]]
) -> tuple[list[DictRow], tuple[Any, ...]]:
    """What the binding answers and what the statements find, in one round trip."""
    try:
        async with conn.pipeline():
            bound = await conn.execute(bind, subject)
            cursors = [await conn.execute(one.statement, one.params, binary=one.binary) for one in reads]
    except BaseException:
        # what came behind the failure counts as prepared here though the server never saw it
        await conn.close()
        raise
    rows = await bound.fetchall()
    return rows, tuple(
        [each.of(await cur.fetchall()) for each, cur in zip(reads, cursors, strict=True)]
    ) if rows else ()


def _pool(dsn: str, role: LiteralString, size: int, schema: str, *, least: int = 1) -> Pool:
    lasting = "" if schema == SCHEMA else " -c synchronous_commit=off"
    kwargs: dict[str, Any] = {
        "autocommit": True,
        "row_factory": dict_row,
        "options": f"-c role={role} -c search_path={schema},public -c timezone=UTC -c jit=off{lasting}",
        "application_name": f"smartbrain:{role}",
    }
    return cast(
        "Pool",
        AsyncConnectionPool(dsn, min_size=min(least, size), max_size=size, open=False, kwargs=kwargs, **WAITS),
    )


def has_hung_up(conn: Connection) -> bool:
    """Whether the server has hung up, seen without a round trip: on an idle connection nothing waits to be read."""
    if conn.broken:
        return True
    waiting = select.poll()
    waiting.register(conn.pgconn.socket, select.POLLIN)
    return bool(waiting.poll(0))


@asynccontextmanager
async def _live(pool: Pool) -> AsyncGenerator[Connection, None]:
    """A connection that works now: after a restart of the server the dead ones are dropped, not handed out."""
    async with pool.connection() as conn:
        if not has_hung_up(conn):
            yield conn
            return
    await pool.check()
    async with pool.connection() as conn:
        yield conn
