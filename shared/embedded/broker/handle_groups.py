"""Requests of consumer groups: membership rounds, committed offsets, and descriptions for tools."""

from typing import Any

from shared.embedded.broker.groups import Group
from shared.embedded.broker.members import GroupState, JoinRequest, Member
from shared.embedded.broker.protocol import Code, KafkaRequest
from shared.embedded.broker.state import BrokerState

NO_THROTTLE = 0
CLIENT_HOST = "/127.0.0.1"  # every client is on this machine

Response = tuple[Any, ...]


async def join_group(state: BrokerState, request: KafkaRequest) -> Response:
    """The member's join response in the group's next generation."""
    name, session_ms, rebalance_ms, member_id, instance_id, protocol_type, protocols = request.body
    wanted = JoinRequest(
        member_id=member_id,
        instance_id=instance_id or None,
        client_id=request.client_id,
        connection=request.connection,
        session_timeout=session_ms / 1000,
        rebalance_timeout=(rebalance_ms or session_ms) / 1000,
        protocol_type=protocol_type,
        protocols=dict(protocols),
    )
    joined = await state.group(name).join(wanted)
    answer = (joined.generation, joined.protocol, joined.leader, joined.member_id, list(joined.members))
    return NO_THROTTLE, joined.error, *answer


async def sync_group(state: BrokerState, request: KafkaRequest) -> Response:
    """The member's assignment from the leader."""
    name, generation, member_id, _, shares = request.body
    synced = await state.group(name).sync(member_id, generation, shares)
    return NO_THROTTLE, synced.error, synced.assignment


def heartbeat(state: BrokerState, request: KafkaRequest) -> Response:
    """Whether the member still belongs to the group, and whether it must join again."""
    name, generation, member_id = request.body
    return NO_THROTTLE, state.group(name).heartbeat(member_id, generation)


def leave_group(state: BrokerState, request: KafkaRequest) -> Response:
    """Removes the member at once, without waiting for its session to end."""
    name, member_id = request.body
    return NO_THROTTLE, state.group(name).remove(member_id)


def offset_commit(state: BrokerState, request: KafkaRequest) -> Response:
    """Stores offsets for the group if the sender may commit for it; unknown partitions are refused."""
    name, generation, member_id, _, topics = request.body
    refused = state.group(name).check_commit(member_id, generation)
    answer: list[Any] = []
    accepted: list[tuple[str, int, int, str]] = []
    for topic, partitions in topics:
        errors: list[tuple[int, int]] = []
        for number, offset, note in partitions:
            known = state.topics.partition(topic, number) is not None
            error = refused or (Code.NONE if known else Code.UNKNOWN_TOPIC_OR_PARTITION)
            errors.append((number, error))
            if not error:
                accepted.append((topic, number, offset, note or ""))
        answer.append((topic, errors))
    if accepted:
        state.offsets.commit(name, accepted)
    return NO_THROTTLE, answer


def offset_fetch(state: BrokerState, request: KafkaRequest) -> Response:
    """The group's offset in each requested partition (null: in all that it ever committed); -1 without one."""
    name, wanted = request.body
    offsets = state.offsets.of(name)
    if wanted is None:
        topics = {topic for topic, _ in offsets}
        wanted = [(topic, [number for other, number in offsets if other == topic]) for topic in sorted(topics)]
    answer = [
        (topic, [(number, *offsets.get((topic, number), (-1, "")), Code.NONE) for number in numbers])
        for topic, numbers in wanted
    ]
    return NO_THROTTLE, answer, Code.NONE


def list_groups(state: BrokerState, _: KafkaRequest) -> Response:
    """Every group with members or offsets."""
    names = {*state.offsets.groups(), *(name for name, group in state.groups.items() if group.members)}
    return NO_THROTTLE, Code.NONE, [(name, state.group(name).protocol_type or "consumer") for name in sorted(names)]


def describe_groups(state: BrokerState, request: KafkaRequest) -> Response:
    """State and members of each requested group; an unknown one is Dead."""
    (names,) = request.body
    return NO_THROTTLE, [_describe(state, name) for name in names]


def _describe(state: BrokerState, name: str) -> Response:
    group = state.groups.get(name)
    if group is None or not group.members:
        known = group is not None or name in state.offsets.groups()
        return Code.NONE, name, GroupState.EMPTY.value if known else "Dead", "consumer" if known else "", "", []
    members = [_member(group, member) for member in group.members.values()]
    return Code.NONE, name, group.state.value, group.protocol_type, group.protocol, members


def _member(group: Group, member: Member) -> Response:
    metadata = member.request.protocols.get(group.protocol, b"")
    return member.member_id, member.request.client_id, CLIENT_HOST, metadata, member.assignment
