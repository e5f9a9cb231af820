"""Restores a backup: the database is closed at first and opens when every later erasure has been repeated."""

import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from pydantic import SecretStr

from schemas.topics import ERASURE_REQUESTED
from services.cli.backup.archive import Archive, inspect
from services.cli.backup.dump import count_tables, refuse_blind
from services.cli.progress import Say
from services.erasure.handler import work
from shared import runtime
from shared.bus import history
from shared.bus.access import KafkaAccess, open_access
from shared.bus.history import History
from shared.db import SCHEMA, Connection, owner
from shared.domain.subjects import Subject
from shared.embedded import postgres_programs
from shared.embedded.postgres_programs import Programs
from shared.erasure import ledger
from shared.erasure.ledger import Ledger
from shared.erasure.replay import replay
from shared.erasure.request import again_asked
from shared.errors import ConfigurationError, TransientError
from shared.files import CACHE
from shared.language.patterns import to_pattern
from shared.policy import ErasurePolicy
from shared.policy_file import load_policy
from shared.runtime import Runtime
from shared.settings import Settings
from shared.store import schema, whole
from shared.store.erasure import tombstones
from shared.store.erasure.tombstones import Tombstone
from shared.store.operator_acts import NOBODY, UNNAMED, Operator, narrow, note_act
from shared.store.whole import DatabaseState, Run

NOWHERE = "127.0.0.1:1"
"""A bus without a broker: a restore publishes nothing itself."""
GOES = 6
PAUSE_S = 2.0
"""Attempts for an uncompleted erasure, and the pause between them."""
_TABLE = to_pattern(rf'processing data for table "{SCHEMA}\.(\w+)"')


@dataclass(frozen=True)
class RestoreRequest:
    """What the operator allows."""

    file: Path | None = None
    erasures: Path | None = None
    replace: bool = False
    without_ledger: bool = False
    resume: bool = False
    by: Operator = UNNAMED


@dataclass(frozen=True)
class RestoreReport:
    """The result: `left` are uncompleted erasures; if there are none, the database is open again."""

    file: str
    sources: dict[str, int]
    replayed: int
    rows_erased: int
    left: Sequence[Mapping[str, Any]]
    applied: Sequence[str]
    took_s: float

    @property
    def serving(self) -> bool:
        """Whether the database is served."""
        return not self.left


async def restore(
    config: Settings, dsn: str, bootstrap: str | None, request: RestoreRequest, say: Say
) -> RestoreReport:
    """Restores the backup and repeats later erasures; if some remain, the database stays closed, and `left` names them.
    ConfigurationError: nothing was changed. If killed at any point, it leaves a closed database or the previous one;
    the same call continues.
    """
    began = time.monotonic()
    policy = load_policy(config.policy)
    kafka = open_access(config.model_copy(update={"kafka_bootstrap": bootstrap}), "restore")
    await kafka.check()
    async with owner(dsn) as conn:
        if not await whole.is_alone(conn):
            raise ConfigurationError("another restore of this database is running")
        run = await _brought_back(conn, dsn, kafka, request, policy.erasure, say)
        await whole.settle(conn)
        applied = await schema.migrate(dsn, wanted=schema.before_start)
        await whole.drop_replaced(conn)
        reached = {"database_url": SecretStr(dsn), "kafka_bootstrap": bootstrap or NOWHERE}
        at_hand = kafka if kafka.bootstrap and await history.answers(kafka) else KafkaAccess("")
        async with runtime.open_runtime(config.model_copy(update=reached), "restore", pool=2, models=False) as rt:
            replayed, rows = await _erased_again(replace(rt, kafka=at_hand), conn, say)
        async with conn.transaction():
            opened = await whole.open_gate(conn)
            if opened:
                await narrow(conn, NOBODY)
                await note_act(conn, NOBODY, "database", "database.restored", request.by, {"erasures": replayed})
        left: Sequence[Mapping[str, Any]] = () if opened else await whole.load_left(conn)
    return RestoreReport(run.file, run.sources, replayed, rows, left, applied, time.monotonic() - began)


async def _brought_back(
    conn: Connection, dsn: str, kafka: KafkaAccess, request: RestoreRequest, policy: ErasurePolicy, say: Say
) -> Run:
    """Loads the rows of the backup into the closed database; the restore."""
    state = refuse_blind(await whole.state(conn))
    programs = postgres_programs.find(CACHE / "postgres", state.server)
    under_way = await whole.run_under_way(conn) if state.journal else None
    archive = inspect(programs, request.file) if request.file else None
    if under_way and state.schema and (archive is None or archive.mark == under_way.mark):
        return under_way
    if archive is None:
        raise ConfigurationError(
            f"the restore of {under_way.file} was interrupted before its rows were loaded: name the file again"
            if under_way
            else "there is no restore to continue: name the backup file"
        )
    if state.rows and not request.replace:
        raise ConfigurationError("the database has rows of users: --replace replaces them by the backup")
    collected = await collect_erasures(kafka, request, policy, state, under_way)
    sources = {**(under_way.sources if under_way else {}), **collected.sources}
    run = Run(str(archive.path), archive.mark, sources)
    rows = [_row(each.subject, each.tombstone) for each in collected.in_order()]
    live = await whole.put_aside(conn, run, rows, schema=state.schema)
    try:
        await load_rows(conn, dsn, programs, archive, say)
    except BaseException:
        await _as_before(conn)
        raise
    return Run(run.file, run.mark, {**sources, "database": live} if state.schema else sources)


async def _as_before(conn: Connection) -> None:
    """Puts the previous schema back after a failed restore."""
    state = await whole.state(conn)
    if state.schema:
        return
    if state.aside:
        await whole.take_back(conn)
    else:
        await whole.forget(conn)


async def collect_erasures(
    kafka: KafkaAccess, request: RestoreRequest, policy: ErasurePolicy, state: DatabaseState, under_way: Run | None
) -> Ledger:
    """The erasures from sources other than the database; ConfigurationError if there is no source."""
    erasures = Ledger()
    if request.erasures:
        try:
            erasures.add("file", ledger.of_lines(request.erasures.read_text("utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{request.erasures}: {error}") from error
    topic, missing = History(), "no broker is known"
    if kafka.bootstrap:
        try:
            await ledger.of_topic(history.read(kafka, ERASURE_REQUESTED, topic), policy, erasures)
            missing = "the topic of erasures is new or empty"
        except TransientError as error:
            missing = str(error)
    if not (topic.written or state.rows or under_way or request.without_ledger):
        raise ConfigurationError(
            f"erasures after the backup are unknown: there is no live database, and {missing}. Such "
            "erasures would be undone. Pass exported ones with --erasures FILE, or continue with "
            "--without-ledger"
        )
    return erasures


def _row(subject: Subject, tombstone: Tombstone) -> dict[str, Any]:
    """The erasure as a JSON row of the journal."""
    return orjson.loads(orjson.dumps({**subject._asdict(), **vars(tombstone)}))


async def load_rows(conn: Connection, dsn: str, programs: Programs, archive: Archive, say: Say) -> None:
    """Loads the rows of the backup in one transaction, with roles, grants and policies."""
    await schema.ensure_roles(conn)
    await whole.prepare(conn)
    address, secret = whole.without_password(dsn)
    with tempfile.NamedTemporaryFile("w", prefix="smartbrain-", suffix=".list") as wanted:
        wanted.write("\n".join(archive.entries) + "\n")
        wanted.flush()
        arguments = [
            "--single-transaction",
            "--exit-on-error",
            "--no-owner",
            "--verbose",
            f"--use-list={wanted.name}",
            f"--dbname={address}",
            str(archive.path),
        ]
        await programs.run("pg_restore", arguments, secret, count_tables(say, archive.tables, _TABLE))


async def _erased_again(rt: Runtime, conn: Connection, say: Say) -> tuple[int, int]:
    """Carries out the open erasures; the numbers of erasures and deleted rows. Some may be left. A running erasure
    worker may complete them as well.
    """
    due = {to_erasure(row) for row in await whole.load_left(conn)}
    erasures = [ledger.of_row(row) for row in await whole.ledger(conn)]
    erasures.sort(key=lambda each: (each.tombstone.requested_at, each.tombstone.tombstone_id))
    for number, each in enumerate(erasures, 1):
        await replay(rt.db, each.subject, each.tombstone, rt.version)
        say("erasures asked again", number, len(erasures))
    waiting = await whole.load_left(conn)
    for go in range(GOES):
        if go and waiting:
            await asyncio.sleep(PAUSE_S)
        for number, row in enumerate(waiting, 1):
            await retry_erasure(rt, *to_erasure(row))
            say("erasures completed", number, len(waiting))
        waiting = await whole.load_left(conn)
    completed = due - {to_erasure(row) for row in waiting}
    return len(completed), sum([await count_taken(rt, *each) for each in completed])


def to_erasure(row: Mapping[str, Any]) -> tuple[Subject, UUID]:
    return Subject(row["tenant_id"], row["user_id"]), UUID(row["tombstone_id"])


async def retry_erasure(rt: Runtime, subject: Subject, tombstone_id: UUID) -> None:
    """Another attempt at the erasure; the restore also requeues escalated ones."""
    async with rt.db.as_erasure(subject) as conn:
        found = await tombstones.one(subject, tombstone_id).on(conn)
        if found and found.status == "escalated":
            await again_asked(conn, subject, found, "replayed after a restore", rt.version, tombstone_id.hex)
    await work(rt, subject, tombstone_id)


async def count_taken(rt: Runtime, subject: Subject, tombstone_id: UUID) -> int:
    """How many rows it hid, emptied or removed."""
    async with rt.db.as_erasure(subject) as conn:
        found = await tombstones.one(subject, tombstone_id).on(conn)
    return found.row_count if found else 0
