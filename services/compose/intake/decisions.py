"""What a turn decides before it is committed: what its command does, and whether it may be learnt from.

A retraction is stored as an item of the turn, so that workers, redeliveries and rebuilds find the same.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.content import words_of
from schemas.turn_events import StructuredItem, TurnEvents
from shared import clock
from shared.domain.memories import Memory
from shared.domain.subjects import Subject
from shared.domain.user_settings import hold_settings, is_allowed
from shared.extraction import MessageText, TurnText, slash
from shared.extraction.slash import SlashCommand
from shared.extraction.wishes import find_learning_wish
from shared.runtime import Runtime
from shared.store import memory, shown_lists, user_settings, versions

UNKNOWN = "unknown"
NO_LIST, NO_NUMBER, NO_MEMORY, CHANGED, GONE = "no_list", "no_such_number", "no_such_memory", "changed", "gone"
UNCLEAR = "unclear"


@dataclass(frozen=True)
class CommandEffect:
    """What a command does, without its words. `memory_ids` are the memories that it retracts or would have retracted.

    `items` go into the log; `clears` means that the commit clears the session's summary.
    """

    command: str
    done: bool = True
    reason: str | None = None
    memory_ids: tuple[UUID, ...] = ()
    number: int | None = None
    items: tuple[StructuredItem, ...] = ()
    clears: bool = False

    def to_json(self) -> dict[str, Any]:
        ids = [str(each) for each in self.memory_ids]
        figures = {"done": self.done, "reason": self.reason, "number": self.number, "clears": self.clears}
        return {"command": self.command, **figures, "memory_ids": ids}

    @property
    def changes(self) -> bool:
        """Whether the command changes anything."""
        return bool(self.items) or self.clears or (self.command == "remember" and self.done)


def load_effect(stored: dict[str, Any] | None) -> CommandEffect | None:
    """The effect that is stored with a turn, without its items."""
    if not stored:
        return None
    ids = tuple(map(UUID, stored["memory_ids"]))
    return CommandEffect(
        stored["command"], stored["done"], stored["reason"], ids, stored["number"], clears=stored["clears"]
    )


def find_command(turn: TurnEvents) -> str | None:
    """The last message of the user, if it is a command or looks like one."""
    spoken = [m.content for m in turn.messages if m.role == "user"]
    texts = [content if isinstance(content, str) else words_of(content) for content in spoken]
    return texts[-1] if texts and is_command(texts[-1]) else None


def is_command(text: str) -> bool:
    """Whether the text gets the reply of a command."""
    return bool(slash.parse_command(text) or slash.read_dictated(text) or slash.find_unknown(text))


def may_change(text: str) -> bool:
    """Whether a command of this form can change anything."""
    command = slash.parse_command(text)
    if command is None:
        return slash.read_dictated(text) is not None
    return command.cmd in ("forget", "remember") or (command.cmd == "summary" and command.action == "clear")


async def decide_effect(rt: Runtime, subject: Subject, session_id: str, text: str) -> CommandEffect:
    """The effect of the command in the current state; writes nothing."""
    command = slash.parse_command(text)
    if command is None:
        dictated = slash.read_dictated(text)
        return CommandEffect("remember") if dictated else CommandEffect(UNKNOWN, False, UNKNOWN)
    if command.cmd == "forget":
        return await _decide_forgetting(rt, subject, session_id, command)
    if command.cmd == "remember" and not command.args:
        return CommandEffect("remember", False, UNCLEAR)
    if command.args and command.action is None and command.cmd in ("memory", "summary"):
        return CommandEffect(command.cmd, False, UNCLEAR)
    if command.cmd == "memory" and (command.action == "clear" or (command.action == "search" and not command.rest)):
        return CommandEffect("memory", False, "not_by_command" if command.action == "clear" else UNCLEAR)
    return CommandEffect(command.cmd, clears=command.cmd == "summary" and command.action == "clear")


async def _decide_forgetting(rt: Runtime, subject: Subject, session_id: str, command: SlashCommand) -> CommandEffect:
    """Retracts the memory that had this number when the list was shown, never a later one with that number."""
    effect = CommandEffect("forget", False, number=command.id)
    memory_id = command.memory_id
    if command.kind is not None and command.id is not None:
        (shown,) = await rt.db.read(subject, shown_lists.load(subject, session_id))
        if shown is None:
            return replace(effect, reason=NO_LIST)
        memory_id = shown.find(command.kind, command.id)
        if memory_id is None:
            return replace(effect, reason=NO_NUMBER)
    if memory_id is None:
        return replace(effect, reason=UNCLEAR)
    async with rt.db.transaction(subject) as conn:
        named = await memory.by_ids(conn, subject, [memory_id])
        line = await versions.line(conn, subject, memory_id) if named and named[0].status != "active" else []
    return _forget(effect, named[0] if named else None, line)


def _forget(effect: CommandEffect, named: Memory | None, line: list[Memory]) -> CommandEffect:
    if named is None or named.status == "erased":
        return replace(effect, reason=NO_MEMORY if effect.number is None else GONE)
    if named.status == "active":
        item = StructuredItem(type=named.type, key=named.key, memory_id=named.memory_id, retract=True)
        return replace(effect, done=True, memory_ids=(named.memory_id,), items=(item,))
    now = [each.memory_id for each in line if each.status == "active"]
    return replace(effect, reason=CHANGED if now else GONE, memory_ids=tuple(now[-1:]))


@dataclass(frozen=True, slots=True)
class LearningDecision:
    """Whether the turn may be learnt from, and how it changes the setting, with the time of that wish.

    `silences_session`: the user may not change the setting, so that the wish holds for the session only.
    """

    learning: bool
    chosen: bool | None = None
    at: datetime | None = None
    silences_session: bool = False


async def decide_learning(turn: TurnEvents, rt: Runtime, sent_at: datetime | None) -> LearningDecision:
    """The decision under the user's settings, with the wishes in the turn. `rt` is the runtime without user settings.

    A turn older than the last choice changes nothing. Detecting a wish takes about 0.13 ms per turn.
    """
    subject = Subject(turn.tenant_id, turn.user_id)
    wish = find_learning_wish(to_turn_text(turn))
    if wish is None:
        return LearningDecision((await rt.of(subject)).policy.observer.learn)
    (settings,) = await rt.db.read(subject, user_settings.load(subject))
    of_tenant = hold_settings(rt.policy, settings.tenant, {}).policy
    learning = hold_settings(rt.policy, settings.tenant, settings.user).policy.observer.learn
    if wish.scope == "here" and learning:
        return LearningDecision(learning)
    may = "learning" in of_tenant.settings.user_may
    if not may or not is_allowed(rt.policy, of_tenant, "learning", "user", wish.remember):
        return LearningDecision(learning, silences_session=not wish.remember)
    at = min(each for each in (turn.created_at, sent_at, clock.now()) if each is not None)
    if at < settings.find_since("learning"):
        return LearningDecision(learning and wish.remember)
    return LearningDecision(wish.remember, wish.remember, at)


def to_turn_text(turn: TurnEvents) -> TurnText:
    """The text of the turn in which wishes are detected, before it is committed."""
    at = clock.now()
    words = [m.content if isinstance(m.content, str) else words_of(m.content) for m in turn.messages]
    spoken = zip(turn.messages, words, strict=True)
    messages = tuple(MessageText(m.role, text, m.name, n, at) for n, (m, text) in enumerate(spoken))
    return TurnText(messages, remembered=turn.session_remembered)
