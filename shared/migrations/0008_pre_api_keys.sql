-- Keys: who may do what over HTTP. A key is shown once; here stands its hash.

CREATE TABLE api_keys (
    tenant_id text NOT NULL,
    key_id text NOT NULL,
    name text NOT NULL,
    only_user text,
    only_users_from text CHECK (only_users_from <> ''),
    scopes text[] NOT NULL CHECK (cardinality(scopes) > 0
        AND scopes <@ ARRAY['read', 'write', 'erase', 'operate', 'admin']),
    secret_hash text NOT NULL CHECK (length(secret_hash) = 64),
    former_hash text CHECK (length(former_hash) = 64),
    former_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    ends_at timestamptz NOT NULL,
    rotated_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (tenant_id, key_id),
    CHECK (only_user IS NULL OR only_users_from IS NULL),
    CHECK ((former_hash IS NULL) = (former_until IS NULL))
);
COMMENT ON TABLE api_keys IS 'Keys of a tenant, by the SHA-256 of their secret: what each may do, for which users (only_user, or all whose id begins with only_users_from), until when. A rotated key takes its former secret until former_until. Written by smartbrain keys, read by compose; every change is notified on smartbrain_keys. Rows stay: who was let in is on record.';
CREATE INDEX api_keys_by_id ON api_keys (key_id);
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON api_keys TO smartbrain_app USING (tenant_id = current_setting('app.tenant', true));
CREATE POLICY keys_of_all ON api_keys TO smartbrain_system USING (true);
GRANT SELECT (tenant_id, key_id) ON api_keys TO smartbrain_app;
GRANT SELECT, INSERT, UPDATE ON api_keys TO smartbrain_system;
