"""Memory as the workers would make it, turn by turn, without a database: the same reading, relation and resolution."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from services.cli.evaluate.reader import Reader, read
from services.cli.evaluate.sets import Contradiction
from services.observer.prompts import KnownMemory as PromptKnown
from shared.clock import uuid7
from shared.domain.observations import ObservationRow
from shared.domain.statements import ActiveMemory, Relation, is_twin
from shared.domain.turns import Event, Turn
from shared.extraction import ObserveContext, Observed, ObservePolicy, observe
from shared.extraction.edited import Content
from shared.extraction.turn_texts import observation_rows, turn_text
from shared.policy import ConfidencePolicy
from shared.resolution.from_rows import left_id, quoted_text, statement_of, with_content, words_of
from shared.resolution.operations import Confirm, Operation, Retract, Write
from shared.resolution.resolve import resolve

AT = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)
LATER = timedelta(days=60)
KNOWN_MOST = 20


@dataclass(frozen=True)
class ObservedMessage:
    """What memory held of a case, `old` of it by the statement that matters, and what the later message left.

    `bystanders` are memories of other statements that the message ended.
    """

    before: Mapping[UUID, ActiveMemory]
    old: tuple[ActiveMemory, ...]
    after: tuple[ActiveMemory, ...]

    @property
    def gone(self) -> set[UUID]:
        """What ended."""
        return set(self.before) - {known.memory_id for known in self.after}

    @property
    def bystanders(self) -> list[ActiveMemory]:
        """What ended though the message says nothing of it."""
        meant = {known.memory_id for known in self.old}
        return [known for id, known in self.before.items() if id in self.gone - meant and not known.name_alone]


async def tell(case: Contradiction, reader: Reader | None) -> ObservedMessage:
    """The case told to somebody who knows nothing: the earlier messages a day apart, the later one two months after."""
    world = World()
    for day, text in enumerate(case.before):
        await world.listen(reader, text, f"before-{day}", AT + timedelta(days=day))
    before = dict(world.active)
    matters = AT + timedelta(days=next(day for day, text in enumerate(case.before) if case.old in text))
    own = [k for k in before.values() if k.valid_at == matters and not k.name_alone]
    named = [k for k in own if case.old.lower() in " ".join(k.words).lower()]
    await world.listen(reader, case.message, "later", AT + LATER)
    return ObservedMessage(before, tuple(named or own), tuple(world.active.values()))


@dataclass
class World:
    """The active memories of one user who has said something, newest first."""

    policy: ConfidencePolicy = field(default_factory=ConfidencePolicy)
    active: dict[UUID, ActiveMemory] = field(default_factory=dict[UUID, ActiveMemory])

    answer: str | None = None
    """What the assistant said last."""

    def hear(
        self, text: str, session: str, at: datetime, answer: str | None = None
    ) -> list[tuple[ObservationRow, Operation]]:
        """What the message changes, which `answer` follows; `active` is as it leaves it."""
        turn = _turn(text, session, at)
        return self._take(turn, observe(turn_text(turn), self._context(at), ObservePolicy()), answer)

    async def listen(
        self, reader: Reader | None, text: str, session: str, at: datetime, answer: str | None = None
    ) -> list[tuple[ObservationRow, Operation]]:
        """The same, as the reader reads it, who is shown the newest memories."""
        turn = _turn(text, session, at)
        newest = sorted(self.active.values(), key=lambda k: k.valid_at, reverse=True)
        known = [PromptKnown(str(k.memory_id), k.type, k.text) for k in newest if not k.name_alone][:KNOWN_MOST]
        return self._take(turn, await read(reader, turn_text(turn), self._context(at), known), answer)

    def _context(self, at: datetime) -> ObserveContext:
        return ObserveContext(occurred_at=at, answer_before=self.answer)

    def _take(self, turn: Turn, observed: Observed, answer: str | None) -> list[tuple[ObservationRow, Operation]]:
        self.answer = answer
        return [(row, self._settle(row)) for row in observation_rows(turn, observed, self.policy)]

    def _settle(self, row: ObservationRow) -> Operation:
        memories = sorted(self.active.values(), key=lambda k: k.valid_at, reverse=True)
        operation = resolve(statement_of(row), memories, self.policy)
        match operation:
            case Write():
                if operation.content:
                    statement = statement_of(with_content(row, operation.content))
                    twins = tuple(k for k in memories if k not in operation.ends and is_twin(k, statement))
                    operation = replace(operation, ends=(*operation.ends, *twins))
                for ended in operation.ends:
                    self.active.pop(ended.memory_id, None)
                self.active[row.observation_id] = to_active_memory(row, operation)
                if operation.left is not None and operation.left is not operation.content:
                    self._leave(row, operation.ends[0], operation.left)
            case Confirm(relation=relation, target=target):
                self.active[target.memory_id] = replace(
                    target,
                    confidence=relation.confidence,
                    provenance=relation.provenance,
                    assertion=relation.assertion,
                    source_sessions=tuple(sorted({*target.source_sessions, row.session_id})),
                )
            case Retract(targets=targets, left=left):
                for ended in targets:
                    self.active.pop(ended.memory_id, None)
                for ended, part in left:
                    self._leave(row, ended, part)
            case _:
                pass
        return operation

    def _leave(self, row: ObservationRow, old: ActiveMemory, part: Content) -> None:
        """What of an ended memory stays is a memory of its own."""
        left = with_content(row, part)
        if any(is_twin(known, statement_of(left)) for known in self.active.values()):
            return
        held = Relation("create", None, old.provenance, old.assertion, old.confidence, "left")
        rest = to_active_memory(left, Write(held, ()))
        its_id = left_id(row.observation_id, old.memory_id)
        self.active[its_id] = replace(rest, memory_id=its_id, source_sessions=old.source_sessions)


def _turn(text: str, session: str, at: datetime) -> Turn:
    turn_id = uuid7()
    event = Event(turn_id, turn_id, 0, "user_message", "user", None, {"text": text}, at)
    return Turn(turn_id, session, 0, turn_id, "", "", at, at, False, (event,))


def to_active_memory(row: ObservationRow, written: Write) -> ActiveMemory:
    if written.content:
        row = with_content(row, written.content)
    statement = statement_of(row)
    sessions = {row.session_id, *(s for old in written.ends for s in old.source_sessions)}
    return ActiveMemory(
        memory_id=row.observation_id,
        root_id=written.ends[0].root_id if written.ends else row.observation_id,
        version=written.ends[0].version + 1 if written.ends else 1,
        type=row.kind,
        key=row.key,
        sense=statement.sense,
        provenance=written.relation.provenance,
        assertion=written.relation.assertion,
        flags=row.flags,
        confidence=written.relation.confidence,
        valid_at=row.said_at,
        source_sessions=tuple(sorted(sessions)),
        polarity=row.polarity,
        text=row.text,
        words=words_of(row.text, row.value),
        told=quoted_text(row.text, row.value),
        value=row.value,
        valid_until=row.valid_until,
        replaced=tuple(old.text for old in written.ends),
    )
