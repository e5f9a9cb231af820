"""The closed vocabularies of the domain (seed 004 section 2.3, resolutions X05-X12, X45)."""

from typing import Literal

from schemas.memory_types import MemoryType as MemoryType

MemoryStatus = Literal["active", "superseded", "retracted", "merged", "expired", "candidate_evict", "erased"]
ListedStatus = Literal["active", "superseded", "retracted", "merged", "expired", "candidate_evict", "all"]
"""What a list of memories can be asked for: what was erased cannot be shown."""
Provenance = Literal["observation", "analysis", "confirmed_by_user", "tool"]
Assertion = Literal["directive", "correction", "confirmed", "declared", "behaviour", "inferred", "tool"]
Epistemic = Literal["fact", "opinion", "preference", "outdated"]
Scope = Literal["session", "personal", "tenant"]
Role = Literal["user", "assistant", "system", "tool"]
Intent = Literal["small_talk", "recommend", "complaint", "knowledge_qa", "preference_check", "task", "other"]
Purpose = Literal["qa", "continue_task", "debug", "summarize", "research", "other"]
SearchMode = Literal["exact", "semantic", "hybrid", "relational", "associative"]
Priority = Literal["urgent", "normal", "low"]
Language = Literal["zh", "en", "other"]
EntityKind = Literal["person", "org", "repo", "file", "url", "topic", "place", "product", "other"]
ProposalAction = Literal["create", "confirm", "merge", "supersede", "retract", "skip", "ask"]
FeedbackSignal = Literal["positive_confirm", "correction", "negative", "neutral"]
FeedbackVerdict = Literal["right", "wrong", "not_useful", "never_again"]
"""What a user says of a memory by hand."""
DropReason = Literal[
    "relevance",
    "recency",
    "confidence",
    "budget_exceeded",
    "blocked",
    "diversity",
    "ratio",
    "superseded",
    "conflict_knowledge",
]
UtilizationSignal = Literal["keyword_match", "reference_phrase", "none"]
ErasureScope = Literal["all", "personal", "session", "items"]
TombstoneStatus = Literal[
    "requested",
    "verified",
    "tombstoned",
    "queued",
    "processing",
    "completed",
    "failed",
    "retry_pending",
    "escalated",
]
AccessScope = Literal["read", "write", "erase", "operate", "admin"]
"""What a key may do: look, say and change, erase, act as an operator of a tenant; `admin` is all of it."""
