"""The consumer-group coordinator: members of a group, and the join and sync rounds that distribute work."""

import asyncio
import time
import uuid
from collections.abc import Iterable

from shared.embedded.broker.members import GroupState, Joined, JoinRequest, Member, Synced
from shared.embedded.broker.protocol import Code


class Group:
    """One consumer group: members, generation and state. Every method is a step of the classic group protocol."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.generation = 0
        self.state = GroupState.EMPTY
        self.protocol_type = ""
        self.protocol = ""
        self.leader = ""
        self._deadline: asyncio.TimerHandle | None = None

    async def join(self, request: JoinRequest) -> Joined:
        """The member's join response in the next generation, once every member has joined or timed out."""
        if request.member_id and request.member_id not in self.members:
            return Joined(Code.UNKNOWN_MEMBER_ID, member_id=request.member_id)
        if not self._compatible(request):
            return Joined(Code.INCONSISTENT_GROUP_PROTOCOL, member_id=request.member_id)
        member = self._admit(request)
        if self._repeats(member, request):
            return self._answer(member)
        member.request = request
        member.answer_join(Joined(Code.REBALANCE_IN_PROGRESS, member_id=member.member_id))  # a retry replaces it
        answer = member.joining = asyncio.get_running_loop().create_future()
        self._rebalance()
        try:
            return await answer
        except asyncio.CancelledError:  # the connection closed while it waited
            if member.joining is answer:
                member.joining = None
                self.remove(member.member_id)
            raise

    async def sync(self, member_id: str, generation: int, shares: Iterable[tuple[str, bytes]]) -> Synced:
        """The member's assignment, once the leader has sent all of them."""
        error = self.check(member_id, generation)
        if error or self.state is GroupState.PREPARING:
            return Synced(error or Code.REBALANCE_IN_PROGRESS)
        member = self.members[member_id]
        if self.state is GroupState.STABLE:
            return Synced(Code.NONE, member.assignment)
        if member_id == self.leader:
            return self._hand_out(member, dict(shares))
        member.answer_sync(Synced(Code.REBALANCE_IN_PROGRESS))
        member.syncing = asyncio.get_running_loop().create_future()
        return await asyncio.shield(member.syncing)

    def heartbeat(self, member_id: str, generation: int) -> int:
        """Records a heartbeat; REBALANCE_IN_PROGRESS tells the member to join again."""
        error = self.check(member_id, generation)
        if not error and self.state is GroupState.PREPARING:
            return Code.REBALANCE_IN_PROGRESS
        return error

    def check(self, member_id: str, generation: int) -> int:
        """NONE if that member belongs to that generation, which also counts as a heartbeat."""
        member = self.members.get(member_id)
        if member is None:
            return Code.UNKNOWN_MEMBER_ID
        if generation != self.generation:
            return Code.ILLEGAL_GENERATION
        member.last_seen = time.monotonic()
        return Code.NONE

    def check_commit(self, member_id: str, generation: int) -> int:
        """Whether offsets may be committed: by a current member, or from outside while the group is empty."""
        if generation < 0 and not self.members:
            return Code.NONE
        error = self.check(member_id, generation)
        return Code.REBALANCE_IN_PROGRESS if not error and self.state is GroupState.COMPLETING else error

    def remove(self, member_id: str) -> int:
        """Removes the member, with an error if it waits, and reassigns its work."""
        member = self.members.pop(member_id, None)
        if member is None:
            return Code.UNKNOWN_MEMBER_ID
        member.answer_join(Joined(Code.UNKNOWN_MEMBER_ID, member_id=member_id))
        member.answer_sync(Synced(Code.UNKNOWN_MEMBER_ID))
        self._rebalance()
        return Code.NONE

    def remove_silent(self, now: float) -> None:
        """Removes members whose session timed out."""
        for member_id in [member.member_id for member in self.members.values() if member.silent(now)]:
            self.remove(member_id)

    def _compatible(self, request: JoinRequest) -> bool:
        others = [m for m in self.members.values() if m.member_id != request.member_id]
        if not others:
            return bool(request.protocols)
        common = set(request.protocols).intersection(*(member.request.protocols for member in others))
        return bool(common) and request.protocol_type == self.protocol_type

    def _admit(self, request: JoinRequest) -> Member:
        """The member, created if necessary; a member that it replaces is removed and not waited for."""
        if request.member_id:
            return self.members[request.member_id]
        for old in [member for member in self.members.values() if _succeeds(request, member.request)]:
            del self.members[old.member_id]
            old.answer_join(Joined(Code.FENCED_INSTANCE_ID, member_id=old.member_id))
            old.answer_sync(Synced(Code.FENCED_INSTANCE_ID))
        member = Member(f"{request.client_id}-{uuid.uuid4()}", request)
        self.members[member.member_id] = member
        self.protocol_type = request.protocol_type
        return member

    def _repeats(self, member: Member, request: JoinRequest) -> bool:
        """Whether a member repeats the join for its current generation because the response was lost."""
        if not request.member_id or member.request.protocols != request.protocols:
            return False
        return self.state is GroupState.COMPLETING or (
            self.state is GroupState.STABLE and member.member_id != self.leader
        )

    def _rebalance(self) -> None:
        """Requests all members to join again; the next generation begins when they have."""
        if not self.members:
            self._cancel_deadline()
            self.state, self.leader, self.protocol = GroupState.EMPTY, "", ""
            self.generation += 1
            return
        for member in self.members.values():
            member.answer_sync(Synced(Code.REBALANCE_IN_PROGRESS))
        if self.state is not GroupState.PREPARING:
            self.state = GroupState.PREPARING
            patience = max(member.request.rebalance_timeout for member in self.members.values())
            self._deadline = asyncio.get_running_loop().call_later(patience, self._begin_generation)
        if all(member.joining is not None for member in self.members.values()):
            self._begin_generation()

    def _begin_generation(self) -> None:
        """Starts a new generation with those who joined; removes the rest."""
        self._cancel_deadline()
        self.members = {key: member for key, member in self.members.items() if member.joining is not None}
        if not self.members:
            self._rebalance()
            return
        self.generation += 1
        self.state = GroupState.COMPLETING
        if self.leader not in self.members:
            self.leader = next(iter(self.members))
        offers = [member.request.protocols for member in self.members.values()]
        preferred = self.members[self.leader].request.protocols
        self.protocol = next(name for name in preferred if all(name in offer for offer in offers))
        for member in self.members.values():
            member.assignment = b""
            member.answer_join(self._answer(member))

    def _answer(self, member: Member) -> Joined:
        told = self.members.values() if member.member_id == self.leader else ()
        members = tuple((m.member_id, m.request.instance_id, m.request.protocols[self.protocol]) for m in told)
        return Joined(Code.NONE, self.generation, self.protocol, self.leader, member.member_id, members)

    def _hand_out(self, leader: Member, shares: dict[str, bytes]) -> Synced:
        self.state = GroupState.STABLE
        for member in self.members.values():
            member.assignment = shares.get(member.member_id, b"")
            member.answer_sync(Synced(Code.NONE, member.assignment))
        return Synced(Code.NONE, leader.assignment)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _succeeds(new: JoinRequest, old: JoinRequest) -> bool:
    """Whether a joining member is a returning one: a restarted static one, or a client that lost its id.

    aiokafka loses it when a commit coincides with a rebalance. Kafka lets every other member wait for the session of
    the lost id to end; because a connection has one member, a second join on it ends the first here.
    """
    return new.connection == old.connection or (new.instance_id is not None and new.instance_id == old.instance_id)
