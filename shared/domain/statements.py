"""The relation of a new statement to memory: the analyzer proposes with it, and the evolver decides. Pure.

The higher provenance class wins, and within one class the newer statement. A weaker statement against a stronger memory
is held as an open conflict and never replaces it. What is stated is indexed with its subject in front.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast
from uuid import UUID

import orjson

from schemas.memory_types import ROWS
from schemas.vocabulary import Assertion, MemoryType, ProposalAction, Provenance
from shared.language.normalise import fold, normalise
from shared.policy import ConfidencePolicy

RANK: dict[Provenance, int] = {"observation": 0, "analysis": 1, "tool": 2, "confirmed_by_user": 3}
RELATED = "related_memory_id"
"""Where a model's observation carries, in its value, the memory that it says has changed."""
CLAIMED = "claimed_confidence"
"""Where a model's observation carries how sure the model is of it; neither is part of what is remembered."""
SUSPECTED = "suspected"
"""Flags words that state nothing to keep by themselves, and may yet end what is known."""
FORGETS = "forgets"
"""Flags a request to forget all that was said about a thing."""
AMENDS = "amends"
"""Flags a short message that puts a value right in what was said just before, and says nothing else."""
MAY_AMEND = "may_amend"
"""Flags a statement of a short message that may put a value right in what was said just before, and else stands."""
MISREAD = "misread"
"""Flags what a model says of the rules' own find in the same turn: it is not to be kept."""
SUPPOSED: frozenset[Assertion] = frozenset({"declared", "inferred"})
"""What is not said outright as a change: a memory that it names as changed yields only where it is no stronger."""
ALSO = "also"
"""Where a value holds what else its sentence states: other keys, and what is said under them."""
_WORDING = frozenset({"speaker", "confidence", "raw", "old_key", "quote", "scope", "text", ALSO})
"""Parts of a value that say how or by whom something was put, not what is so."""


@dataclass(frozen=True)
class Statement:
    """What was said, reduced to what matters for its relation to memory."""

    type: MemoryType
    key: str | None
    sense: str
    assertion: Assertion
    flags: tuple[str, ...]
    confidence: float
    retracts: bool
    said_at: datetime
    session_id: str
    text: str = ""
    quote: str = ""
    """The sentence that it was read in."""
    old_key: str | None = None
    """The key of what a correction replaces, where it can be known from its words."""
    old_value: str | None = None
    value: str = ""
    """What it says is so, in one word where its reading tells."""
    related: UUID | None = None
    """The memory that it names itself, or that a model says it changes."""
    polarity: int = 0
    chosen: bool = False
    """Whether the user chose it in so many words for a memory that they named: nothing known stands against it."""
    speaker: str | None = None
    """Who says it, where several people talk."""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What its reading made of it."""
    valid_until: datetime | None = None


@dataclass(frozen=True)
class ActiveMemory:
    """An active memory, reduced in the same way."""

    memory_id: UUID
    root_id: UUID
    version: int
    type: MemoryType
    key: str | None
    sense: str
    provenance: Provenance
    assertion: Assertion
    flags: tuple[str, ...]
    confidence: float
    valid_at: datetime
    source_sessions: tuple[str, ...]
    polarity: int = 0
    text: str = ""
    words: tuple[str, ...] = ()
    """Its text, and what it is about: where words of an old value are looked for."""
    told: str = ""
    """Its text, with the user's own words for it."""
    value: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What its reading made of it."""
    valid_until: datetime | None = None
    turns: int = 1
    """In how many turns it was said."""
    replaced: tuple[str, ...] = ()
    """What the memories said whose place it took, as far as they are still stored."""

    @property
    def speaker(self) -> str | None:
        """Who said it, where several people talk."""
        return speaker_of(self.value)

    @property
    def label(self) -> str:
        """The speaker's name before the text, where it stands there."""
        label = f"{self.speaker}: "
        return label if self.speaker and self.text.startswith(label) else ""

    @property
    def words_said(self) -> str:
        """The text without the speaker's name."""
        return self.text[len(self.label) :]

    @property
    def also(self) -> Mapping[str, str]:
        """What else its sentence says, by key."""
        also = self.value.get(ALSO)
        return cast("Mapping[str, str]", also) if isinstance(also, Mapping) else {}

    @property
    def name_alone(self) -> bool:
        """Whether it is a thing that was named, not a statement about one: these have no key."""
        return self.type == "entity" and self.key is not None


def speaker_of(value: Mapping[str, Any]) -> str | None:
    """Who said it, by the value of an observation or a memory, where several people talk."""
    said = value.get("speaker")
    return said if isinstance(said, str) else None


def may_concern(new: Statement, old: ActiveMemory) -> bool:
    """Whether one person may have said both; what one of several people says changes nothing of another's."""
    return new.speaker is None or old.speaker is None or new.speaker == old.speaker


@dataclass(frozen=True)
class Relation:
    """What should happen, to which memory, and with what standing the result is to be held."""

    action: ProposalAction
    target: ActiveMemory | None
    provenance: Provenance
    assertion: Assertion
    confidence: float
    reason: str


def sense_of(key: str | None, value: dict[str, Any], text: str, polarity: int) -> str:
    """Equal for two wordings of one fact under one key, different when the fact differs; without a key, the words.

    What happened on another day is another event.
    """
    parts = {
        k: fold_plain(v) if isinstance(v, str) else v for k, v in value.items() if k not in _WORDING and v is not None
    }
    words = [fold_plain(text), *([day] if (day := value.get("event_date")) else [])]
    said = orjson.dumps([polarity, parts if key and parts else words], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(said).hexdigest()


def fold_plain(text: str) -> str:
    return " ".join(fold(normalise(text)).split())


def input_hash(turn_id: UUID, *parts: object) -> str:
    """The same for the same words of the same turn, so that they are observed once."""
    return hashlib.sha256("\x1f".join(map(str, (turn_id, *parts))).encode()).hexdigest()


def candidate_id(turn_id: UUID, content: str) -> UUID:
    """The id of a statement, before and after it becomes a memory: a UUIDv7 of the turn's time and a hash of `content`.

    Deriving it makes a replay give the same ids, and lets a write receipt name the memory in advance.
    """
    digest = int(hashlib.sha256(content.encode()).hexdigest()[:20], 16)
    fixed = (turn_id.int >> 80) << 80 | 0x7 << 76 | 0x2 << 62
    return UUID(int=fixed | (digest & 0xFFF) << 64 | (digest >> 12) & ((1 << 62) - 1))


def relate(new: Statement, memories: Sequence[ActiveMemory], policy: ConfidencePolicy) -> Relation:
    """The relation of a statement to the active memories under its key, or with its very words."""
    standing = policy.level_of(new.assertion, new.flags)
    confidence = min(new.confidence, standing.cap)
    provenance = standing.provenance
    same = find_same(new, memories)
    if new.retracts:
        same = same if same and _denies(new, same) else None
        action: ProposalAction = "retract" if same else "skip"
        reason = "denied" if same else "nothing_known_to_retract"
        return Relation(action, same, provenance, new.assertion, confidence, reason)
    if same is None:
        return Relation("create", None, provenance, new.assertion, confidence, "new")
    if same.sense == new.sense or (new.assertion == "behaviour" and RANK[provenance] < RANK[same.provenance]):
        return decide_confirmation(new, same, policy)  # what was only counted gainsays nothing that is known of it
    if RANK[provenance] < RANK[same.provenance] and RANK[same.provenance] >= RANK["tool"]:
        return Relation("ask", same, provenance, new.assertion, confidence, "weaker_than_known")
    if RANK[provenance] == RANK[same.provenance] and new.said_at < same.valid_at:
        return Relation("skip", same, provenance, new.assertion, confidence, "older_than_known")
    return Relation("supersede", same, provenance, new.assertion, confidence, "newer")


def is_twin(memory: ActiveMemory, statement: Statement) -> bool:
    """Whether both cannot be active at once: one type and one key, or without a key the same words."""
    if memory.type != statement.type or memory.key != statement.key:
        return False
    return statement.key is not None or memory.sense == statement.sense


def _denies(new: Statement, same: ActiveMemory) -> bool:
    """Whether the denial is of what is known: who no longer lives in Paris may well live in Berlin."""
    return new.type != "profile" or not new.old_value or fold_plain(new.old_value) in fold_plain(same.text)


def find_same(new: Statement, memories: Sequence[ActiveMemory]) -> ActiveMemory | None:
    if new.key is not None:
        same = next((k for k in memories if k.type == new.type and k.key == new.key), None)
    else:
        same = next((k for k in memories if k.type == new.type and k.key is None and k.sense == new.sense), None)
    if same is None and new.related is not None and new.assertion in SUPPOSED and not new.retracts:
        return next((k for k in memories if k.type == new.type and k.memory_id == new.related), None)
    return same


def decide_confirmation(new: Statement, same: ActiveMemory, policy: ConfidencePolicy) -> Relation:
    """Said again: the better standing holds, and what two sessions say is analysis."""
    standing = policy.level_of(new.assertion, new.flags)
    best = max((same.provenance, same.assertion), (standing.provenance, new.assertion), key=lambda s: RANK[s[0]])
    sessions = {*same.source_sessions, new.session_id}
    claimed = "self_benefit" in (*new.flags, *same.flags)
    confidence = max(same.confidence, min(new.confidence, standing.cap))
    if best[0] == "observation" and len(sessions) >= policy.repeated_sessions and not claimed:
        repeated = policy.repeated
        raised = max(same.confidence, min(max(confidence, repeated.initial), repeated.cap))
        return Relation("confirm", same, repeated.provenance, "behaviour", raised, "said_in_another_session")
    return Relation("confirm", same, best[0], best[1], confidence, "said_again")


_LABELS_ZH = {str(row.type): row.label_zh for row in ROWS if row.label_zh}


def to_indexed_text(kind: str, topic: str | None, month: str, standing: str, text: str, language: str) -> str:
    """The text to index: the sentence with its subject in front."""
    label = _LABELS_ZH.get(kind, kind) if language == "zh" else kind
    about = "/".join(part for part in (label, topic) if part)
    return f"[{about} {month} {standing}] {text}"


def topic_of(key: str | None) -> str | None:
    """The middle of a key, which names its subject: `pref:ui:theme` -> `ui`."""
    parts = key.split(":") if key else []
    return parts[1] if len(parts) >= 3 else None
