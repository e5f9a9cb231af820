"""HTTP connections with bounds: whoever is slow, silent or does not read what it asked for is let go."""

import asyncio
from dataclasses import dataclass
from typing import cast

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol, RequestResponseCycle

from schemas.turn_events import ErrorReply
from shared import clock


@dataclass(frozen=True)
class ConnectionLimits:
    """What one connection may take, and how many may wait."""

    head_s: float = 10.0
    """From the first moment of a connection, or the first byte of a later request, to the end of its headers."""
    body_s: float = 30.0
    """From the end of the headers to the end of the body."""
    read_s: float = 30.0
    """For reading what was answered, once the connection is to close."""
    linger_s: float = 1.0
    """For hearing a refusal: who is cut off while still sending may never see what was answered."""
    idle_most: int = 256
    """Connections without a request under way; beyond it the one that has waited longest is closed."""


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 within `limits`; a refusal has the shape of all others where the client can still hear it."""

    limits = ConnectionLimits()
    _owed: asyncio.TimerHandle | None = None
    _phase: object = None
    _silent_since = 0.0
    _ended = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """It has to send headers in time, and may push out another that waits."""
        super().connection_made(transport)
        self._owe(h11.IDLE)
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is owed any more."""
        self._owe(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """What has come is handled, and what is to come has a deadline: its phase's, however often bytes drip in."""
        if self._ended:
            return
        super().data_received(data)
        if not self._ended:
            self._owe(self._phase_now())

    def on_response_complete(self) -> None:
        """The next headers are owed once they begin; what is left of an unread body still is."""
        super().on_response_complete()
        waits = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        self._owe(None if waits else self._phase_now())
        self._make_room()
        if self.transport.is_closing():
            self._cut_off_later()

    def timeout_keep_alive_handler(self) -> None:
        """As uvicorn does, but a client that does not read cannot keep the connection."""
        super().timeout_keep_alive_handler()
        self._cut_off_later()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is refused if an answer can be heard, and the connection ends."""
        self._refuse(400, "malformed_http", msg)

    @property
    def idle(self) -> bool:
        """Whether no request is under way."""
        cycle = self._cycle()
        return cycle is None or cycle.response_complete

    def _cycle(self) -> RequestResponseCycle | None:
        """The latest request, once there is one."""
        return self.cycle

    def _phase_now(self) -> object:
        state = self.conn.their_state
        return state if state in (h11.IDLE, h11.SEND_BODY) else None

    def _owe(self, phase: object) -> None:
        """The client has until the phase's deadline; None: it owes nothing."""
        if phase is self._phase and phase is not None:
            return
        self._phase = phase
        if self._owed:
            self._owed.cancel()
            self._owed = None
        if phase is None:
            return
        within = self.limits.head_s if phase is h11.IDLE else self.limits.body_s
        self._owed = self.loop.call_later(within, self._too_late)

    def _too_late(self) -> None:
        if self._phase is h11.IDLE and not self.conn.trailing_data[0]:
            self._close()  # not a byte came: nobody asked
        else:
            what = "headers" if self._phase is h11.IDLE else "body"
            self._refuse(408, "timeout", f"the {what} did not come to an end in time")

    def _refuse(self, status: int, code: str, message: str) -> None:
        """The client is told, unless it has been answered already; the application hears that it is gone."""
        if self._ended or self.transport.is_closing():
            return
        cycle = self._cycle()
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            request_id = clock.uuid7().hex
            body = ErrorReply(code=code, message=message, request_id=request_id).model_dump_json().encode()
            headers = [
                (b"x-request-id", request_id.encode()),
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
            ]
            head = h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES[status])
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
            self._linger()
        else:
            self._close()

    def _linger(self) -> None:
        """Nothing more is said; what still comes is not looked at, and then the connection ends."""
        self._ended = True
        self._owe(None)
        self._unset_keepalive_if_required()
        self.flow.resume_reading()
        self.transport.write_eof()
        self.loop.call_later(self.limits.linger_s, self._close)

    def _close(self) -> None:
        self._owe(None)
        self.transport.close()
        self._cut_off_later()

    def _cut_off_later(self) -> None:
        """What waits to be read by the client waits for a while only."""
        if self.transport.get_write_buffer_size():
            self.loop.call_later(self.limits.read_s, self.transport.abort)

    def _make_room(self) -> None:
        self._silent_since = self.loop.time()
        if len(self.connections) <= self.limits.idle_most:
            return
        waiting = [each for each in cast("set[BoundedProtocol]", self.connections) if each.idle]
        if len(waiting) > self.limits.idle_most:
            min(waiting, key=lambda each: each._silent_since)._close()


def http_config(app: ASGIApp, protocol: type[BoundedProtocol] = BoundedProtocol) -> uvicorn.Config:
    """How every service is served."""
    return uvicorn.Config(app, http=protocol, log_level="error", access_log=False, lifespan="off", ws="none")
