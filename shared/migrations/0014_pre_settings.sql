-- What users and tenants choose of how memory works for them.

CREATE TABLE user_settings (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    chosen jsonb NOT NULL DEFAULT '{}',
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, user_id)
);
COMMENT ON TABLE user_settings IS 'What a user has chosen of how memory works for them, by the names of settings; no words. Written by compose, read by compose, observer, analyzer and governor; only an erasure of everything takes it.';
ALTER TABLE user_settings ADD COLUMN epoch integer NOT NULL
    DEFAULT coalesce(nullif(current_setting('app.epoch', true), '')::integer, 0);
ALTER TABLE user_settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE user_settings FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON user_settings TO smartbrain_app
    USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true));
CREATE POLICY own_rows_hidden_too ON user_settings TO smartbrain_erasure
    USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true));
CREATE POLICY every_tenant ON user_settings FOR SELECT TO smartbrain_system USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON user_settings TO smartbrain_app;
GRANT SELECT, UPDATE, DELETE ON user_settings TO smartbrain_erasure;
GRANT SELECT ON user_settings TO smartbrain_system;

CREATE TABLE tenant_settings (
    tenant_id text PRIMARY KEY,
    chosen jsonb NOT NULL DEFAULT '{}',
    changed_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE tenant_settings IS 'What a tenant has chosen for all its users, by the names of settings. Written by compose, read by compose, observer, analyzer and governor.';
ALTER TABLE tenant_settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant_settings FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON tenant_settings TO smartbrain_app USING (tenant_id = current_setting('app.tenant', true));
CREATE POLICY every_tenant ON tenant_settings FOR SELECT TO smartbrain_system USING (true);
GRANT SELECT, INSERT, UPDATE ON tenant_settings TO smartbrain_app;
GRANT SELECT ON tenant_settings TO smartbrain_system;

ALTER TABLE turns DROP CONSTRAINT turns_withheld_check;
ALTER TABLE turns ADD CONSTRAINT turns_withheld_check
    CHECK (withheld IN ('caller', 'message', 'session', 'person', 'settings')) NOT VALID;
COMMENT ON COLUMN turns.withheld IS 'By whose wish nothing is learnt from it: the caller''s (remember: false), the user''s for the message, the session or themself, or their settings. Written by observer.';
