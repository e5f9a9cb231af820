"""Consumer groups share work, hand it over and take it back without loss."""

import asyncio
import subprocess
import sys
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError

from tests.acceptance.broker.clients import consuming, create, eventually, producing, send_all, take, unique

pytestmark = pytest.mark.kafka

QUICK = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 300}
PATIENT = {**QUICK, "session_timeout_ms": 30_000}
"""Session timeout of members that leave on their own: a slow machine must not look like a dead member."""
ROOT = Path(__file__).parents[3]


class Ledger:
    """The records delivered to a group; a member must not receive a record that was committed before its assignment.

    A new assignment starts at the offset committed at that moment. A record that the member fetched earlier and another
    commits later may be read a second time; that is no error.
    """

    def __init__(self) -> None:
        self.values: list[int] = []
        self.too_late: list[tuple[TopicPartition, int]] = []
        self._committed: dict[TopicPartition, int] = {}

    def start(self, places: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The lowest offsets at which a member with these partitions may start."""
        return {place: self._committed.get(place, 0) for place in places}

    async def work(self, member: AIOKafkaConsumer, shift: "Shift") -> None:
        """Reads, records and commits until cancelled."""
        while True:
            batches = await member.getmany(timeout_ms=100, max_records=50)
            for place, records in batches.items():
                starts = shift.starts.get(place, 0)
                self.values += [int(record.value or b"") for record in records]
                self.too_late += [(place, record.offset) for record in records if record.offset < starts]
            for place, records in batches.items():
                await self._commit(member, place, records[-1].offset + 1)

    async def _commit(self, member: AIOKafkaConsumer, place: TopicPartition, offset: int) -> None:
        try:
            await member.commit({place: offset})
        except (CommitFailedError, IllegalStateError, KafkaError):
            return  # the partition is assigned to another member, which reads these messages again
        self._committed[place] = max(self._committed.get(place, 0), offset)


class Shift(ConsumerRebalanceListener):
    """The offsets at which a member starts in its latest assignment."""

    def __init__(self, ledger: Ledger) -> None:
        self.starts: dict[TopicPartition, int] = {}
        self._ledger = ledger

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Records that it has fetched still count as its own."""

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self.starts = self._ledger.start(assigned)


class Crew:
    """The members of one group, which join and leave."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.ledger = Ledger()
        self._topic = topic
        self._consuming = lambda: consuming(bootstrap, group_id=self.group, **PATIENT)
        self.group = unique("group")
        self._members: dict[int, tuple[AsyncExitStack, asyncio.Task[None], AIOKafkaConsumer]] = {}

    async def hire(self, number: int) -> None:
        """Adds a member."""
        stack = AsyncExitStack()
        member = await stack.enter_async_context(self._consuming())
        shift = Shift(self.ledger)
        member.subscribe([self._topic], listener=shift)
        self._members[number] = (stack, asyncio.create_task(self.ledger.work(member, shift)), member)

    async def dismiss(self, number: int) -> None:
        """Stops one member, which leaves the group."""
        stack, task, _ = self._members.pop(number)
        task.cancel()
        await asyncio.wait([task])
        await stack.aclose()

    async def dismiss_all(self) -> None:
        """Stops all members."""
        for number in list(self._members):
            await self.dismiss(number)

    def shares(self) -> list[int]:
        """The number of partitions of each member, sorted."""
        return sorted(len(member.assignment()) for *_, member in self._members.values())


async def test_nothing_is_lost_while_members_join_and_leave(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("crew"), 6)
    crew = Crew(bootstrap, topic)
    sent = 0

    async def send_until(stop: asyncio.Event) -> None:
        nonlocal sent
        async with producing(bootstrap, linger_ms=1) as producer:
            while not stop.is_set():
                await producer.send(topic, b"%d" % sent, key=b"k%d" % (sent % 50))
                sent += 1
                if sent % 20 == 0:
                    await asyncio.sleep(0.005)
            await producer.flush()

    stop = asyncio.Event()
    sending = asyncio.create_task(send_until(stop))
    try:
        for number, shares in enumerate(([6], [3, 3], [2, 2, 2])):
            await crew.hire(number)
            await eventually(lambda shares=shares: crew.shares() == shares, f"shares {shares}")
            seen = len(crew.ledger.values)
            await eventually(lambda seen=seen: len(crew.ledger.values) > seen + 100, "work after a join")
        for number, shares in ((0, [3, 3]), (2, [6])):
            await crew.dismiss(number)
            await eventually(lambda shares=shares: crew.shares() == shares, f"shares {shares}")
            seen = len(crew.ledger.values)
            await eventually(lambda seen=seen: len(crew.ledger.values) > seen + 100, "work after a leave")
        stop.set()
        await sending
        await eventually(lambda: set(crew.ledger.values) == set(range(sent)), "every message")
    finally:
        stop.set()
        await asyncio.gather(sending, return_exceptions=True)
        await crew.dismiss_all()
    assert crew.ledger.too_late == []


async def test_members_that_start_together_share_the_work(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("together"), 6)
    crew = Crew(bootstrap, topic)
    try:
        await asyncio.gather(*(crew.hire(number) for number in range(3)))
        await eventually(lambda: crew.shares() == [2, 2, 2], "equal shares")
        await send_all(bootstrap, topic, [b"%d" % i for i in range(500)], partition=3)
        await eventually(lambda: sorted(crew.ledger.values) == list(range(500)), "every message once")
    finally:
        await crew.dismiss_all()


async def test_surplus_members_stay_idle(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("idle"), 1)
    crew = Crew(bootstrap, topic)
    try:
        for number in range(2):
            await crew.hire(number)
        await eventually(lambda: crew.shares() == [0, 1], "one idle member")
    finally:
        await crew.dismiss_all()


async def test_a_group_resumes_at_its_commit(bootstrap: str) -> None:
    topic, group = await create(bootstrap, unique("resume")), unique("group")
    place = TopicPartition(topic, 0)
    await send_all(bootstrap, topic, [b"%d" % i for i in range(10)])
    async with consuming(bootstrap, topic, group_id=group) as first:
        await take(first, 7)
        await first.commit({place: 5})
    async with consuming(bootstrap, topic, group_id=group) as second:
        assert await second.committed(place) == 5
        assert [record.value for record in await take(second, 5)] == [b"5", b"6", b"7", b"8", b"9"]


async def test_two_groups_each_read_everything(bootstrap: str) -> None:
    topic = await create(bootstrap, unique("groups"))
    await send_all(bootstrap, topic, [b"%d" % i for i in range(10)])
    for _ in range(2):
        async with consuming(bootstrap, topic, group_id=unique("group")) as consumer:
            assert len(await take(consumer, 10)) == 10


async def test_another_member_takes_over_the_work_of_a_killed_one(bootstrap: str) -> None:
    topic, group = await create(bootstrap, unique("killed"), 2), unique("group")
    await send_all(bootstrap, topic, [b"%d" % i for i in range(10)])
    command = [sys.executable, "-m", "tests.acceptance.broker.member", bootstrap, topic, group]
    victim = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert victim.stdout is not None
        given = [int(await asyncio.wait_for(victim.stdout.readline(), 60)) for _ in range(10)]
        async with consuming(bootstrap, topic, group_id=group, **QUICK) as survivor:
            await eventually(lambda: len(survivor.assignment()) == 1, "half of the work")
            victim.kill()
            await eventually(lambda: len(survivor.assignment()) == 2, "all of the work")
            for partition in range(2):
                await send_all(bootstrap, topic, [b"later"], partition)
            later = [record.value for record in await take(survivor, 2)]
    finally:
        if victim.returncode is None:
            victim.kill()
        await victim.wait()
    assert given == list(range(10))
    assert later == [b"later", b"later"]


async def test_a_commit_of_a_member_that_left_is_refused(bootstrap: str) -> None:
    topic, group = await create(bootstrap, unique("stale")), unique("group")
    place = TopicPartition(topic, 0)
    await send_all(bootstrap, topic, [b"x"] * 3)
    async with consuming(bootstrap, topic, group_id=group) as inside:
        await take(inside, 3)
        async with consuming(bootstrap, group_id=group) as outside:
            outside.assign([place])
            with pytest.raises(KafkaError):
                await outside.commit({place: 3})
        assert await inside.committed(place) is None
