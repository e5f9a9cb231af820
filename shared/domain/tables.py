"""Every table of the schema: the owner of its rows, its columns with text, and what an erasure does. The code that
hides, deletes and scans for an erasure, and that copies for a rebuild, reads this list; tables are added only here.
`tests/integration/store/test_tables.py` compares them with the migrated database.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, LiteralString

from schemas.vocabulary import ErasureScope

Owner = Literal["session", "user", "tenant", "nobody"]
"""The owner of the rows: a session (and its user), a user across sessions, a whole tenant, or nobody."""
Fate = Literal["hide", "reduce", "delete", "empty", "keep"]
"""What an erasure does to the rows that it covers.

`hide`: they carry the tombstone from the transaction that asks, and a step deletes them in bounded batches.
`reduce`: hidden like those, and then not deleted but made figures of nobody. `delete`: gone in the transaction that
asks. `empty`: the row stays, nothing in its columns of words. `keep`: they stay as they are.
"""
Rebuilt = Literal["", "copied", "replaced"]
"""What a rebuild does: copy the user's rows into the scratch schema, or replace the live rows by derived ones."""

LOG: frozenset[ErasureScope] = frozenset(("personal",))
"""Kept, like the log, by an erasure of scope `personal`."""
WISH: frozenset[ErasureScope] = frozenset(("personal", "session", "items"))
"""Kept except by an erasure of everything: wishes and settings stay in force."""


def _columns(names: str) -> frozenset[str]:
    return frozenset(names.split())


_NONE = _columns("")


@dataclass(frozen=True, slots=True)
class Table:
    """One table; every column that can hold text, except `tenant_id` and `user_id`, is in `words` or `plain`."""

    name: LiteralString
    owner: Owner
    fate: Fate
    why: str
    """The reason for this treatment by an erasure."""
    found_by: tuple[LiteralString, ...] = ()
    """Columns by which an erasure of sessions or items finds its rows; if there are none, `why` explains which rows are
    deleted."""
    goes_with: LiteralString = ""
    """The table from which these rows are derived: deleting those deletes these, with a separate statement."""
    words: frozenset[str] = _NONE
    """Columns with text of users or callers, or with data derived from it: vectors, terms, hashes."""
    plain: frozenset[str] = _NONE
    """Other columns of text type: ids, states, figures, names of rules and models."""
    blanked: frozenset[str] = _NONE
    """The `words` columns in which an erasure of items blanks only its own part."""
    spared_by: frozenset[ErasureScope] = frozenset()
    """Scopes of erasures that leave its rows unchanged; the scan skips them."""
    rebuilt: Rebuilt = ""

    @property
    def is_marked(self) -> bool:
        """Whether its rows are hidden by `tombstone_id` until a step deletes them."""
        return self.fate in ("hide", "reduce")


TABLES: tuple[Table, ...] = (
    # ---- hidden, and taken step by step: in this order
    Table(
        "observations", "session", "hide", "what was understood of the words",
        found_by=("observation_id", "turn_id"),
        words=_columns("key value text old_value experiment input_hash"),
        plain=_columns("session_id priority state kind assertion epistemic detector pattern language flags reason"),
        blanked=_columns("value"),
    ),
    Table(
        "proposals", "session", "hide", "what should become of an observation",
        found_by=("observation_id", "turn_id"),
        words=_columns("key"),
        plain=_columns("action type provenance reason evidence state"),
    ),
    Table(
        "memory_items", "user", "hide", "what is known: all versions, whatever sessions said them",
        found_by=("memory_id",),
        words=_columns("key value content_text content_hash provenance"),
        plain=_columns(
            "scope type language status provenance_class assertion epistemic_type epistemic_prev flags supersedes"
            " source_sessions source_turns calibrated"
        ),
        blanked=_columns("value"),
        rebuilt="replaced",
    ),
    Table(
        "memory_chunks", "session", "hide", "the text that search reads, of turns and of memories",
        found_by=("memory_id", "turn_id"),
        words=_columns("text media name embedding static_vector"),
        plain=_columns("role language session_id normalizer_version embedding_model_id static_model_id"),
        blanked=_columns("text media embedding static_vector"),
        rebuilt="replaced",
    ),
    Table(
        "entity_mentions", "session", "hide", "the way from a name to the turns that say it",
        found_by=("turn_id",),
        words=_columns("same_as"),
        blanked=_columns("same_as"),
    ),
    Table(
        "conflicts", "user", "hide", "names a memory and an observation",
        found_by=("memory_id", "observation_id"),
        plain=_columns("kind state"),
    ),
    Table(
        "upkeep", "user", "hide", "names memories; a row that names others too stays with those",
        found_by=("memory_ids",),
        plain=_columns("job memory_ids detail"),
    ),
    Table(
        "promotions", "user", "hide", "offers a memory",
        found_by=("memory_id",),
        words=_columns("document_id"),
        plain=_columns("class visibility status figures reason org_id write_reason"),
    ),
    Table(
        "injections", "session", "hide", "which memories a package carried, with hashes of what it said",
        found_by=("session_id",),
        words=_columns("fingerprints pieces"),
        plain=_columns(
            "session_id request_id core_ids evidence_ids used_ids policy_version feedback_signal utilization_signal"
            " verdicts"
        ),
    ),
    Table(
        "memory_receipts", "session", "reduce", "figures of how packages come about are of use without their user",
        found_by=("session_id",),
        plain=_columns("session_id request_id receipt_type details"),
    ),
    Table(
        "model_answers", "session", "hide", "what a model answered wrongly quotes the turn",
        found_by=("turn_id",),
        words=_columns("raw problem"),
        plain=_columns("prompt prompt_version model"),
    ),
    Table(
        "tool_receipts", "session", "hide", "calls of a turn; they go with its events",
        found_by=("turn_id",),
        plain=_columns("tool intent status"),
        spared_by=LOG,
    ),
    Table(
        "resources", "session", "hide", "what a turn referred to, which the knowledge side may have",
        found_by=("turn_id",),
        words=_columns("content_hash document_id"),
        plain=_columns("session_id ref_type source_type uri_hash org_id state reason"),
        spared_by=LOG,
    ),
    Table(
        "quarantine", "session", "hide", "events of a turn that were given up",
        found_by=("turn_id",),
        plain=_columns("stage reason"),
        spared_by=LOG,
    ),
    # ---- gone in the transaction that asks, since the same key may come back with the next message: in this order
    Table(
        "model_cache", "session", "delete", "what a model answered quotes the turn",
        found_by=("turn_id",),
        words=_columns("input_hash said answer"),
        plain=_columns("purpose prompt_version model"),
    ),
    Table(
        "entities", "user", "delete", "a name goes once nothing mentions it any more",
        words=_columns("name canonical aliases"),
        plain=_columns("kind"),
    ),
    Table(
        "search_stats", "user", "delete", "figures and names of all that search reads; counted anew where some is left",
        words=_columns("names"),
        rebuilt="replaced",
    ),
    Table("upkeep_rounds", "user", "delete", "when memories were looked through that are gone"),
    Table(
        "agent_experience", "tenant", "delete", "what was learnt from this user alone; a tenant's own rows name nobody",
        plain=_columns("key figures"),
    ),
    Table(
        "media", "session", "delete", "what a scanner says of media that only erased turns name",
        found_by=("media_id",),
        words=_columns("checksum recognized_text"),
        plain=_columns("media_id type security_status"),
        spared_by=LOG,
    ),
    Table(
        "wishes", "user", "delete", "no words; a wish not to be remembered outlives what was erased",
        plain=_columns("session_id"),
        spared_by=WISH,
    ),
    Table(
        "shown_lists", "user", "delete", "numbers of memories that may be gone: whoever wants one lists them anew",
        plain=_columns("session_id facts notes"),
    ),
    Table(
        "user_settings", "user", "delete", "no words; what a user chose outlives what was erased of them",
        plain=_columns("chosen chosen_when"),
        spared_by=WISH,
    ),
    Table(
        "postings", "session", "delete", "the terms of a chunk",
        found_by=("chunk_id",),
        goes_with="memory_chunks",
        words=_columns("term"),
        rebuilt="replaced",
    ),
    Table(
        "vector_pages", "user", "delete", "one page has chunks of all sessions: any erasure takes all of a user",
        goes_with="memory_chunks",
        words=_columns("codes"),
        plain=_columns("ids set_id model_id"),
        rebuilt="replaced",
    ),
    # ---- skeletons without words stay
    Table(
        "sessions", "session", "empty", "its numbers go on: the same session may be spoken in again",
        found_by=("session_id",),
        words=_columns("entity_slots metadata_json"),
        plain=_columns("session_id"),
        blanked=_columns("entity_slots metadata_json"),
        spared_by=LOG,
        rebuilt="copied",
    ),
    Table(
        "turns", "session", "empty", "the same commit that comes again is known, and not written anew",
        found_by=("turn_id",),
        words=_columns("request_hash recalled experiment org_id"),
        plain=_columns("session_id idempotency_key trace_id policy_version result outcome withheld"),
        spared_by=LOG,
        rebuilt="copied",
    ),
    Table(
        "conversation_events", "session", "empty", "the log is append-only: that something was said stays",
        found_by=("turn_id",),
        words=_columns("name content meta_json"),
        plain=_columns("session_id event_type role"),
        blanked=_columns("content meta_json"),
        spared_by=LOG,
        rebuilt="copied",
    ),
    Table(
        "session_summaries", "session", "empty", "the numbers of its versions go on",
        found_by=("session_id",),
        words=_columns("text block_text summary_json"),
        plain=_columns("session_id level reason model_id"),
        blanked=_columns("text block_text summary_json"),
    ),
    Table(
        "context_packages", "user", "empty", "may quote anything: any erasure empties all of a user",
        words=_columns("plan package"),
        plain=_columns("session_id"),
    ),
    # ---- of a user, and kept: ids, figures and hashes that prove an erasure, and what models cost
    Table(
        "tombstones", "user", "keep", "the erasure itself, and its proof",
        plain=_columns(
            "scope session_ids memory_ids status requested_by reason idempotency_key profile error history proof"
        ),
    ),
    Table("erasure_steps", "user", "keep", "how far an erasure is", plain=_columns("step detail")),
    Table("erasure_epochs", "user", "keep", "tells what is from before an erasure"),
    Table(
        "erasure_suppressions", "user", "keep", "by its hash what was erased is not learnt again",
        plain=_columns("content_hash"),
        rebuilt="copied",
    ),
    Table(
        "audit_events", "user", "keep", "that an erasure was done, or an operator acted",
        plain=_columns("kind about details"),
    ),
    Table("model_usage", "user", "keep", "figures by which cost is shared", plain=_columns("purpose model")),
    # ---- of no user: ids, counts and states
    Table(
        "knowledge_versions", "tenant", "keep", "counts changes of knowledge",
        plain=_columns("org_id profile_id"),
    ),
    Table(
        "tenant_settings", "tenant", "keep", "what a tenant chose for all its users", plain=_columns("chosen"),
    ),
    Table(
        "api_keys", "tenant", "keep", "who may ask: a key outlives the rows of the users that it is for",
        plain=_columns("key_id name only_user only_users_from scopes secret_hash former_hash"),
    ),
    Table(
        "house_secret", "nobody", "keep", "with what services sign records: of nobody",
        plain=_columns("secret_hash"),
    ),
    Table(
        "event_outbox", "nobody", "keep", "ids and hashes on their way; a row is gone once the broker has it",
        plain=_columns("aggregatetype aggregateid type payload last_error waits_for"),
    ),
    Table(
        "turns_under_way", "nobody", "keep", "ids of turns that the workers have; gone with their outcome",
        plain=_columns("tenant who"),
    ),
    Table("tenants_about", "nobody", "keep", "when a turn of a tenant was last published", plain=_columns("tenant")),
    Table("inbox", "nobody", "keep", "ids of events", plain=_columns("consumer")),
    Table("redriven", "nobody", "keep", "ids of what was driven again", plain=_columns("about")),
    Table("topics_made", "nobody", "keep", "when a broker that had lost its topics got them again"),
    Table("relay_members", "nobody", "keep", "processes that are there"),
    Table("service_members", "nobody", "keep", "processes that are there", plain=_columns("service problems")),
    Table("serving", "nobody", "keep", "whether the database may be served"),
    Table("migrations", "nobody", "keep", "scripts that have run", plain=_columns("name sha256")),
)  # fmt: skip
BY_NAME: Mapping[str, Table] = {table.name: table for table in TABLES}
