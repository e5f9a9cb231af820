"""One client's connection: reads request frames and answers them one after the other, as Kafka does."""

import asyncio
import itertools
import logging
import socket
import struct
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, cast

from shared.embedded.broker.protocol import KafkaRequest, UnsupportedRequestError, decode, encode

_log = logging.getLogger("smartbrain.broker")
_LENGTH = struct.Struct(">i")
LARGEST_FRAME = 100 << 20
MOST_WAITING = 16
_numbers = itertools.count()

Answer = tuple[Any, ...] | None
Handle = Callable[[KafkaRequest], Answer | Awaitable[Answer]]


class Connection(asyncio.Protocol):
    """Answers requests in order.

    When the client disconnects, pending waits are cancelled at once, and received requests are completed.
    """

    def __init__(self, handle: Handle, connections: set["Connection"]) -> None:
        self._handle = handle
        self._connections = connections
        self._number = next(_numbers)
        self._buffer = bytearray()
        self._frames: deque[bytes] = deque()
        self._arrived = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()
        self._task: asyncio.Task[None] | None = None
        self._waiting = False
        self._closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Starts serving."""
        self._transport = cast(asyncio.Transport, transport)
        sock = cast(socket.socket | None, transport.get_extra_info("socket"))
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connections.add(self)
        self._task = asyncio.get_running_loop().create_task(self._serve())

    def data_received(self, data: bytes) -> None:
        """Splits the stream into frames; reading pauses while too many wait."""
        self._buffer += data
        start = 0
        while len(self._buffer) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer, start)
            if not 0 < length <= LARGEST_FRAME:
                _log.warning("frame_refused length=%d", length)
                self._transport.abort()
                return
            end = start + _LENGTH.size + length
            if len(self._buffer) < end:
                break
            self._frames.append(bytes(self._buffer[start + _LENGTH.size : end]))
            start = end
        if start:
            del self._buffer[:start]
            self._arrived.set()
        if len(self._frames) > MOST_WAITING:
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        """The client reads too slowly: pauses writing."""
        self._drained.clear()

    def resume_writing(self) -> None:
        """The client has caught up: resumes writing."""
        self._drained.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends serving."""
        self._closed = True
        self._drained.set()
        self._arrived.set()
        if self._task is not None and self._waiting:
            self._task.cancel()

    async def close(self) -> None:
        """Closes the connection and abandons its request, if any."""
        self._transport.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _serve(self) -> None:
        try:
            while True:
                while not self._frames:
                    if self._closed:
                        return
                    self._arrived.clear()
                    await self._arrived.wait()
                frame = self._frames.popleft()
                if not self._frames and not self._closed:
                    self._transport.resume_reading()
                await self._answer(decode(frame, self._number))
        except (UnsupportedRequestError, ValueError, struct.error, IndexError) as error:
            _log.warning("request_refused error=%s", error)
        except Exception:  # noqa: BLE001 (one bad request must not end the broker)
            _log.exception("request_failed")
        finally:
            self._connections.discard(self)
            self._transport.close()

    async def _answer(self, request: KafkaRequest) -> None:
        answer = self._handle(request)
        if isinstance(answer, Awaitable):
            self._waiting = True
            try:
                answer = await answer
            finally:
                self._waiting = False
        if answer is None:
            return
        await self._drained.wait()
        if not self._closed:
            self._transport.write(encode(request, answer))
