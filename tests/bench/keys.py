"""The cost of identifying and authorising a requester: by a cached key, an uncached key, and a token."""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import mean, quantiles
from tempfile import TemporaryDirectory

import uvloop

from shared.access.authenticator import Authenticator
from shared.db import Database
from shared.domain.subjects import find_owner_denial, find_scope_denial
from shared.policy import AccessPolicy, TokenIssuer
from tests.bench import kit
from tests.bench.kit import Options, Report, Row
from tests.system.issuer import AUDIENCE, URL, Issuer
from tests.system.keys import add_key, with_key

CHECKS, READS = 40_000, 800
MOST_MS = 0.2
HOST = "127.0.0.1"


def run(options: Options) -> Report:
    """Milliseconds per check."""
    report = Report("keys")
    with kit.machine(()) as machine, TemporaryDirectory() as folder:
        uvloop.run(_measure(machine.dsn, Path(folder), options, report))
    report.notes.append(
        "read again: once in 2 s for a key in use in each process, and after a change of it; most checks find it kept"
    )
    return report


async def _measure(dsn: str, folder: Path, options: Options, report: Report) -> None:
    db = Database(dsn, size=2)
    await db.open()
    try:
        header = with_key(await add_key(db, "acme", scopes=("read", "write"), users_from="l"))["authorization"]
        door = Authenticator(db, AccessPolicy(), HOST)

        async def check_kept() -> None:
            requester = await door.identify(header)
            assert find_scope_denial(requester, "read") is None
            assert find_owner_denial(requester, "acme", "lin") is None

        async def check_read() -> None:
            door.forget(None)
            await check_kept()

        report.rows += await _rows("a key that is kept", check_kept, options.some(CHECKS), MOST_MS)
        report.rows += await _rows("a key that is read again", check_read, options.some(READS), None)
        for name, curve in (("RS256", False), ("ES256", True)):
            issuer = Issuer(folder / f"{name}.json")
            issuer.add_key("first", curve=curve)
            named = TokenIssuer(issuer=URL, audience=AUDIENCE, jwks=str(issuer.shown_in), tenant="acme")
            taker = Authenticator(db, AccessPolicy(issuers={"staff": named}), HOST)
            token = with_key(issuer.sign(scope="read"))["authorization"]

            async def check_token(taker: Authenticator = taker, token: str = token) -> None:
                await taker.identify(token)

            report.rows += await _rows(f"a token, {name}", check_token, options.some(READS), None)
    finally:
        await db.close()


async def _rows(what: str, check: Callable[[], Awaitable[None]], times: int, limit: float | None) -> list[Row]:
    await check()
    took: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        await check()
        took.append(1000 * (time.perf_counter() - began))
    p99 = quantiles(took, n=100)[98]
    return [Row(f"{what}: mean", mean(took), "ms", None, limit), Row(f"{what}: p99", p99, "ms", None, limit)]
