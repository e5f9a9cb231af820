-- What a user commands by hand: lists that were shown with numbers, memories that are never to be brought up, and what an
-- application says of remembering a session.

CREATE TABLE shown_lists (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    session_id text NOT NULL,
    facts uuid[] NOT NULL,
    notes uuid[] NOT NULL,
    shown_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id, session_id)
);
COMMENT ON TABLE shown_lists IS 'Which memories /memory showed last in a session, in the order of their numbers: /forget fact 2 means the second of them, whatever has changed since. Ids only. Written and read by compose.';
ALTER TABLE shown_lists ADD COLUMN epoch integer NOT NULL
    DEFAULT coalesce(nullif(current_setting('app.epoch', true), '')::integer, 0);
ALTER TABLE shown_lists ENABLE ROW LEVEL SECURITY;
ALTER TABLE shown_lists FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON shown_lists TO smartbrain_app
    USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true));
CREATE POLICY own_rows_hidden_too ON shown_lists TO smartbrain_erasure
    USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON shown_lists TO smartbrain_app;
GRANT SELECT, UPDATE, DELETE ON shown_lists TO smartbrain_erasure;

ALTER TABLE memory_items ADD COLUMN silenced_at timestamptz;
COMMENT ON COLUMN memory_items.silenced_at IS 'Since when the user does not want it brought up: it is out of sight as a fused one is, and only their explicit word shows it again.';
GRANT SELECT (silenced_at) ON memory_items TO smartbrain_system;

ALTER TABLE sessions ADD COLUMN cleared_seq integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN sessions.cleared_seq IS 'The last turn before its summary was cleared: no summary says again what was said up to it. Written by compose.';

ALTER TABLE conversation_events DROP CONSTRAINT conversation_events_event_type_check;
ALTER TABLE conversation_events ADD CONSTRAINT conversation_events_event_type_check CHECK (event_type IN
    ('user_message', 'assistant_message', 'tool_call', 'tool_result', 'ref', 'item', 'feedback', 'system', 'session_end',
     'wish')) NOT VALID;
