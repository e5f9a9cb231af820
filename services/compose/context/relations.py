"""The arms that follow links: from names to what belongs to them, and from a session to its latest messages."""

import asyncio
from collections.abc import Awaitable, Callable

from schemas.retrieval_plan import RetrievalPlan
from services.compose.rules.planning.execute import QueryStep, identifiers
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.language.names import names
from shared.language.normalise import fold
from shared.runtime import Runtime
from shared.store import relations
from shared.store import search as store
from shared.store.search import Hit
from shared.store.search_scope import SearchScope

TAIL_MESSAGES = 24
TOGETHER = 4


def entities(
    rt: Runtime, subject: Subject, step: QueryStep, most: int, within: SearchScope
) -> Callable[[], Awaitable[list[Hit]]]:
    """The arm for what this step names: messages and memories that name it, refs and the tasks behind them."""
    spelt = list(dict.fromkeys(to_stored_name(name) for name in step.entities if to_stored_name(name)))
    canonical = list(dict.fromkeys(fold(name) for name in spelt))

    async def run() -> list[Hit]:
        async with rt.db.transaction(subject) as conn:
            scores = dict(await relations.load_related(conn, subject, canonical, spelt, step.terms, most * 2))
            hits = await store.at(subject, list(map(str, scores)), [], most * 2, within).on(conn)
        scored = [hit._replace(score=scores[hit.chunk_id]) for hit in hits]
        return sorted(scored, key=lambda hit: (-hit.score, -hit.said_at.timestamp(), hit.chunk_id.int))[:most]

    return run


def tail(
    rt: Runtime, subject: Subject, session_id: str, most: int, within: SearchScope
) -> Callable[[], Awaitable[list[Hit]]]:
    """The arm for the latest messages of this session, the newest first."""

    async def run() -> list[Hit]:
        async with rt.db.transaction(subject) as conn:
            chunks = await relations.tail(conn, subject, session_id, min(most, TAIL_MESSAGES))
            hits = await store.at(subject, list(map(str, chunks)), [], len(chunks), within).on(conn) if chunks else []
        newest = sorted(hits, key=lambda hit: -hit.chunk_id.int)
        return [hit._replace(score=1.0 / place) for place, hit in enumerate(newest, 1)]

    return run


async def all_together(rt: Runtime, subject: Subject, plan: RetrievalPlan, left_s: float) -> dict[int, list[str]]:
    """By associative query what most often occurs together with what it names; nothing where that takes too long."""
    named = {
        n: [fold(to_stored_name(name)) for name in names(query.text)]
        for n, query in enumerate(plan.queries)
        if query.mode == "associative"
    }
    asking = {n: of for n, of in named.items() if of}
    if not asking:
        return {}
    try:
        async with asyncio.timeout(left_s), rt.db.transaction(subject) as conn:
            return {
                n: await relations.load_together(conn, subject, of, identifiers(of), TOGETHER)
                for n, of in asking.items()
            }
    except (TimeoutError, TransientError):
        return {}


def to_stored_name(name: str) -> str:
    """The name as PostgreSQL can hold it."""
    return name.replace("\x00", "")
