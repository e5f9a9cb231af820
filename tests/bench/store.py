"""A system with conversations for questions, the basis of all quality benches."""

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar
from unittest.mock import patch

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage, EvidenceItem
from schemas.evidence_pack import EvidencePack, Ref
from schemas.retrieval_plan import RetrieveRequest
from schemas.turn_events import StructuredItem, TurnEvents
from services.cli.supervisor import Supervisor
from services.compose.intake.commit import commit_turn
from services.evolver.embed import embed_some
from shared import clock
from shared.runtime import Runtime, open_runtime
from shared.settings import Settings
from shared.store.turn_states import count_late
from tests.bench.dialogues import Line, turns
from tests.bench.kit import machine
from tests.system import databases
from tests.system.composing import compose_package, retrieve
from tests.system.running import PATIENT
from tests.system.wait import wait_for

T = TypeVar("T")
R = TypeVar("R")
TENANT = "bench"
TOP_K = 50
AT_ONCE = 2
"""The number of concurrent questions."""
WORKERS = ("relay", "observer", "analyzer", "evolver")
SETTLED_S = 900.0
_CALM = ("SMARTBRAIN_OLLAMA_URL", "SMARTBRAIN_EMBEDDING_DIR", "SMARTBRAIN_POLICY", "SMARTBRAIN_DATABASE_URL")
_moment: ContextVar[datetime | None] = ContextVar("moment", default=None)


@contextmanager
def system() -> Generator[Supervisor]:
    """A new system with default configuration, whatever the environment says, and a clock that `at` sets."""
    for name in (*_CALM, "SMARTBRAIN_KAFKA_BOOTSTRAP"):
        os.environ.pop(name, None)
    now = clock.now
    with patch.object(clock, "now", lambda: _moment.get() or now()), machine(WORKERS, durable=False) as on:
        yield on


@contextmanager
def at(moment: datetime | None) -> Generator[None]:
    """Inside the block, this task's requests happen at this moment; now if there is none."""
    token = _moment.set(moment)
    try:
        yield
    finally:
        _moment.reset(token)


@asynccontextmanager
async def runtime(on: Supervisor, encoders: str | None = None) -> AsyncIterator[Runtime]:
    """The settings of compose, with deadlines that a busy machine meets.

    `encoders` are the folders of SMARTBRAIN_EMBEDDING_DIR. Vectors are computed here, so that the bench knows when they
    are complete.
    """
    given = {"database_url": on.dsn, "kafka_bootstrap": on.bootstrap, "policy": PATIENT, "embedding_dir": encoders}
    async with open_runtime(Settings.model_validate(given), "bench", pool=6) as rt:
        yield rt


@dataclass
class Committed:
    """The line of each message of each turn, and the number of turns."""

    lines: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    turns: int = 0

    def line_of(self, ref: Ref) -> str | None:
        """The line that the evidence quotes or was learnt from."""
        return self.lines.get((ref.turn_id or "", ref.message or 0))

    def lines_of(self, evidence: Iterable[EvidenceItem]) -> list[str]:
        """The line of each evidence in order; evidence without one counts as an unknown line."""
        return [self.line_of(each.ref) or "" for each in evidence]


async def commit(rt: Runtime, lines: Sequence[Line], to: Committed) -> None:
    """Commits the lines, each dialogue in its order, and waits until they are learnt."""
    dialogues: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        dialogues[line.dialogue].append(line)
    await asyncio.gather(*(_commit(rt, each, to) for each in dialogues.values()))
    await settle(rt)


async def _commit(rt: Runtime, lines: Sequence[Line], to: Committed) -> None:
    for turn in turns(lines):
        first = turn[0]
        messages = [_message(line) for line in turn]
        body = {"tenant_id": TENANT, "user_id": first.dialogue, "session_id": first.session, "messages": messages}
        said = TurnEvents.model_validate({**body, "created_at": first.said_at})
        turn_id = str((await commit_turn(said, rt, transport="bench")).result.turn_id)
        to.turns += 1
        to.lines |= {(turn_id, n): line.id for n, line in enumerate(turn)}


def _message(line: Line) -> dict[str, str]:
    named = {"name": line.speaker} if line.speaker and line.role == "user" else {}
    return {"role": line.role, **named, "content": line.text}


async def remember(rt: Runtime, user: str, items: Sequence[StructuredItem], created_at: datetime) -> str:
    """The id of a turn that provided these memories, which are settled."""
    body = TurnEvents(tenant_id=TENANT, user_id=user, session_id="items", created_at=created_at, items=tuple(items))
    return str((await commit_turn(body, rt, transport="bench")).result.turn_id)


async def settle(rt: Runtime) -> None:
    """Waits until every turn has its outcome."""

    async def settled() -> bool:
        async with rt.db.system() as conn:
            return not await count_late(conn, timedelta(0))

    await wait_for(settled, "every turn has its outcome", deadline_s=SETTLED_S)


async def embed_all(rt: Runtime) -> None:
    """Waits until every chunk has the vector of the configured encoder."""
    while await embed_some(rt):
        pass


def forget_vectors(on: Supervisor) -> None:
    """Removes the vectors of configured encoders before the next encoder."""
    databases.rows(on.dsn, "UPDATE memory_chunks SET embedding_model_id = NULL WHERE embedding_model_id IS NOT NULL")


async def search(rt: Runtime, user: str, text: str, *, mode: str = "hybrid", top_k: int | None = None) -> EvidencePack:
    """The results of /v1/retrieve: `top_k` of them, or those above the product's own cut-off."""
    plan = {"version": "0.1", "tenant_id": TENANT, "user_id": user, "queries": [{"text": text, "mode": mode}]}
    budget = {} if top_k is None else {"budget": {"top_k": top_k}, "ranking": {"min_score": 0}}
    return await retrieve(RetrieveRequest.model_validate({**plan, **budget}), rt)


async def package(rt: Runtime, user: str, text: str, session: str = "fresh") -> ContextPackage:
    """The result of /v1/context in a new session."""
    asked = {"tenant_id": TENANT, "user_id": user, "session_id": session, "user_message": {"content": text}}
    return await compose_package(ComposeRequest.model_validate(asked), rt)


async def each_of(jobs: Iterable[T], call: Callable[[T], Awaitable[R]]) -> list[R]:
    """The result of `call` for each item, in order, with limited concurrency."""
    few = asyncio.Semaphore(AT_ONCE)

    async def one(job: T) -> R:
        async with few:
            return await call(job)

    return list(await asyncio.gather(*(one(job) for job in jobs)))
