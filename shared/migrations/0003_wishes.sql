-- Wishes not to be remembered: for one session or for the person, and which turns nothing was learnt from because of one.

CREATE TABLE wishes (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    session_id text NOT NULL,
    remember boolean NOT NULL,
    turn_id uuid NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, session_id)
);
COMMENT ON TABLE wishes IS 'What the user said last of being remembered: of a session, or of themself where session_id is empty. No words. Written by observer, read by compose; only an erasure of everything takes it.';
ALTER TABLE wishes ADD COLUMN epoch integer NOT NULL
    DEFAULT coalesce(nullif(current_setting('app.epoch', true), '')::integer, 0);
ALTER TABLE wishes ENABLE ROW LEVEL SECURITY;
ALTER TABLE wishes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON wishes TO smartbrain_app
    USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true));
CREATE POLICY own_rows_hidden_too ON wishes TO smartbrain_erasure
    USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON wishes TO smartbrain_app;
GRANT SELECT, UPDATE, DELETE ON wishes TO smartbrain_erasure;

ALTER TABLE turns ADD COLUMN withheld text CHECK (withheld IN ('caller', 'message', 'session', 'person'));
COMMENT ON COLUMN turns.withheld IS 'By whose wish nothing is learnt from it: the caller''s (remember: false), or the user''s for the message, the session or themself. Written by observer.';
