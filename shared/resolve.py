"""What a statement does to memory: pure; the evolver does it, compose foresees it (seed 004 2.3.0.1-A, X04, X31)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.vocabulary import MemoryType
from shared.policy import ConfidencePolicy
from shared.relate import Known, Relation, Statement, relate


@dataclass(frozen=True)
class Write:
    """A new version stands; the memories in `ends` are superseded by it."""

    relation: Relation
    ends: tuple[Known, ...]


@dataclass(frozen=True)
class Confirm:
    """The memory was said again; its words stay, its evidence grows."""

    relation: Relation
    target: Known


@dataclass(frozen=True)
class Retract:
    """The memories end without a successor."""

    targets: tuple[Known, ...]
    reason: str


@dataclass(frozen=True)
class Reject:
    """No memory changes. `held` is the stronger memory that an open conflict leaves standing."""

    action: str
    reason: str
    held: Known | None = None


Operation = Write | Confirm | Retract | Reject


def resolve(new: Statement, known: Sequence[Known], replaced: Sequence[Known], policy: ConfidencePolicy) -> Operation:
    """What to do with a statement, given what is active now and what a correction says that it replaces."""
    relation = relate(new, known, policy)
    if new.retracts:
        ends = _distinct((relation.target, *replaced))
        return Retract(ends, "denied") if ends else Reject("skip", relation.reason)
    if new.assertion == "correction" and relation.action != "confirm":
        ends = _distinct((relation.target, *replaced))
        return Write(relation, ends)
    match relation.action:
        case "create" | "supersede":
            return Write(relation, _distinct((relation.target,)))
        case "confirm" if relation.target:
            ends = tuple(k for k in replaced if k.memory_id != relation.target.memory_id)
            return Write(relation, (relation.target, *ends)) if ends else Confirm(relation, relation.target)
        case _:
            return Reject(relation.action, relation.reason, relation.target)


def _distinct(found: Sequence[Known | None]) -> tuple[Known, ...]:
    return tuple({k.memory_id: k for k in found if k}.values())


def named(old_key: object, known: Iterable[Known]) -> list[Known]:
    """The active memories under the key that a correction names as the old one."""
    return [k for k in known if k.key is not None and k.key == old_key]


def meant(kind: MemoryType, said: Sequence[Known]) -> list[Known]:
    """Of the memories that contain a correction's old value, newest first, the one that it means.

    A fact about the person corrects only such facts: who leaves Paris may still like it.
    """
    fitting = [k for k in said if k.type == kind and k.polarity >= 0]
    if not fitting and kind != "profile":
        fitting = [k for k in said if k.type != "event"]
    return fitting[:1]
