-- What operators look at is found by when it was, without a look at any word; models are told apart in what they cost.

CREATE INDEX turns_committed ON turns (committed_at);
ALTER TABLE injections ADD COLUMN took_ms real;
COMMENT ON COLUMN injections.took_ms IS 'How long the package took, in milliseconds. Null of those from before this was kept.';
GRANT SELECT (took_ms) ON injections TO smartbrain_system;
ALTER TABLE model_usage ADD COLUMN model text;
COMMENT ON COLUMN model_usage.model IS 'The model that was asked last on that day for that purpose. Null of days from before this was kept.';

-- ---------------------------------------------------------------- record_contexts, and how long each package took

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
                                degraded, policy_version, created_at, fingerprints, pieces, took_ms)
            VALUES (each.tenant_id, each.user_id, each.context_id, each.session_id, each.request_id, each.core_ids,
                    each.evidence_ids, each.degraded, each.policy_version, answered, each.fingerprints, each.pieces,
                    (each.retrieval ->> 'latency_ms')::real)
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
