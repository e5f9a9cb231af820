"""Members of consumer groups: their requests, pending waits, and responses."""

import asyncio
import time
from dataclasses import dataclass, field
from enum import StrEnum


class GroupState(StrEnum):
    """The state of a group; the values are Kafka's names for DescribeGroups."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"


@dataclass(frozen=True)
class Joined:
    """The response to a join; only the leader gets every member (id, instance id, metadata)."""

    error: int
    generation: int = -1
    protocol: str = ""
    leader: str = ""
    member_id: str = ""
    members: tuple[tuple[str, str | None, bytes], ...] = ()


@dataclass(frozen=True)
class Synced:
    """The response to a sync: the member's assignment, opaque to the broker."""

    error: int
    assignment: bytes = b""


@dataclass(frozen=True)
class JoinRequest:
    """The join request of a member; timeouts in seconds, an empty `member_id` at its first join."""

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
    """One consumer in a group; `joining` and `syncing` are the responses for which it waits."""

    member_id: str
    request: JoinRequest
    assignment: bytes = b""
    last_seen: float = field(default_factory=time.monotonic)
    joining: asyncio.Future[Joined] | None = None
    syncing: asyncio.Future[Synced] | None = None

    def answer_join(self, answer: Joined) -> None:
        """Answers the waiting join, if any."""
        if self.joining is not None and not self.joining.done():
            self.joining.set_result(answer)
        self.joining = None
        self.last_seen = time.monotonic()

    def answer_sync(self, answer: Synced) -> None:
        """Answers the waiting sync, if any."""
        if self.syncing is not None and not self.syncing.done():
            self.syncing.set_result(answer)
        self.syncing = None
        self.last_seen = time.monotonic()

    def silent(self, now: float) -> bool:
        """Whether its session timed out; a member that waits for a response is alive."""
        waits = self.joining is not None or self.syncing is not None
        return not waits and now - self.last_seen > self.request.session_timeout
