"""A connection that is slow, silent or oversized, or that states two body lengths, is closed and delays no other."""

import asyncio
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit

import orjson
import pytest

from schemas.turn_events import MAX_BODY_BYTES
from shared.connections import BoundedProtocol, ConnectionLimits
from tests.system.person import Person
from tests.system.running import System, listening
from tests.system.wait import IN_TIME_S

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
HEAD = "POST /v1/turns HTTP/1.1\r\nhost: compose\r\ncontent-type: application/json\r\n"
LIVE = b"GET /v1/sessions?user_id=nobody HTTP/1.1\r\nhost: compose\r\n\r\n"


class Hasty(BoundedProtocol):
    """The same limits in tenths of a second, with four idle connections."""

    limits = ConnectionLimits(head_s=0.2, body_s=0.2, idle_most=4)


@pytest.fixture
async def address(system: System) -> AsyncGenerator[tuple[str, int]]:
    """The address of compose with short limits."""
    async with listening(system, Hasty) as url:
        where = urlsplit(url)
        yield where.hostname or "", where.port or 0


async def answer(streams: Streams) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body; status 0 if the connection closed without a response."""
    reader, _ = streams
    async with asyncio.timeout(IN_TIME_S):
        head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
        first, *rest = head.decode().rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    return int(first.split()[1]), headers, body


async def is_closed(streams: Streams) -> bool:
    """Whether the other side closed the connection and sent nothing more."""
    async with asyncio.timeout(IN_TIME_S):
        return await streams[0].read() == b""


async def send(address: tuple[str, int], *parts: bytes) -> Streams:
    """A connection on which this was sent."""
    reader, writer = await asyncio.open_connection(*address)
    for part in parts:
        writer.write(part)
        await writer.drain()
    return reader, writer


async def drip(writer: asyncio.StreamWriter, byte: bytes) -> None:
    """Sends single bytes, more often than the deadline, until the other side stops reading."""
    try:
        while not writer.is_closing():
            writer.write(byte)
            await writer.drain()
            await asyncio.sleep(0.02)  # the sender is slow on purpose
    except OSError:
        return


@pytest.mark.parametrize(
    ("begun", "dripping"),
    [
        (b"GET /v1/memories HTTP/1.1\r\nx: ", b"a"),
        (f"{HEAD}content-length: 5000\r\n\r\n".encode() + b'{"user_id": "', b"a"),
        (f"{HEAD}transfer-encoding: chunked\r\n\r\n".encode(), b"1\r\na\r\n"),
    ],
    ids=["headers", "body", "chunks"],
)
async def test_an_endless_trickle_is_refused_in_time(
    system: System, person: Person, address: tuple[str, int], begun: bytes, dripping: bytes
) -> None:
    streams = await send(address, begun)
    dripper = asyncio.create_task(drip(streams[1], dripping))
    status, headers, body = await answer(streams)
    assert (status, orjson.loads(body)["code"], headers["connection"]) == (408, "timeout", "close")
    assert await is_closed(streams)
    await dripper
    assert (await person.get("/v1/sessions")).status_code == 200


async def test_a_silent_connection_or_one_with_only_line_breaks_is_closed(address: tuple[str, int]) -> None:
    assert await is_closed(await send(address))
    silent = await send(address, LIVE)
    assert (await answer(silent))[0] == 200
    dripper = asyncio.create_task(drip(silent[1], b"\r\n"))
    assert await silent[0].read() is not None
    await dripper


async def test_idle_connections_make_room_for_active_ones(address: tuple[str, int]) -> None:
    waiting = [await send(address, LIVE) for _ in range(4)]
    assert [(await answer(each))[0] for each in waiting] == [200] * 4
    for _ in range(3):
        assert (await answer(await send(address, LIVE)))[0] == 200
    assert await is_closed(waiting[0])


@pytest.mark.parametrize("expecting", ["", "expect: 100-continue\r\n"])
async def test_a_length_beyond_the_limit_is_refused_before_the_body_is_sent(
    address: tuple[str, int], expecting: str
) -> None:
    streams = await send(address, f"{HEAD}{expecting}content-length: {MAX_BODY_BYTES + 1}\r\n\r\n".encode())
    status, headers, body = await answer(streams)
    told = orjson.loads(body)
    assert (status, told["code"], told["details"][0]["field"]) == (413, "too_large", "body")
    assert told["request_id"] == headers["x-request-id"]


async def test_a_body_with_two_lengths_is_refused_and_nothing_after_it_is_read(
    system: System, person: Person, address: tuple[str, int]
) -> None:
    smuggled = orjson.dumps(person.turn("I like tea."))
    behind = f"{HEAD}content-length: {len(smuggled)}\r\n\r\n".encode() + smuggled
    both = f"{HEAD}content-length: {5 + len(behind)}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n".encode()
    streams = await send(address, both + behind)
    status, headers, body = await answer(streams)
    assert (status, orjson.loads(body)["code"], headers["connection"]) == (400, "invalid_framing", "close")
    assert await is_closed(streams)
    assert system.number("SELECT count(*) FROM turns WHERE tenant_id = %(t)s", t=person.tenant_id) == 0


@pytest.mark.parametrize(
    "sent",
    [b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/9\r\n\r\n", b"GET /\x00 HTTP/1.1\r\n\r\n", b"x" * 70_000],
    ids=["tls", "version", "nul", "no end"],
)
async def test_invalid_http_is_refused_in_the_common_error_format(address: tuple[str, int], sent: bytes) -> None:
    streams = await send(address, sent)
    status, _, body = await answer(streams)
    assert (status, orjson.loads(body)["code"]) == (400, "malformed_http")
    assert await is_closed(streams)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("TRACE", "/v1/memories", "DELETE, GET, POST"),
        ("TRACE", "/v1/turns", "POST"),
        ("PUT", "/v1/memories/0192a1b2-0000-7000-8000-000000000000", "DELETE, GET, PATCH"),
        ("BREW", "/v1/sessions/team/a/summary", "DELETE, GET"),
    ],
)
async def test_an_unknown_method_is_refused_with_the_allowed_methods(
    system: System, method: str, path: str, allowed: str
) -> None:
    answered = await system.http.request(method, path, headers={"x-secret": "echoed by nobody"})
    assert (answered.status_code, answered.headers["allow"]) == (405, allowed)
    assert "echoed" not in answered.text
