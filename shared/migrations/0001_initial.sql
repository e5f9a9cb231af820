-- The whole schema of the main path. Everything lives in smart_brain (seed 000 section 3.1); shared/db.py has what is not
-- the schema's own: the three roles, and the extensions, which may be missing: pgvector in public with
-- memory_chunks.embedding, and pg_trgm.
-- Every table leads with tenant_id and user_id; row-level security binds smartbrain_app to the tenant and user that the
-- transaction names. smartbrain_system may see ids and states of all users, and no text. smartbrain_erasure sees the rows
-- of one tenant and user too, those that an erasure has hidden from the application included.
-- Every table of a user has two columns that are added near the end: epoch (how many erasures of the user there had been
-- when the row was written) and, where rows wait to be deleted, tombstone_id (the erasure that hides them).

-- ---------------------------------------------------------------- the truth: sessions, turns, events

CREATE TABLE sessions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    session_id text NOT NULL,
    next_seq integer NOT NULL DEFAULT 1,
    summary_seq integer NOT NULL DEFAULT 0,
    open_tokens integer NOT NULL DEFAULT 0,
    entity_slots jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    last_turn_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    archived_at timestamptz,
    tombstone_id uuid,
    PRIMARY KEY (tenant_id, user_id, session_id)
);
COMMENT ON TABLE sessions IS 'One conversation. Written by compose (commit_turn) and observer (summary_seq: last turn that the summary covers; open_tokens: said since; entity_slots: the names that stand for it; archived_at: when it ended, until somebody speaks in it again).';
CREATE INDEX sessions_latest ON sessions (tenant_id, user_id, last_turn_at DESC);
CREATE INDEX sessions_open ON sessions (last_turn_at) WHERE archived_at IS NULL;

CREATE TABLE turns (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    turn_id uuid NOT NULL,
    session_id text NOT NULL,
    seq integer NOT NULL,
    idempotency_key text NOT NULL,
    request_hash text NOT NULL,
    event_id uuid NOT NULL,
    trace_id text NOT NULL,
    policy_version text NOT NULL,
    said_at timestamptz NOT NULL,
    committed_at timestamptz NOT NULL DEFAULT now(),
    context_id uuid,
    result jsonb NOT NULL,
    observed_at timestamptz,
    outcome jsonb,
    outcome_at timestamptz,
    experiment jsonb,
    recalled jsonb,
    tombstone_id uuid,
    unlearnt_by uuid,
    PRIMARY KEY (tenant_id, user_id, turn_id),
    UNIQUE (tenant_id, user_id, session_id, seq),
    UNIQUE (tenant_id, user_id, idempotency_key)
);
COMMENT ON TABLE turns IS 'One committed turn and what came of it. Written by compose; observer and evolver fill outcome.';
COMMENT ON COLUMN turns.context_id IS 'The package that the turn''s answer was written with, where the caller names it.';
COMMENT ON COLUMN turns.recalled IS 'By ordinal the spans of its messages and tool results that a package had shown before: not learnt again. Written by observer.';
COMMENT ON COLUMN turns.tombstone_id IS 'The erasure that took its words: the skeleton stays, so that the same commit that comes again is known.';
COMMENT ON COLUMN turns.unlearnt_by IS 'The erasure after which nothing is learnt from it any more, though its words may stay in the log.';
COMMENT ON COLUMN turns.experiment IS 'The caller''s experiment_context: experiment_id, variant, dimensions; no text of a user.';
COMMENT ON COLUMN turns.said_at IS 'When it was said: the caller''s created_at, else the database clock. What is learnt is valid from then.';
CREATE INDEX turns_open ON turns (committed_at) WHERE outcome_at IS NULL;
CREATE INDEX turns_pending ON turns (tenant_id, user_id, committed_at) WHERE outcome_at IS NULL;

CREATE TABLE conversation_events (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    event_id uuid NOT NULL,
    turn_id uuid NOT NULL,
    session_id text NOT NULL,
    ordinal integer NOT NULL,
    event_type text NOT NULL CHECK (event_type IN
        ('user_message', 'assistant_message', 'tool_call', 'tool_result', 'ref', 'item', 'feedback', 'system', 'session_end')),
    role text,
    name text,
    content jsonb,
    content_schema_version integer NOT NULL DEFAULT 0,
    said_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tombstone_id uuid,
    PRIMARY KEY (tenant_id, user_id, turn_id, ordinal)
);
COMMENT ON TABLE conversation_events IS 'The append-only log of what was said and done. Written by compose; an erasure alone may null content, or blank words in it.';
COMMENT ON COLUMN conversation_events.content_schema_version IS '0: a message''s content is {text}. 1: {text, blocks, text_fallback}; text holds the words alone, nothing of the media.';

CREATE FUNCTION keep_events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.content IS NULL AND NEW.tombstone_id IS NOT NULL
            OR current_user = 'smartbrain_erasure' AND NEW.tombstone_id IS NULL)
        AND NEW.epoch >= OLD.epoch
        AND (to_jsonb(NEW) - 'content' - 'tombstone_id' - 'name' - 'epoch')
          = (to_jsonb(OLD) - 'content' - 'tombstone_id' - 'name' - 'epoch') THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'conversation_events is append-only: only an erasure may null its content';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON conversation_events
    FOR EACH ROW EXECUTE FUNCTION keep_events_append_only();

CREATE VIEW messages WITH (security_invoker = true) AS
    SELECT tenant_id, user_id, event_id AS message_id, turn_id, session_id, ordinal, role, name,
           content ->> 'text' AS content, content ->> 'model' AS model, said_at AS created_at,
           CASE WHEN content_schema_version = 1 THEN content -> 'blocks' END AS blocks
    FROM conversation_events WHERE event_type IN ('user_message', 'assistant_message', 'system');
CREATE VIEW tool_calls WITH (security_invoker = true) AS
    SELECT c.tenant_id, c.user_id, c.event_id AS tool_call_id, c.turn_id, c.session_id, c.ordinal, c.name,
           c.content -> 'args' AS args_json, r.content -> 'result' AS result_json,
           r.content ->> 'status' AS status, c.said_at AS created_at
    FROM conversation_events c
    LEFT JOIN conversation_events r ON (r.tenant_id, r.user_id, r.turn_id, r.ordinal)
        = (c.tenant_id, c.user_id, c.turn_id, c.ordinal + 1) AND r.event_type = 'tool_result'
    WHERE c.event_type = 'tool_call';
CREATE VIEW refs WITH (security_invoker = true) AS
    SELECT tenant_id, user_id, event_id AS ref_id, turn_id, session_id, ordinal,
           content ->> 'ref_type' AS ref_type, content ->> 'ref_uri' AS ref_uri, content ->> 'title' AS title,
           content -> 'meta' AS ref_meta_json, said_at AS created_at
    FROM conversation_events WHERE event_type = 'ref';

CREATE TABLE media (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    media_id text NOT NULL,
    type text NOT NULL CHECK (type IN ('image', 'audio', 'video', 'document')),
    security_status text NOT NULL CHECK (security_status IN
        ('pending', 'scanning', 'safe', 'rejected', 'quarantined', 'expired')),
    checksum text CHECK (checksum ~ '^sha256:[0-9a-f]{64}$'),
    recognized_text text,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, media_id)
);
COMMENT ON TABLE media IS 'What the scanner in front says of media that messages name; never the media itself. Written by compose for PUT /v1/media, read at commit and at compose.';

-- ---------------------------------------------------------------- what was understood: observations, proposals

CREATE TABLE observations (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    observation_id uuid NOT NULL,
    turn_id uuid NOT NULL,
    session_id text NOT NULL,
    ordinal integer NOT NULL,
    span_start integer NOT NULL DEFAULT 0,
    span_end integer NOT NULL DEFAULT 0,
    priority text NOT NULL CHECK (priority IN ('urgent', 'normal', 'low')),
    state text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'analyzed', 'evolved', 'rejected', 'blocked', 'deferred', 'quarantined')),
    kind text NOT NULL,
    key text,
    value jsonb NOT NULL DEFAULT '{}',
    text text NOT NULL,
    assertion text NOT NULL,
    epistemic text NOT NULL,
    polarity smallint NOT NULL DEFAULT 1,
    confidence real NOT NULL,
    detector text NOT NULL,
    pattern text NOT NULL,
    language text NOT NULL,
    retracts boolean NOT NULL DEFAULT false,
    old_value text,
    flags text[] NOT NULL DEFAULT '{}',
    valid_until timestamptz,
    said_at timestamptz NOT NULL,
    input_hash text NOT NULL,
    related_memory_id uuid,
    reason text,
    experiment jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    settled_at timestamptz,
    PRIMARY KEY (tenant_id, user_id, observation_id),
    UNIQUE (tenant_id, user_id, input_hash)
);
COMMENT ON TABLE observations IS 'What one turn said that may deserve memory. Written by observer; analyzer and evolver move state. observation_id is the candidate memory_id.';
COMMENT ON COLUMN observations.settled_at IS 'When the evolver had it, by the wall clock under the user''s lock: with upkeep.at the order of all changes to a user''s memories.';
CREATE INDEX observations_of_turn ON observations (tenant_id, user_id, turn_id);
CREATE INDEX observations_due ON observations (tenant_id, user_id, created_at) WHERE state IN ('new', 'analyzed');
CREATE INDEX observations_open ON observations (created_at) WHERE state IN ('new', 'analyzed');

CREATE TABLE proposals (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    proposal_id uuid NOT NULL,
    turn_id uuid NOT NULL,
    observation_id uuid NOT NULL,
    action text NOT NULL,
    target_memory_id uuid,
    type text NOT NULL,
    key text,
    provenance text NOT NULL,
    confidence real NOT NULL,
    reason text NOT NULL,
    evidence jsonb NOT NULL DEFAULT '{}',
    state text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'applied', 'rejected', 'blocked')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, proposal_id),
    UNIQUE (tenant_id, user_id, observation_id)
);
COMMENT ON TABLE proposals IS 'What should become of an observation next to what is known. Written by analyzer; evolver moves state.';
COMMENT ON COLUMN proposals.evidence IS 'By which signs the observation was related to its target: figures, ids and names of rules, no text. advice: verdicts of vectors and models on memories, which the evolver follows and a rebuild follows again.';
CREATE INDEX proposals_open ON proposals (created_at) WHERE state = 'new';

-- ---------------------------------------------------------------- what is known: memories, chunks, entities, summaries

CREATE TABLE memory_items (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    memory_id uuid NOT NULL,
    root_id uuid NOT NULL,
    version integer NOT NULL CHECK (version >= 1),
    scope text NOT NULL DEFAULT 'personal' CHECK (scope IN ('session', 'personal', 'tenant')),
    type text NOT NULL CHECK (type <> 'agent_experience'),
    key text,
    value jsonb NOT NULL DEFAULT '{}',
    content_text text NOT NULL,
    content_hash text NOT NULL,
    content_schema_version integer NOT NULL DEFAULT 1,
    language text NOT NULL DEFAULT 'other',
    polarity smallint NOT NULL DEFAULT 1,
    status text NOT NULL CHECK (status IN
        ('active', 'superseded', 'retracted', 'merged', 'expired', 'candidate_evict', 'erased')),
    confidence real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    provenance_class text NOT NULL CHECK (provenance_class IN ('observation', 'analysis', 'confirmed_by_user', 'tool')),
    provenance jsonb NOT NULL DEFAULT '{}',
    assertion text NOT NULL,
    epistemic_type text NOT NULL DEFAULT 'preference'
        CHECK (epistemic_type IN ('fact', 'opinion', 'preference', 'outdated')),
    epistemic_prev text,
    flags text[] NOT NULL DEFAULT '{}',
    supersedes uuid[] NOT NULL DEFAULT '{}',
    superseded_by uuid,
    valid_at timestamptz NOT NULL,
    invalid_at timestamptz,
    valid_until timestamptz,
    last_validated_at timestamptz,
    source_sessions text[] NOT NULL DEFAULT '{}',
    source_turn_id uuid,
    source_turns uuid[] NOT NULL DEFAULT '{}',
    pinned boolean NOT NULL DEFAULT false,
    injection_count integer NOT NULL DEFAULT 0,
    positive_count integer NOT NULL DEFAULT 0,
    correction_count integer NOT NULL DEFAULT 0,
    miss_count integer NOT NULL DEFAULT 0,
    calibrated jsonb NOT NULL DEFAULT '{}',
    fused_at timestamptz,
    fused_from real,
    tombstone_id uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, memory_id),
    UNIQUE (tenant_id, user_id, root_id, version),
    CHECK ((status = 'active') = (invalid_at IS NULL))
);
COMMENT ON TABLE memory_items IS 'Versioned memories; a new version is a new row. Written by evolver alone.';
COMMENT ON COLUMN memory_items.source_turns IS 'Turns that said it, each once: the first and the newest 99.';
COMMENT ON COLUMN memory_items.fused_at IS 'Since when it was rejected so often that packages and search leave it out; a confirmation by the user lifts it and gives back the confidence fused_from.';
COMMENT ON COLUMN memory_items.calibrated IS 'The counts at the last calibration: the next one judges by what has come since.';
CREATE UNIQUE INDEX memory_one_active_per_key ON memory_items (tenant_id, user_id, type, key)
    WHERE status = 'active' AND key IS NOT NULL;
CREATE UNIQUE INDEX memory_one_active_note ON memory_items (tenant_id, user_id, type, content_hash)
    WHERE status = 'active' AND key IS NULL;
CREATE INDEX memory_core ON memory_items (tenant_id, user_id, pinned DESC,
    (provenance_class = 'confirmed_by_user') DESC, confidence DESC, valid_at DESC)
    WHERE status = 'active' AND type IN ('profile', 'preference', 'constraint', 'goal');
CREATE INDEX memory_of_turn ON memory_items (tenant_id, user_id, source_turn_id);
CREATE INDEX memory_recent ON memory_items (tenant_id, user_id, valid_at DESC) WHERE status = 'active';

CREATE TABLE conflicts (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    conflict_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    observation_id uuid NOT NULL,
    kind text NOT NULL,
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'kept', 'replaced')),
    opened_at timestamptz NOT NULL,
    closed_at timestamptz,
    PRIMARY KEY (tenant_id, user_id, conflict_id),
    UNIQUE (tenant_id, user_id, memory_id, observation_id),
    CHECK ((state = 'open') = (closed_at IS NULL))
);
COMMENT ON TABLE conflicts IS 'What was said against a stronger memory and not written over it: ids only. Open until the memory is confirmed (kept) or ends (replaced). Written by evolver.';
CREATE INDEX conflicts_open ON conflicts (tenant_id, user_id, memory_id) WHERE state = 'open';

CREATE TABLE upkeep (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    upkeep_id uuid NOT NULL,
    job text NOT NULL,
    memory_ids uuid[] NOT NULL,
    detail jsonb NOT NULL DEFAULT '{}',
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, user_id, upkeep_id)
);
COMMENT ON TABLE upkeep IS 'What changed memories beside statements: feedback, calibration, consolidation, ageing. Ids and figures, no text; history explains by it and a rebuild does it again. Written by evolver.';
CREATE INDEX upkeep_in_order ON upkeep (tenant_id, user_id, at);
CREATE INDEX upkeep_of_memory ON upkeep USING gin (memory_ids);

CREATE TABLE upkeep_rounds (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);
COMMENT ON TABLE upkeep_rounds IS 'When a user''s memories were last looked through: what has not changed since waits a day. Written by evolver.';

CREATE TABLE promotions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    proposal_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    class text NOT NULL CHECK (class IN ('personal', 'business_secret', 'public')),
    visibility text NOT NULL CHECK (visibility IN ('store', 'region', 'brand', 'global')),
    status text NOT NULL CHECK (status IN
        ('candidate', 'sanitize_failed', 'pending_approval', 'approved', 'rejected', 'expired', 'write_failed')),
    figures jsonb NOT NULL,
    reason text,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    decided_at timestamptz,
    PRIMARY KEY (tenant_id, user_id, proposal_id),
    UNIQUE (tenant_id, user_id, memory_id)
);
COMMENT ON TABLE promotions IS 'Memories that qualify to be offered to the enterprise side, with the figures they qualified by; no text. Written by evolver; compose records decisions.';
CREATE INDEX promotions_pending ON promotions (expires_at) WHERE status = 'pending_approval';

CREATE TABLE tool_receipts (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    turn_id uuid NOT NULL,
    ordinal integer NOT NULL,
    tool text NOT NULL,
    status text NOT NULL CHECK (status IN ('ok', 'error', 'pending')),
    intent text,
    said_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, turn_id, ordinal)
);
COMMENT ON TABLE tool_receipts IS 'How each call of a tool ended, without its arguments and result. Written by observer; governor removes old rows.';
COMMENT ON COLUMN tool_receipts.tool IS 'The tool''s name, or ? where what was given is no name: a sentence, a number of a person.';
CREATE INDEX tool_receipts_of_tenant ON tool_receipts (tenant_id, said_at);

CREATE TABLE agent_experience (
    tenant_id text NOT NULL,
    user_id text,
    experience_id uuid NOT NULL,
    key text NOT NULL,
    figures jsonb NOT NULL,
    confidence real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, experience_id),
    UNIQUE NULLS NOT DISTINCT (tenant_id, user_id, key)
);
COMMENT ON TABLE agent_experience IS 'What a tenant''s agent has learnt about its own tools and retrieval, from receipts: figures and names of tools, nothing of what a user said. Written by evolver.';
COMMENT ON COLUMN agent_experience.user_id IS 'Null: learnt from several users, shared in the tenant. Else learnt from this user''s receipts, and shown to nobody else.';

CREATE TABLE model_cache (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    input_hash text NOT NULL,
    purpose text NOT NULL,
    prompt_version text NOT NULL,
    model text NOT NULL,
    said text NOT NULL,
    turn_id uuid,
    answer jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, input_hash)
);
COMMENT ON TABLE model_cache IS 'What a model answered to an input, so that the same input has the same answer: a redelivery asks once and a rebuild not at all. The answer quotes the user: an erasure must take it. Written by observer and analyzer.';
COMMENT ON COLUMN model_cache.said IS 'Digest of the words that were asked about: with purpose, prompt_version and model it makes input_hash. turn_id is the first turn that said them.';
CREATE INDEX model_cache_of_turn ON model_cache (tenant_id, user_id, turn_id);

CREATE TABLE memory_chunks (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    chunk_id uuid NOT NULL,
    memory_id uuid,
    turn_id uuid,
    ordinal integer NOT NULL DEFAULT 0,
    session_id text,
    seq integer,
    role text,
    name text,
    active boolean NOT NULL DEFAULT true,
    text text NOT NULL,
    term_count integer NOT NULL,
    language text NOT NULL,
    embedding_model_id text,
    normalizer_version text NOT NULL,
    said_at timestamptz NOT NULL,
    media jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, chunk_id),
    UNIQUE NULLS NOT DISTINCT (tenant_id, user_id, memory_id, turn_id, ordinal),
    CHECK ((memory_id IS NULL) <> (turn_id IS NULL))
);
COMMENT ON TABLE memory_chunks IS 'Searchable text of memories (by evolver) and of turns (by observer): derived, rebuildable. chunk_id of a turn says where it stands (shared.place), of a memory when it was made. embedding has the dimension of its model; search compares within one model.';
COMMENT ON COLUMN memory_chunks.media IS 'Where in text stands what was recognised in which media: media_id, type, start, end; rule where it was left out.';
CREATE INDEX memory_chunks_of_memory ON memory_chunks (tenant_id, user_id, memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX memory_chunks_said ON memory_chunks (tenant_id, user_id, said_at);
CREATE INDEX memory_chunks_unembedded ON memory_chunks (created_at) WHERE embedding_model_id IS NULL AND active;

CREATE TABLE postings (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    term text NOT NULL,
    chunk_id uuid NOT NULL,
    tf smallint NOT NULL,
    length smallint NOT NULL,
    PRIMARY KEY (tenant_id, user_id, term, chunk_id) INCLUDE (tf, length)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);
COMMENT ON TABLE postings IS 'Which active chunk holds which search term, how often, in how long a text: BM25 by one index-only scan. A text-search index would not be used here: its operator is not leakproof, so row-level security keeps it from the index. Written with memory_chunks.';
CREATE INDEX postings_of_chunk ON postings (tenant_id, user_id, chunk_id);

CREATE TABLE search_stats (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    chunks integer NOT NULL,
    terms bigint NOT NULL,
    names text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, user_id)
);
COMMENT ON TABLE search_stats IS 'How many active chunks a user has, how long they are together, and who spoke under which name: what search needs beside postings. Written with memory_chunks.';

CREATE TABLE entities (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    entity_id uuid NOT NULL,
    kind text NOT NULL,
    canonical text NOT NULL,
    name text NOT NULL,
    aliases text[] NOT NULL DEFAULT '{}',
    mention_count integer NOT NULL DEFAULT 0,
    first_seen_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, entity_id),
    UNIQUE (tenant_id, user_id, kind, canonical)
);
COMMENT ON TABLE entities IS 'People, places, repositories and things that a user''s turns mention. Written by observer.';
CREATE INDEX entities_canonical ON entities (tenant_id, user_id, canonical);

CREATE TABLE entity_mentions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    entity_id uuid NOT NULL,
    turn_id uuid NOT NULL,
    ordinal integer NOT NULL,
    span_start integer NOT NULL,
    span_end integer NOT NULL,
    said_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, entity_id, turn_id, ordinal, span_start)
);
COMMENT ON TABLE entity_mentions IS 'Where an entity was named: the way back from a name to its turns. Written by observer.';
CREATE INDEX entity_mentions_of_turn ON entity_mentions (tenant_id, user_id, turn_id);

CREATE TABLE session_summaries (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    session_id text NOT NULL,
    version integer NOT NULL,
    level text NOT NULL DEFAULT 'working' CHECK (level IN ('working', 'archived')),
    reason text NOT NULL,
    text text,
    summary_json jsonb,
    block_text text,
    block_from_seq integer,
    source_from_seq integer NOT NULL,
    source_to_seq integer NOT NULL,
    model_id text NOT NULL,
    tombstone_id uuid,
    generated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, session_id, version)
);
COMMENT ON TABLE session_summaries IS 'The rolling summary of a session, one row a version. Written by observer.';
COMMENT ON COLUMN session_summaries.block_text IS 'Of level archived: what was said of in this stretch alone, turns block_from_seq to source_to_seq; text holds all that stands of the session.';

CREATE TABLE injections (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    context_id uuid NOT NULL,
    session_id text NOT NULL,
    request_id text,
    core_ids uuid[] NOT NULL,
    evidence_ids uuid[] NOT NULL,
    degraded boolean NOT NULL,
    policy_version text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    turn_id uuid,
    used_ids uuid[],
    utilized boolean,
    utilization_signal text,
    feedback_signal text,
    fingerprints bigint[] NOT NULL DEFAULT '{}',
    pieces smallint[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, user_id, context_id)
);
COMMENT ON TABLE injections IS 'Which memories a package carried, and how that was received: ids, hashes and verdicts, no text. Written by compose after the reply; observer fills turn_id and what follows it; governor removes old rows.';
COMMENT ON COLUMN injections.evidence_ids IS 'Memories chosen for this message, best first; core_ids are those that every package carries.';
COMMENT ON COLUMN injections.turn_id IS 'The turn whose answer was written with the package; of its memories the answer took up used_ids.';
CREATE INDEX injections_unanswered ON injections (tenant_id, user_id, session_id, created_at DESC) WHERE turn_id IS NULL;
CREATE INDEX injections_of_turn ON injections (tenant_id, user_id, turn_id) WHERE turn_id IS NOT NULL;
COMMENT ON COLUMN injections.fingerprints IS 'Hashes of the sentences that the package showed (shared.text.fingerprint), each with the number of its piece in pieces: recalled text that comes back is known by them and not learnt again.';
CREATE INDEX injections_latest ON injections (tenant_id, user_id, created_at DESC);
CREATE INDEX injections_age ON injections (created_at);

CREATE TABLE memory_receipts (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    context_id uuid NOT NULL,
    receipt_type text NOT NULL CHECK (receipt_type IN ('retrieval', 'injection')),
    session_id text NOT NULL,
    request_id text,
    details_schema_version smallint NOT NULL,
    details jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, context_id, receipt_type)
);
COMMENT ON COLUMN memory_receipts.user_id IS 'After an erasure of the user: erased: and the tombstone''s id; details are figures then.';
COMMENT ON TABLE memory_receipts IS 'Why a package is what it is: retrieval lists every candidate with its places and scores, injection one decision for each with the five-tuple of seed 004 section 4.1. Ids, numbers and names of rules, no text. Written by compose after the reply; how the package was received stands in injections; governor removes old rows.';
CREATE INDEX memory_receipts_age ON memory_receipts (created_at);

CREATE TABLE context_packages (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    context_id uuid NOT NULL,
    session_id text NOT NULL,
    plan json,
    package json,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, context_id)
);
COMMENT ON TABLE context_packages IS 'Packages as they were answered, and the plans that led to them, for a week: GET /v1/contexts and the replay of receipts. Holds text. Written by compose after the reply where policy says so; governor removes old rows.';
CREATE INDEX context_packages_age ON context_packages (created_at);

CREATE TABLE quarantine (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    quarantine_id uuid NOT NULL,
    stage text NOT NULL,
    turn_id uuid,
    event_id uuid NOT NULL,
    reason text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, quarantine_id),
    UNIQUE (tenant_id, user_id, stage, event_id)
);
COMMENT ON TABLE quarantine IS 'Events that a worker gave up on, named, so that accepted = derived + ignored + quarantined. Written by whoever gave up.';

CREATE TABLE model_answers (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    answer_id uuid NOT NULL,
    turn_id uuid NOT NULL,
    prompt text NOT NULL,
    prompt_version text NOT NULL,
    model text NOT NULL,
    problem text NOT NULL,
    raw text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, answer_id)
);
COMMENT ON TABLE model_answers IS 'Answers of a model that did not fit after the repair, kept for 7 days for whoever mends the prompt. Written by observer and analyzer; governor removes what has expired.';
COMMENT ON COLUMN model_answers.raw IS 'What the model wrote, credentials and personal numbers blanked: it may quote the user, so an erasure must take it.';
CREATE INDEX model_answers_of_turn ON model_answers (tenant_id, user_id, turn_id);
CREATE INDEX model_answers_expired ON model_answers (expires_at);

CREATE TABLE model_usage (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    day date NOT NULL,
    purpose text NOT NULL,
    calls integer NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    seconds double precision NOT NULL,
    malformed integer NOT NULL,
    PRIMARY KEY (tenant_id, user_id, day, purpose)
);
COMMENT ON TABLE model_usage IS 'What the models cost a user on a day (UTC), by purpose: the daily shares are measured by it. Written by observer and analyzer; governor removes days older than 90.';
CREATE INDEX model_usage_of_day ON model_usage (day, tenant_id);

-- ---------------------------------------------------------------- the resource side: what went there, what changed there

CREATE TABLE resources (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    resource_id uuid NOT NULL,
    turn_id uuid NOT NULL,
    session_id text NOT NULL,
    ordinal integer NOT NULL,
    ref_type text NOT NULL CHECK (ref_type IN ('url', 'file', 'artifact', 'tool')),
    source_type text NOT NULL CHECK (source_type IN ('url', 'file', 'manual', 'memory_snapshot')),
    uri_hash text NOT NULL,
    content_hash text,
    document_id text,
    state text NOT NULL CHECK (state IN ('pending', 'ingested', 'skipped', 'failed')),
    reason text,
    attempts integer NOT NULL DEFAULT 0,
    requested_at timestamptz NOT NULL DEFAULT now(),
    offered_at timestamptz,
    settled_at timestamptz,
    PRIMARY KEY (tenant_id, user_id, resource_id),
    CHECK ((state = 'pending') = (settled_at IS NULL))
);
COMMENT ON TABLE resources IS 'References and products of turns, and whether the knowledge side has them: ids, hashes and states; the words stand in conversation_events. Written by observer; librarian moves state.';
COMMENT ON COLUMN resources.resource_id IS 'The event in the log that cites or made it. document_id is what the knowledge side calls it: by it an erasure finds it there.';
COMMENT ON COLUMN resources.offered_at IS 'When it was last on its way there: until that try is settled an erasure waits for it.';
CREATE INDEX resources_open ON resources (requested_at) WHERE state = 'pending';
CREATE INDEX resources_of_turn ON resources (tenant_id, user_id, turn_id);
CREATE INDEX resources_known ON resources (tenant_id, user_id, uri_hash) WHERE state = 'ingested';

CREATE TABLE knowledge_versions (
    tenant_id text NOT NULL,
    org_id text NOT NULL DEFAULT '',
    profile_id text NOT NULL DEFAULT '',
    version bigint NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, org_id, profile_id)
);
COMMENT ON TABLE knowledge_versions IS 'How often knowledge has changed, of a tenant, an organisation (or all: empty), a profile (or all: empty): answers kept by compose are good for one version. Written by compose and librarian.';

-- ---------------------------------------------------------------- erasure: what was asked, how far it is, what proves it

CREATE TABLE tombstones (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    tombstone_id uuid NOT NULL,
    scope text NOT NULL CHECK (scope IN ('all', 'personal', 'session', 'items')),
    session_ids text[] NOT NULL DEFAULT '{}',
    memory_ids uuid[] NOT NULL DEFAULT '{}',
    status text NOT NULL CHECK (status IN ('requested', 'verified', 'tombstoned', 'queued', 'processing', 'completed',
        'failed', 'retry_pending', 'escalated')),
    requested_by text NOT NULL,
    reason text,
    idempotency_key text NOT NULL,
    profile text NOT NULL,
    epoch integer NOT NULL,
    item_count integer NOT NULL,
    row_count bigint NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    error text,
    history jsonb NOT NULL,
    proof jsonb,
    requested_at timestamptz NOT NULL,
    deadline_at timestamptz NOT NULL,
    next_try_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    escalated_at timestamptz,
    completed_at timestamptz,
    PRIMARY KEY (tenant_id, user_id, tombstone_id),
    UNIQUE (tenant_id, user_id, idempotency_key),
    CHECK ((status = 'completed') = (completed_at IS NOT NULL))
);
COMMENT ON TABLE tombstones IS 'Every erasure that was asked for, for good: scope, state, history of states, and the proof once it is completed; ids and figures. Written by compose and erasure.';
COMMENT ON COLUMN tombstones.memory_ids IS 'Of scope items: the memories that were named, and all that go with them.';
COMMENT ON COLUMN tombstones.epoch IS 'The user''s epoch from this erasure on: what was written before it has a smaller one.';
CREATE INDEX tombstones_open ON tombstones (next_try_at) WHERE status <> 'completed';

CREATE TABLE erasure_steps (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    tombstone_id uuid NOT NULL,
    step text NOT NULL,
    affected bigint NOT NULL DEFAULT 0,
    detail jsonb NOT NULL DEFAULT '{}',
    done_at timestamptz,
    PRIMARY KEY (tenant_id, user_id, tombstone_id, step)
);
COMMENT ON TABLE erasure_steps IS 'How far an erasure is, one row a store: a worker that is killed goes on where the last one was. Written by erasure.';

CREATE TABLE erasure_epochs (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    epoch integer NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);
COMMENT ON TABLE erasure_epochs IS 'How many erasures of a user there have been: what was thought about rows of an older epoch is not written. Written by compose with each tombstone.';

CREATE TABLE erasure_suppressions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    content_hash text NOT NULL,
    tombstone_id uuid NOT NULL,
    epoch integer NOT NULL,
    PRIMARY KEY (tenant_id, user_id, content_hash)
);
COMMENT ON TABLE erasure_suppressions IS 'Hashes of what erased memories said: not learnt again from turns of an older epoch. Written by compose with a tombstone of scope items.';

CREATE TABLE audit_events (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    audit_id uuid NOT NULL,
    kind text NOT NULL,
    tombstone_id uuid NOT NULL,
    item_count integer NOT NULL,
    details jsonb NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, audit_id),
    UNIQUE (tenant_id, user_id, tombstone_id)
);
COMMENT ON TABLE audit_events IS 'That an erasure was done: whose, when, how much; no content. One a tombstone, kept for good. Written by erasure.';
CREATE FUNCTION keep_audit_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit_events is append-only';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_events FOR EACH ROW EXECUTE FUNCTION keep_audit_events();

CREATE TABLE serving (
    since timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE serving IS 'One row while the database may be served. A restore leaves none until every tombstone has been replayed: nobody is bound to a user without it, and so nobody sees a row.';
INSERT INTO serving DEFAULT VALUES;

-- ---------------------------------------------------------------- delivery: outbox, inbox (ids and hashes, no user text)

CREATE TABLE event_outbox (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL,
    aggregatetype text NOT NULL,
    aggregateid text NOT NULL,
    type text NOT NULL,
    payload jsonb NOT NULL,
    shard smallint NOT NULL GENERATED ALWAYS AS ((hashtext(aggregateid) & 15)::smallint) STORED,
    retry_count integer NOT NULL DEFAULT 0,
    failed_at timestamptz,
    last_error text,
    created_at timestamptz NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
COMMENT ON TABLE event_outbox IS 'Events to publish, under Debezium''s column names. Written in the transaction of what they tell; the relay deletes a row once the broker has acknowledged it.';
CREATE INDEX event_outbox_unsent ON event_outbox (shard, position) WHERE failed_at IS NULL;

CREATE TABLE inbox (
    consumer text NOT NULL,
    event_id uuid NOT NULL,
    processed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer, event_id)
);
COMMENT ON TABLE inbox IS 'Which event a consumer has already had: claimed in the transaction of its effects. Pruned by governor.';
CREATE INDEX inbox_age ON inbox (processed_at);

CREATE TABLE redriven (
    about text PRIMARY KEY,
    tries integer NOT NULL,
    last_at timestamptz NOT NULL
);
COMMENT ON TABLE redriven IS 'What governor has driven again from state, and when, so that a slow worker is not flooded.';

CREATE TABLE relay_members (
    member_id uuid PRIMARY KEY,
    seen_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE relay_members IS 'Relays alive right now, so that each owns its share of the 16 shards.';

-- ---------------------------------------------------------------- isolation

DO $$
DECLARE
    each text;
    hidden text[] := ARRAY['memory_items', 'memory_chunks', 'observations', 'proposals', 'entity_mentions', 'injections',
        'memory_receipts', 'conflicts', 'upkeep', 'promotions', 'model_answers', 'tool_receipts', 'resources', 'quarantine'];
    shown text;
BEGIN
    FOREACH each IN ARRAY hidden LOOP
        EXECUTE format('ALTER TABLE %I ADD COLUMN IF NOT EXISTS tombstone_id uuid', each);
    END LOOP;
    FOREACH each IN ARRAY ARRAY['context_packages'] LOOP
        EXECUTE format('ALTER TABLE %I ADD COLUMN tombstone_id uuid', each);
    END LOOP;
    FOREACH each IN ARRAY ARRAY['sessions', 'turns', 'conversation_events', 'observations', 'proposals', 'memory_items',
        'memory_chunks', 'postings', 'search_stats', 'entities', 'entity_mentions', 'session_summaries', 'injections',
        'memory_receipts', 'context_packages', 'quarantine', 'model_answers', 'model_usage', 'conflicts', 'upkeep',
        'promotions', 'tool_receipts', 'model_cache', 'upkeep_rounds', 'media', 'resources'] LOOP
        shown := CASE WHEN each = ANY(hidden) THEN ' AND tombstone_id IS NULL' ELSE '' END;
        EXECUTE format('ALTER TABLE %I ADD COLUMN epoch integer NOT NULL
            DEFAULT coalesce(nullif(current_setting(''app.epoch'', true), '''')::integer, 0)', each);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', each);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', each);
        EXECUTE format($p$CREATE POLICY own_rows ON %I TO smartbrain_app
            USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true)%s)$p$,
            each, shown);
        EXECUTE format($p$CREATE POLICY own_rows_hidden_too ON %I TO smartbrain_erasure
            USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true))$p$,
            each);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO smartbrain_app', each);
        EXECUTE format('GRANT SELECT, UPDATE, DELETE ON %I TO smartbrain_erasure', each);
    END LOOP;
    FOREACH each IN ARRAY ARRAY['tombstones', 'erasure_steps', 'erasure_epochs', 'erasure_suppressions',
        'audit_events'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', each);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', each);
        EXECUTE format($p$CREATE POLICY own_rows ON %I FOR SELECT TO smartbrain_app
            USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true))$p$,
            each);
        EXECUTE format($p$CREATE POLICY own_rows_written ON %I TO smartbrain_erasure
            USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true))$p$,
            each);
        EXECUTE format('GRANT SELECT ON %I TO smartbrain_app', each);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %I TO smartbrain_erasure', each);
    END LOOP;
    REVOKE UPDATE ON audit_events FROM smartbrain_erasure;
    -- a rebuild copies them into a schema of its own
    CREATE POLICY own_rows_copied ON erasure_suppressions FOR INSERT TO smartbrain_app
        WITH CHECK (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true));
    GRANT INSERT ON erasure_suppressions TO smartbrain_app;
    GRANT INSERT ON postings, search_stats TO smartbrain_erasure;

    CREATE POLICY ids_of_all ON tombstones FOR SELECT TO smartbrain_system USING (true);
    CREATE POLICY of_nobody ON memory_receipts TO smartbrain_erasure
        USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.erased', true));
    FOREACH each IN ARRAY ARRAY['turns', 'observations', 'proposals', 'memory_chunks', 'injections', 'memory_receipts',
        'context_packages', 'quarantine',
        'model_answers', 'model_usage', 'memory_items', 'tool_receipts', 'promotions', 'sessions',
        'upkeep_rounds', 'resources'] LOOP
        EXECUTE format('CREATE POLICY ids_of_all ON %I FOR SELECT TO smartbrain_system USING (%s)', each,
            CASE WHEN each = ANY(hidden) THEN 'tombstone_id IS NULL' ELSE 'true' END);
    END LOOP;
    CREATE POLICY old_rows ON injections FOR DELETE TO smartbrain_system USING (true);
    CREATE POLICY old_rows ON memory_receipts FOR DELETE TO smartbrain_system USING (true);
    CREATE POLICY old_rows ON context_packages FOR DELETE TO smartbrain_system USING (true);
    CREATE POLICY old_rows ON tool_receipts FOR DELETE TO smartbrain_system USING (true);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO smartbrain_app, smartbrain_system, smartbrain_erasure',
        current_schema());
END $$;
GRANT SELECT ON serving TO smartbrain_app, smartbrain_system, smartbrain_erasure;
GRANT SELECT (tenant_id, user_id, tombstone_id, scope, session_ids, memory_ids, status, profile, epoch, attempts,
              requested_at, deadline_at, next_try_at, updated_at, escalated_at, completed_at) ON tombstones
    TO smartbrain_system;
ALTER TABLE agent_experience ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_experience FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON agent_experience TO smartbrain_app USING (tenant_id = current_setting('app.tenant', true)
    AND (user_id IS NULL OR user_id = current_setting('app.user', true)));
CREATE POLICY every_tenant ON agent_experience TO smartbrain_system USING (true);
CREATE POLICY own_rows_hidden_too ON agent_experience TO smartbrain_erasure
    USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true));
GRANT SELECT, DELETE ON agent_experience TO smartbrain_erasure;
GRANT SELECT ON agent_experience TO smartbrain_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON agent_experience TO smartbrain_system;
ALTER TABLE knowledge_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE knowledge_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON knowledge_versions TO smartbrain_app USING (tenant_id = current_setting('app.tenant', true));
CREATE POLICY own_tenant_erased ON knowledge_versions TO smartbrain_erasure
    USING (tenant_id = current_setting('app.tenant', true));
GRANT SELECT, INSERT, UPDATE ON knowledge_versions TO smartbrain_app, smartbrain_erasure;
CREATE POLICY expired ON model_answers FOR DELETE TO smartbrain_system USING (expires_at < now());
CREATE POLICY long_ago ON model_usage FOR DELETE TO smartbrain_system USING (day < current_date);
REVOKE UPDATE, DELETE ON conversation_events FROM smartbrain_app;
REVOKE DELETE ON conversation_events FROM smartbrain_erasure;
GRANT SELECT ON messages, tool_calls, refs TO smartbrain_app;
GRANT SELECT, INSERT ON event_outbox, inbox TO smartbrain_app, smartbrain_erasure;
GRANT SELECT, INSERT, UPDATE, DELETE ON event_outbox, inbox, redriven, relay_members TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, turn_id, session_id, seq, event_id, trace_id, policy_version, idempotency_key,
              committed_at, observed_at, outcome_at) ON turns TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, observation_id, turn_id, session_id, priority, state, detector, pattern, epistemic,
              created_at)
    ON observations TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, proposal_id, turn_id, observation_id, action, target_memory_id, type, provenance,
              confidence, state, created_at) ON proposals TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, chunk_id, active, embedding_model_id, created_at) ON memory_chunks TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, context_id, created_at, core_ids, evidence_ids, used_ids, degraded, feedback_signal),
      DELETE ON injections TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, context_id, receipt_type, created_at), DELETE ON memory_receipts TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, context_id, created_at), DELETE ON context_packages TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, answer_id, turn_id, prompt, prompt_version, model, created_at, expires_at),
      DELETE ON model_answers TO smartbrain_system;
GRANT SELECT, DELETE ON model_usage TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, memory_id, status, type, provenance_class, epistemic_type, confidence, valid_at,
              valid_until, last_validated_at, injection_count, positive_count, correction_count, miss_count, calibrated,
              fused_at, pinned, created_at, updated_at) ON memory_items TO smartbrain_system;
GRANT SELECT, DELETE ON tool_receipts TO smartbrain_system;
GRANT SELECT ON upkeep_rounds TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, proposal_id, memory_id, status, expires_at) ON promotions TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, resource_id, turn_id, session_id, ref_type, source_type, uri_hash, state, attempts,
              requested_at) ON resources TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, session_id, next_seq, last_turn_at, expires_at, archived_at, tombstone_id) ON sessions
    TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, quarantine_id, stage, turn_id, event_id, created_at) ON quarantine TO smartbrain_system;

-- ---------------------------------------------------------------- bind: whose transaction it is

CREATE FUNCTION bind(tenant text, who text, alone boolean DEFAULT false) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    found integer;
BEGIN
    IF NOT EXISTS (SELECT FROM serving) AND NOT alone THEN
        RETURN NULL;
    END IF;
    IF alone THEN
        PERFORM set_config('lock_timeout', '10s', true);
        PERFORM pg_advisory_xact_lock(hashtextextended(tenant || ':' || who, 2));
    ELSE
        PERFORM pg_advisory_xact_lock_shared(hashtextextended(tenant || ':' || who, 2));
    END IF;
    PERFORM set_config('app.tenant', tenant, true), set_config('app.user', who, true);
    SELECT e.epoch INTO found FROM erasure_epochs e WHERE e.tenant_id = tenant AND e.user_id = who;
    found := coalesce(found, 0);
    PERFORM set_config('app.epoch', found::text, true);
    RETURN found;
END $$;
COMMENT ON FUNCTION bind IS 'The user''s epoch; the transaction is bound to the tenant and user, beside others that write of them, or alone: an erasure. So each lies before an erasure, which then sees all it wrote, or after it. Null, and bound to nobody, while the database is not to be served.';

-- ---------------------------------------------------------------- commit_turn: one round trip, one transaction

CREATE FUNCTION commit_turn(body jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    tenant text := body ->> 'tenant_id';
    who text := body ->> 'user_id';
    session text := body ->> 'session_id';
    turn uuid := (body ->> 'turn_id')::uuid;
    said timestamptz := coalesce((body ->> 'said_at')::timestamptz, now());
    only_ends boolean := coalesce((body ->> 'only_ends')::boolean, false);
    sent timestamptz := (body ->> 'sent_at')::timestamptz;
    since integer := bind(tenant, who);
    known record;
    number integer;
    answer jsonb;
BEGIN
    IF since IS NULL THEN
        RETURN jsonb_build_object('outcome', 'closed');
    END IF;
    -- one writer per user at a time: the order of outbox positions is then the order of commits
    PERFORM pg_advisory_xact_lock(hashtextextended(tenant || ':' || who, 0));
    SELECT t.request_hash, t.result, t.tombstone_id INTO known FROM turns t
        WHERE t.tenant_id = tenant AND t.user_id = who AND t.idempotency_key = body ->> 'idempotency_key';
    IF FOUND THEN
        RETURN jsonb_build_object('outcome', CASE WHEN known.tombstone_id IS NOT NULL
                OR known.request_hash = body ->> 'request_hash' THEN 'repeated' ELSE 'clash' END,
            'result', known.result);
    END IF;
    IF sent IS NOT NULL AND EXISTS (SELECT FROM tombstones d WHERE d.tenant_id = tenant AND d.user_id = who
            AND d.requested_at > sent
            AND (d.scope IN ('all', 'personal') OR d.scope = 'session' AND session = ANY(d.session_ids))) THEN
        RETURN jsonb_build_object('outcome', 'erased');
    END IF;
    -- said before an erasure of items, it does not say again what was erased: it is as old as when it was sent
    SELECT least(since, min(d.epoch) - 1) INTO since FROM tombstones d
        WHERE d.tenant_id = tenant AND d.user_id = who AND d.requested_at > sent AND d.scope = 'items';
    IF (body ->> 'refused')::boolean THEN
        RETURN jsonb_build_object('outcome', 'refused');
    END IF;
    INSERT INTO sessions AS s (tenant_id, user_id, session_id, next_seq, last_turn_at)
        VALUES (tenant, who, session, 2, said)
        ON CONFLICT (tenant_id, user_id, session_id)
        DO UPDATE SET next_seq = s.next_seq + 1,
            last_turn_at = CASE WHEN only_ends THEN s.last_turn_at ELSE greatest(s.last_turn_at, said) END,
            archived_at = CASE WHEN only_ends THEN s.archived_at END,
            tombstone_id = CASE WHEN only_ends THEN s.tombstone_id END
        RETURNING next_seq - 1 INTO number;
    answer := (body -> 'result') || jsonb_build_object('seq', number, 'committed_at', now());
    INSERT INTO turns (tenant_id, user_id, turn_id, session_id, seq, idempotency_key, request_hash, event_id, trace_id,
                       policy_version, said_at, context_id, result, experiment, epoch)
        VALUES (tenant, who, turn, session, number, body ->> 'idempotency_key', body ->> 'request_hash',
                (body ->> 'event_id')::uuid, body ->> 'trace_id', body ->> 'policy_version', said,
                (body ->> 'context_id')::uuid, answer, nullif(body -> 'experiment', 'null'), since);
    INSERT INTO conversation_events (tenant_id, user_id, event_id, turn_id, session_id, ordinal, event_type, role, name,
                                     content, content_schema_version, said_at)
        SELECT tenant, who, e.event_id, turn, session, e.ordinal, e.event_type, e.role, e.name, e.content,
               coalesce(e.version, 0), coalesce(e.said_at, said)
        FROM jsonb_to_recordset(body -> 'events') AS e(event_id uuid, ordinal integer, event_type text, role text,
                                                       name text, content jsonb, version integer, said_at timestamptz);
    INSERT INTO event_outbox (id, aggregatetype, aggregateid, type, payload)
        VALUES ((body ->> 'event_id')::uuid, body ->> 'topic', tenant || ':' || who, 'turn.committed',
                jsonb_set((body -> 'envelope') || jsonb_build_object('occurred_at', now()),
                          '{payload,seq}', to_jsonb(number)));
    RETURN jsonb_build_object('outcome', 'written', 'result', answer);
END $$;
COMMENT ON FUNCTION commit_turn IS 'Writes session, turn, events and outbox row, or nothing. outcome: written, repeated (same key, same body), clash (same key, other body), refused (media that is not safe; a turn that is committed already stays), erased (sent_at, when it was put on a topic, lies before an erasure that covers it) or closed (the database is not served yet).';

-- ---------------------------------------------------------------- record_contexts: packages of many users, one round trip

CREATE FUNCTION record_contexts(rows json) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    each record;
    written integer := 0;
    answered timestamptz;
BEGIN
    FOR each IN SELECT * FROM json_to_recordset(rows) AS r(tenant_id text, user_id text, context_id uuid,
            session_id text, request_id text, core_ids uuid[], evidence_ids uuid[], degraded boolean,
            policy_version text, age_s double precision, fingerprints bigint[], pieces smallint[],
            schema_version smallint, retrieval jsonb, injection jsonb, plan json, package json, event json,
            epoch integer) LOOP
        CONTINUE WHEN bind(each.tenant_id, each.user_id) IS DISTINCT FROM each.epoch;
        answered := now() - make_interval(secs => each.age_s);
        INSERT INTO injections (tenant_id, user_id, context_id, session_id, request_id, core_ids, evidence_ids,
                                degraded, policy_version, created_at, fingerprints, pieces)
            VALUES (each.tenant_id, each.user_id, each.context_id, each.session_id, each.request_id, each.core_ids,
                    each.evidence_ids, each.degraded, each.policy_version, answered, each.fingerprints, each.pieces)
            ON CONFLICT DO NOTHING;
        CONTINUE WHEN NOT FOUND;
        written := written + 1;
        INSERT INTO memory_receipts (tenant_id, user_id, context_id, receipt_type, session_id, request_id,
                                     details_schema_version, details, created_at)
            SELECT each.tenant_id, each.user_id, each.context_id, d.receipt_type, each.session_id, each.request_id,
                   each.schema_version, d.details, answered
            FROM (VALUES ('retrieval', each.retrieval), ('injection', each.injection)) AS d(receipt_type, details);
        IF each.plan IS NOT NULL OR each.package IS NOT NULL THEN
            INSERT INTO context_packages (tenant_id, user_id, context_id, session_id, plan, package, created_at)
                VALUES (each.tenant_id, each.user_id, each.context_id, each.session_id, each.plan, each.package,
                        answered);
        END IF;
        INSERT INTO event_outbox (id, aggregatetype, aggregateid, type, payload)
            SELECT e.id, e.topic, e.key, e.type, e.payload
            FROM json_to_record(each.event) AS e(id uuid, topic text, key text, type text, payload jsonb);
    END LOOP;
    RETURN written;
END $$;
COMMENT ON FUNCTION record_contexts IS 'How many of these packages were not recorded yet; injection, receipts, package and event of each are written as its own user. One that was composed before an erasure of its user is not recorded: epoch is the user''s when it was begun. age_s: how long ago the package was answered.';
