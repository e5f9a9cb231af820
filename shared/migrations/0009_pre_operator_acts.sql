-- What operators do with what failed is on record where erasures are, and each of it is done once.

ALTER TABLE audit_events ALTER COLUMN tombstone_id DROP NOT NULL;
ALTER TABLE audit_events ADD COLUMN about text;
ALTER TABLE audit_events ADD CONSTRAINT audit_events_of_what CHECK ((tombstone_id IS NULL) <> (about IS NULL));
CREATE UNIQUE INDEX audit_events_once ON audit_events (tenant_id, user_id, about);
CREATE INDEX audit_events_acts ON audit_events (about) WHERE about IS NOT NULL;
COMMENT ON TABLE audit_events IS 'That an erasure was done, and what an operator did with a dead letter or a quarantined event: whose, when, by whom and why; no content. One a tombstone, one a dead letter. Written by erasure and compose; governor removes it with its tombstone, an operator''s act after as many years.';
COMMENT ON COLUMN audit_events.about IS 'Of an operator''s act, what was redriven or dropped: event:<event_id>, or letter:<hash of where it came from and what it says>. Unique for its user, which it says itself: nothing is redriven twice.';
COMMENT ON COLUMN audit_events.tombstone_id IS 'The erasure that was done; null where an operator acted.';
CREATE POLICY acts_written ON audit_events FOR INSERT TO smartbrain_app
    WITH CHECK (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true)
        AND tombstone_id IS NULL);
GRANT INSERT ON audit_events TO smartbrain_app;
GRANT SELECT (audit_id, about, kind) ON audit_events TO smartbrain_system;
