"""The broker: a listening socket, a table of handlers, and two housekeeping timers."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from shared.embedded.broker import handle_cluster, handle_data, handle_groups
from shared.embedded.broker.connection import Answer, Connection
from shared.embedded.broker.protocol import KafkaRequest
from shared.embedded.broker.settings import HOST, BrokerError, BrokerSettings
from shared.embedded.broker.state import BrokerState

_log = logging.getLogger("smartbrain.broker")
SESSION_CHECK_SECONDS = 0.25

_HANDLERS: dict[int, Callable[[BrokerState, KafkaRequest], Answer | Awaitable[Answer]]] = {
    0: handle_data.produce,
    1: handle_data.fetch,
    2: handle_data.list_offsets,
    3: handle_cluster.metadata,
    8: handle_groups.offset_commit,
    9: handle_groups.offset_fetch,
    10: handle_cluster.find_coordinator,
    11: handle_groups.join_group,
    12: handle_groups.heartbeat,
    13: handle_groups.leave_group,
    14: handle_groups.sync_group,
    15: handle_groups.describe_groups,
    16: handle_groups.list_groups,
    18: handle_cluster.api_versions,
    19: handle_cluster.create_topics,
    20: handle_cluster.delete_topics,
    21: handle_data.delete_records,
    22: handle_data.init_producer_id,
    32: handle_cluster.describe_configs,
    37: handle_cluster.create_partitions,
}


class Broker:
    """One broker on one folder, in this event loop; `start` raises BrokerError if the folder or the port is taken."""

    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings
        self._state: BrokerState | None = None
        self._server: asyncio.Server | None = None
        self._clocks: list[asyncio.Task[None]] = []
        self._connections: set[Connection] = set()

    @property
    def bootstrap(self) -> str:
        """host:port for clients; raises BrokerError before `start`."""
        if self._state is None:
            raise BrokerError("the broker was not started")
        return "{}:{}".format(*self._state.address)

    async def start(self) -> None:
        """Reads the logs, applies retention, and serves clients when it returns."""
        self._state = state = BrokerState(self._settings)
        state.maintain()
        try:
            self._server = await asyncio.get_running_loop().create_server(
                lambda: Connection(lambda request: _HANDLERS[request.api_key](state, request), self._connections),
                HOST,
                self._settings.port,
            )
        except OSError as error:
            state.close()
            raise BrokerError(f"cannot listen on {HOST}:{self._settings.port}: {error}") from error
        state.port = int(self._server.sockets[0].getsockname()[1])
        self._clocks = [
            asyncio.create_task(_every(SESSION_CHECK_SECONDS, lambda: _end_silent_sessions(state))),
            asyncio.create_task(_every(self._settings.retention_check_seconds, state.maintain)),
        ]
        _log.info("broker_started bootstrap=%s directory=%s", self.bootstrap, self._settings.directory)

    async def stop(self) -> None:
        """Closes connections, syncs everything and releases the folder; no effect if stopped."""
        if self._server is None or self._state is None:
            return
        self._server.close()
        for clock in self._clocks:
            clock.cancel()
            with suppress(asyncio.CancelledError):
                await clock
        for connection in list(self._connections):
            await connection.close()
        self._state.close()
        self._server = None
        _log.info("broker_stopped directory=%s", self._settings.directory)


def _end_silent_sessions(state: BrokerState) -> None:
    now = time.monotonic()
    for group in list(state.groups.values()):
        group.remove_silent(now)


async def _every(seconds: float, act: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            act()
        except Exception:  # noqa: BLE001 (the timer continues)
            _log.exception("housekeeping_failed")
