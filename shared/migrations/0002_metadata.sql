-- What a caller says of sessions and messages beside their words; for whom a turn's resources may be found; which
-- processes are there; given plans; tombstones and audit events go when their years are over.

ALTER TABLE sessions ADD COLUMN metadata_json jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN sessions.metadata_json IS 'The caller''s own names for the session, secrets blanked: a later turn''s names are added, null takes one away. Written by compose; an erasure alone may blank words in it.';
ALTER TABLE conversation_events ADD COLUMN meta_json jsonb;
COMMENT ON COLUMN conversation_events.meta_json IS 'What the caller says of a message, secrets blanked; null where that is nothing, or erased.';
ALTER TABLE turns ADD COLUMN org_id text;
COMMENT ON COLUMN turns.org_id IS 'The organisation that the user spoke in, where the caller names it: what the turn cites is found there alone.';
ALTER TABLE resources ADD COLUMN org_id text NOT NULL DEFAULT '', ADD COLUMN user_named boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN resources.user_named IS 'Whether the knowledge side was told whose it is when it was offered: in the same name it is deleted there.';
COMMENT ON TABLE context_packages IS 'Packages as they were answered, and the plans that led to them, for a week; of a plan that was given (POST /v1/retrieve) the plan alone, in no session. Holds text. Written by compose after the reply where policy says so; governor removes old rows.';

CREATE TABLE service_members (
    service text NOT NULL,
    member_id uuid NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now(),
    problems text[] NOT NULL,
    PRIMARY KEY (service, member_id)
);
COMMENT ON TABLE service_members IS 'Processes of services that are there: when each last said so, and what it is not ready for. Written by every service, read by compose''s /ready.';
GRANT SELECT, INSERT, UPDATE, DELETE ON service_members TO smartbrain_system;

CREATE OR REPLACE VIEW messages WITH (security_invoker = true) AS
    SELECT tenant_id, user_id, event_id AS message_id, turn_id, session_id, ordinal, role, name,
           content ->> 'text' AS content, content ->> 'model' AS model, said_at AS created_at,
           CASE WHEN content_schema_version = 1 THEN content -> 'blocks' END AS blocks, meta_json
    FROM conversation_events WHERE event_type IN ('user_message', 'assistant_message', 'system');

CREATE OR REPLACE FUNCTION keep_events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.content IS NULL AND NEW.meta_json IS NULL AND NEW.tombstone_id IS NOT NULL
            OR current_user = 'smartbrain_erasure' AND NEW.tombstone_id IS NULL)
        AND NEW.epoch >= OLD.epoch
        AND (to_jsonb(NEW) - 'content' - 'meta_json' - 'tombstone_id' - 'name' - 'epoch')
          = (to_jsonb(OLD) - 'content' - 'meta_json' - 'tombstone_id' - 'name' - 'epoch') THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'conversation_events is append-only: only an erasure may null its content';
END $$;

-- ---------------------------------------------------------------- commit_turn, with metadata and organisation

CREATE OR REPLACE FUNCTION commit_turn(body jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    tenant text := body ->> 'tenant_id';
    who text := body ->> 'user_id';
    session text := body ->> 'session_id';
    turn uuid := (body ->> 'turn_id')::uuid;
    said timestamptz := coalesce((body ->> 'said_at')::timestamptz, now());
    only_ends boolean := coalesce((body ->> 'only_ends')::boolean, false);
    sent timestamptz := (body ->> 'sent_at')::timestamptz;
    since integer := bind(tenant, who);
    metadata jsonb := nullif(body -> 'metadata', 'null');
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
    INSERT INTO sessions AS s (tenant_id, user_id, session_id, next_seq, last_turn_at, metadata_json)
        VALUES (tenant, who, session, 2, said, coalesce(metadata, '{}'))
        ON CONFLICT (tenant_id, user_id, session_id)
        DO UPDATE SET next_seq = s.next_seq + 1,
            last_turn_at = CASE WHEN only_ends THEN s.last_turn_at ELSE greatest(s.last_turn_at, said) END,
            archived_at = CASE WHEN only_ends THEN s.archived_at END,
            tombstone_id = CASE WHEN only_ends THEN s.tombstone_id END,
            metadata_json = coalesce(metadata, s.metadata_json)
        RETURNING next_seq - 1 INTO number;
    answer := (body -> 'result') || jsonb_build_object('seq', number, 'committed_at', now());
    INSERT INTO turns (tenant_id, user_id, turn_id, session_id, seq, idempotency_key, request_hash, event_id, trace_id,
                       policy_version, said_at, context_id, result, experiment, org_id, epoch)
        VALUES (tenant, who, turn, session, number, body ->> 'idempotency_key', body ->> 'request_hash',
                (body ->> 'event_id')::uuid, body ->> 'trace_id', body ->> 'policy_version', said,
                (body ->> 'context_id')::uuid, answer, nullif(body -> 'experiment', 'null'),
                body ->> 'org_id', since);
    INSERT INTO conversation_events (tenant_id, user_id, event_id, turn_id, session_id, ordinal, event_type, role, name,
                                     content, meta_json, content_schema_version, said_at)
        SELECT tenant, who, e.event_id, turn, session, e.ordinal, e.event_type, e.role, e.name, e.content,
               e.meta, coalesce(e.version, 0), coalesce(e.said_at, said)
        FROM jsonb_to_recordset(body -> 'events') AS e(event_id uuid, ordinal integer, event_type text, role text,
                                                       name text, content jsonb, meta jsonb, version integer,
                                                       said_at timestamptz);
    INSERT INTO event_outbox (id, aggregatetype, aggregateid, type, payload)
        VALUES ((body ->> 'event_id')::uuid, body ->> 'topic', tenant || ':' || who, 'turn.committed',
                jsonb_set((body -> 'envelope') || jsonb_build_object('occurred_at', now()),
                          '{payload,seq}', to_jsonb(number)));
    RETURN jsonb_build_object('outcome', 'written', 'result', answer);
END $$;

-- ---------------------------------------------------------------- record_contexts, and plans that were given

CREATE OR REPLACE FUNCTION record_contexts(rows json) RETURNS integer LANGUAGE plpgsql AS $$
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
        IF each.injection IS NULL THEN
            INSERT INTO context_packages (tenant_id, user_id, context_id, session_id, plan, created_at)
                VALUES (each.tenant_id, each.user_id, each.context_id, each.session_id, each.plan, answered)
                ON CONFLICT DO NOTHING;
            CONTINUE WHEN NOT FOUND;
            written := written + 1;
            CONTINUE;
        END IF;
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
COMMENT ON FUNCTION record_contexts IS 'How many of these packages and plans were not recorded yet; injection, receipts, package and event of each package are written as its own user, of a plan that was given (no injection) the plan alone. What was composed or retrieved before an erasure of its user is not recorded: epoch is the user''s when it was begun. age_s: how long ago it was answered.';

-- ---------------------------------------------------------------- what goes when its years are over

CREATE OR REPLACE FUNCTION keep_audit_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_user = 'smartbrain_system' AND OLD.at < now() - interval '3 years' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'audit_events is append-only: three years at least';
END $$;
COMMENT ON TABLE tombstones IS 'Every erasure that was asked for: scope, state, history of states, and the proof once it is completed; ids and figures. Written by compose and erasure; governor removes those that were completed erasure.keep_years ago.';
COMMENT ON TABLE audit_events IS 'That an erasure was done: whose, when, how much; no content. One a tombstone. Written by erasure; governor removes it with its tombstone.';
CREATE POLICY old_rows ON tombstones FOR DELETE TO smartbrain_system USING (completed_at < now() - interval '3 years');
CREATE POLICY ids_of_old ON erasure_steps FOR SELECT TO smartbrain_system USING (true);
CREATE POLICY old_rows ON erasure_steps FOR DELETE TO smartbrain_system USING (NOT EXISTS (SELECT FROM tombstones t
    WHERE (t.tenant_id, t.user_id, t.tombstone_id)
        = (erasure_steps.tenant_id, erasure_steps.user_id, erasure_steps.tombstone_id)));
CREATE POLICY ids_of_old ON audit_events FOR SELECT TO smartbrain_system USING (true);
CREATE POLICY old_rows ON audit_events FOR DELETE TO smartbrain_system USING (at < now() - interval '3 years');
GRANT DELETE ON tombstones, erasure_steps, audit_events TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, tombstone_id) ON erasure_steps TO smartbrain_system;
GRANT SELECT (tenant_id, user_id, tombstone_id, at) ON audit_events TO smartbrain_system;
CREATE POLICY figures_of_all ON memory_receipts FOR SELECT TO smartbrain_system USING (tombstone_id IS NOT NULL
    AND starts_with(user_id, 'erased:'));
