"""Members of consumer groups: what they ask, what they wait for, and the answers."""

import asyncio
import time
from dataclasses import dataclass, field
from enum import StrEnum


class GroupState(StrEnum):
    """Where a group stands; the values are Kafka's names for DescribeGroups."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"


@dataclass(frozen=True)
class Joined:
    """The answer to a join; the leader alone is told every member (id, instance id, metadata)."""

    error: int
    generation: int = -1
    protocol: str = ""
    leader: str = ""
    member_id: str = ""
    members: tuple[tuple[str, str | None, bytes], ...] = ()


@dataclass(frozen=True)
class Synced:
    """The answer to a sync: the member's share of the work, opaque to the broker."""

    error: int
    assignment: bytes = b""


@dataclass(frozen=True)
class JoinRequest:
    """What a member says of itself; timeouts in seconds, an empty `member_id` on its first join."""

    member_id: str
    instance_id: str | None
    client_id: str
    connection: int
    session_timeout: float
    rebalance_timeout: float
    protocol_type: str
    protocols: dict[str, bytes]


@dataclass
class Member:
    """One consumer in a group; `joining` and `syncing` are the answers that it waits for."""

    member_id: str
    request: JoinRequest
    assignment: bytes = b""
    last_seen: float = field(default_factory=time.monotonic)
    joining: asyncio.Future[Joined] | None = None
    syncing: asyncio.Future[Synced] | None = None

    def answer_join(self, answer: Joined) -> None:
        """The waiting join, if any, is answered."""
        if self.joining is not None and not self.joining.done():
            self.joining.set_result(answer)
        self.joining = None
        self.last_seen = time.monotonic()

    def answer_sync(self, answer: Synced) -> None:
        """The waiting sync, if any, is answered."""
        if self.syncing is not None and not self.syncing.done():
            self.syncing.set_result(answer)
        self.syncing = None
        self.last_seen = time.monotonic()

    def silent(self, now: float) -> bool:
        """Whether its session ran out; one that waits for us is not silent."""
        waits = self.joining is not None or self.syncing is not None
        return not waits and now - self.last_seen > self.request.session_timeout
