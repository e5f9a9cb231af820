"""Habits: loads earlier short messages, judges those of a turn with them, and makes one pattern."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from shared.db import Connection
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.extraction import MessageText, Observation, Observed, ReadingNote
from shared.extraction.clauses import language_of
from shared.extraction.habits import DETECTOR, Habit, HabitTelling, find_act, judge
from shared.extraction.turn_texts import turn_text
from shared.policy import ObserverPolicy
from shared.store import habits
from shared.store.chunks import Chunk
from shared.store.habits import ToldBefore

READ: frozenset[str] = frozenset({"declared", "inferred", "correction"})
"""How a reading takes the words of a habit, where nothing tells it that they are one."""


@dataclass
class HabitsTold:
    """What a user has told in short messages that may be a habit, this batch's turns among them as they are read."""

    earlier: list[HabitTelling] = field(default_factory=list[HabitTelling])

    def settle(self, turn: Turn, observed: Observed, policy: ObserverPolicy) -> Observed:
        """The turn's observations with the habits that its messages come to; single tellings of these are no memory."""
        for message in tellings(turn):
            observed = self._settle(turn, message, observed, policy)
        return observed

    def _settle(self, turn: Turn, message: MessageText, observed: Observed, policy: ObserverPolicy) -> Observed:
        act = find_act(message.text)
        if act is None or any(each.ordinal == message.ordinal for each in observed.refused):
            return observed
        now = HabitTelling(act, turn.session_id, message.created_at)
        verdict = judge(now, self.earlier, policy.habit_sessions_min)
        habit = verdict.habit
        self.earlier.append(replace(now, key=habit.key, times=habit.times) if habit else now)
        if not verdict.known:
            return observed
        others = tuple(one for one in observed.observations if not _reads(one, message))
        suspected = tuple(one for one in observed.suspected if not _reads(one, message))
        why = ReadingNote((0, len(message.text)), "kept" if habit else "dropped", "habit", message.ordinal)
        added = (observation(habit, message),) if habit else ()
        return replace(observed, observations=(*others, *added), suspected=suspected, explain=(*observed.explain, why))


def tellings(turn: Turn) -> list[MessageText]:
    """The messages of a turn that tell an act: the user's own, under no other name, of text alone."""
    if turn.withheld:
        return []
    plain = {event.ordinal for event in turn.events if not event.blocks}
    said = [m for m in turn_text(turn).messages if m.role == "user" and not m.name and m.ordinal in plain]
    return [message for message in said if find_act(message.text)]


async def load(conn: Connection, subject: Subject, turns: Sequence[Turn]) -> HabitsTold:
    """What was told before these turns that may be the same; one read, none where none of them tells an act."""
    acts = [act for turn in turns for message in tellings(turn) if (act := find_act(message.text))]
    found = await habits.load_near(conn, subject, {term for act in acts for term in act.sought})
    return HabitsTold([telling for each in found if (telling := to_telling(each))])


def to_telling(before: ToldBefore) -> HabitTelling | None:
    act = find_act(before.text)
    return HabitTelling(act, before.session_id, before.said_at, before.key, before.times or 0) if act else None


def list_counted(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Of the chunks of a turn those in which a habit is looked for."""
    return [each for each in chunks if each.role == "user" and not each.name and find_act(each.text)]


def observation(habit: Habit, message: MessageText) -> Observation:
    """The habit in the words of the message in which it was told last."""
    text = message.text.strip()
    return Observation(
        kind="pattern",
        key=habit.key,
        value={"times": habit.times, "since": habit.since.isoformat(), "quote": text},
        text=text,
        assertion="behaviour",
        epistemic="fact",
        polarity=0,
        priority="normal",
        retracts=False,
        old_value=None,
        detector=DETECTOR,
        pattern="repeated",
        language=language_of(text),
        role="user",
        message_ordinal=message.ordinal,
        span=(0, len(message.text)),
    )


def _reads(one: Observation, message: MessageText) -> bool:
    """Whether it was read in the message, as if it told something that happened or holds once."""
    read = one.message_ordinal == message.ordinal and one.assertion in READ and not one.retracts
    return read and one.key is None and one.role == "user"
