"""What a statement does to memory, and what that rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal
from uuid import UUID

from shared.domain.statements import ActiveMemory, Relation
from shared.extraction.edited import Content
from shared.resolution.related import SentenceRelation


@dataclass(frozen=True)
class Write:
    """A new version stands; the memories in `ends` are superseded by it."""

    relation: Relation
    ends: tuple[ActiveMemory, ...]
    content: Content | None = None
    """What the version says, where that is a memory amended and not the statement's own words."""
    left: Content | None = None
    """What of the memory that ends stays, as said beside what has ended: in a memory of its own or as `content`."""


@dataclass(frozen=True)
class Confirm:
    """The memory was said again; its words stay, its evidence grows."""

    relation: Relation
    target: ActiveMemory


@dataclass(frozen=True)
class Retract:
    """The memories end without a successor."""

    targets: tuple[ActiveMemory, ...]
    reason: str
    left: tuple[tuple[ActiveMemory, Content], ...] = ()
    """What stays of these targets, each as a memory of its own."""


@dataclass(frozen=True)
class Reject:
    """No memory changes. `held` is the stronger memory that an open conflict leaves standing."""

    action: str
    reason: str
    held: ActiveMemory | None = None


Operation = Write | Confirm | Retract | Reject
Verdict = Literal["ends", "same", "both", "apart", "near"]
"""What the analyzer was told of a memory beside a statement; `near` says no more than that they are to be compared."""
Advice = Mapping[UUID, Verdict]
"""Verdicts by memory."""
NO_ADVICE: Advice = MappingProxyType({})
Sign = Literal["key", "words", "value", "related", "chosen", "meaning", "none"]
"""By what a statement was found to concern a memory."""


@dataclass(frozen=True)
class Comparison:
    """A memory that a sentence was read beside, and what both say: by the weights, or where `told` by a verdict."""

    known: ActiveMemory
    said: SentenceRelation
    told: bool = False


@dataclass(frozen=True)
class Comparisons:
    """What to do with a statement, by which sign, and the memories that its sentence was read beside."""

    operation: Operation
    sign: Sign
    beside: tuple[Comparison, ...] = ()
