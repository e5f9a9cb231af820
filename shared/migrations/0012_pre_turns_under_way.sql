-- Turns of one tenant wait for each other in the outbox, so that those of another need not wait behind them.

ALTER TABLE event_outbox ADD COLUMN waits_for text;
COMMENT ON COLUMN event_outbox.waits_for IS 'The tenant whose turn it is: the row leaves when few enough turns of that tenant are under way. Empty: it leaves at once.';
DROP INDEX event_outbox_unsent;
CREATE INDEX event_outbox_unsent ON event_outbox (shard, position) WHERE failed_at IS NULL AND waits_for IS NULL;
CREATE INDEX event_outbox_waiting ON event_outbox (waits_for, shard, position)
    WHERE failed_at IS NULL AND waits_for IS NOT NULL;
CREATE INDEX event_outbox_waiting_ids ON event_outbox (id) WHERE waits_for IS NOT NULL;

CREATE TABLE turns_under_way (
    turn_id uuid PRIMARY KEY,
    tenant text NOT NULL,
    who text NOT NULL,
    since timestamptz NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
COMMENT ON TABLE turns_under_way IS 'Turns whose event relay has published and whose outcome it has not published yet. Written by relay; read by governor, which drives none again that has only just left the outbox.';
CREATE INDEX turns_under_way_of_tenant ON turns_under_way (tenant, since);

CREATE TABLE tenants_about (
    tenant text PRIMARY KEY,
    last_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE tenants_about IS 'When a turn of each tenant was last published, to the second: while others are about nobody fills the workers. Written by relay.';
GRANT SELECT, INSERT, UPDATE, DELETE ON turns_under_way, tenants_about TO smartbrain_system;

-- ---------------------------------------------------------------- commit_turn: its event waits for the tenant

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
    INSERT INTO event_outbox (id, aggregatetype, aggregateid, type, waits_for, payload)
        VALUES ((body ->> 'event_id')::uuid, body ->> 'topic', tenant || ':' || who, 'turn.committed', tenant,
                jsonb_set((body -> 'envelope') || jsonb_build_object('occurred_at', now()),
                          '{payload,seq}', to_jsonb(number)));
    RETURN jsonb_build_object('outcome', 'written', 'result', answer);
END $$;
