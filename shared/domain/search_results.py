"""What search reads of one user: chunks found, postings of terms, and vectors to compare with a question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID


class Hit(NamedTuple):
    """One chunk found by an arm, with the arm's own score; higher is better.

    `ended` lists the memories from the hit's turn that ended or were fused: ordinal and span of the words, the value,
    the end, and whether it is to be forgotten. `media` gives the positions of recognised text and its media, and
    whether that may not be read now.
    """

    chunk_id: UUID
    memory_id: UUID | None
    turn_id: UUID | None
    ordinal: int
    session_id: str | None
    seq: int | None
    role: str | None
    name: str | None
    text: str
    said_at: datetime
    term_count: int
    type: str | None
    key: str | None
    confidence: float | None
    provenance_class: str | None
    epistemic_type: str | None
    valid_at: datetime | None
    last_validated_at: datetime | None
    injection_count: int
    positive_count: int
    correction_count: int
    miss_count: int
    ended: list[dict[str, Any]]
    score: float
    language: str = "other"
    media: list[dict[str, Any]] | None = None
    version: int | None = None


@dataclass(frozen=True)
class PostingList:
    """The chunks that contain a term, as PostgreSQL returns arrays: ids, and for each id tf << 16 | length."""

    ids: bytes
    counts: bytes


@dataclass(frozen=True)
class LexicalStats:
    """Data about the words of a question: their postings, and statistics of all chunks of the user."""

    chunks: int = 0
    terms: int = 0
    names: tuple[str, ...] = ()
    posted: Mapping[str, PostingList] = field(default_factory=dict[str, PostingList])


@dataclass(frozen=True)
class Compared:
    """Chunks and their vectors by one model: the codes of a page, cosines, or static vectors, as bytes."""

    model_id: str | None
    ids: bytes
    codes: bytes | None = None
    cosines: bytes | None = None
    statics: bytes | None = None


@dataclass(frozen=True)
class Pages:
    """The pages of one set as they were built together, in one epoch of the user."""

    version: UUID
    epoch: int
    of: tuple[Compared, ...] = ()


@dataclass(frozen=True)
class Meant:
    """Vectors to compare with a question: the pages (without their content, if that is cached), and newer vectors."""

    pages: Pages | None
    newer: tuple[Compared, ...]
