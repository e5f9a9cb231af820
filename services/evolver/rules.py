"""Proposals and corrections -> operations on memory: pure (seed 004 sections 2.3.0.1-A and 3.1.0, X04, X31)."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from shared.policy import ConfidencePolicy
from shared.relate import Known, Relation, Statement, relate

_LABELS_ZH = {
    "profile": "用户资料",
    "preference": "用户偏好",
    "goal": "目标",
    "task": "任务",
    "decision": "决定",
    "entity": "实体",
    "event": "事件",
    "constraint": "约束",
    "note": "笔记",
}


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


def lineage(ends: Sequence[Known], memory_id: UUID) -> tuple[UUID, int]:
    """The root and version of what succeeds these memories: it continues the first of them, or starts anew."""
    return (ends[0].root_id, ends[0].version + 1) if ends else (memory_id, 1)


def contextual(kind: str, topic: str | None, month: str, standing: str, text: str, language: str) -> str:
    """The text that is indexed: the sentence with what it is about in front of it (seed 004 section 2.3.0.1-C)."""
    label = _LABELS_ZH.get(kind, kind) if language == "zh" else kind
    about = "/".join(part for part in (label, topic) if part)
    return f"[{about} {month} {standing}] {text}"


def topic_of(key: str | None) -> str | None:
    """The middle of a key, which names what it is about: `pref:ui:theme` -> `ui`."""
    parts = key.split(":") if key else []
    return parts[1] if len(parts) >= 3 else None
