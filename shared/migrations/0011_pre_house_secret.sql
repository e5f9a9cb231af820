-- What the services themselves put on a topic that clients write is signed too, with a secret that nobody else has.

CREATE TABLE house_secret (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    secret_hash text NOT NULL CHECK (length(secret_hash) = 64)
);
COMMENT ON TABLE house_secret IS 'One row: with what relay signs the records that services put on topics which clients write (ends of sessions, dead letters for which an operator vouches), and compose checks them. Made at random by the migration; an owner may replace it at any time.';
INSERT INTO house_secret (secret_hash)
    SELECT encode(sha256((gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text)::bytea), 'hex');
ALTER TABLE house_secret ENABLE ROW LEVEL SECURITY;
ALTER TABLE house_secret FORCE ROW LEVEL SECURITY;
CREATE POLICY secret_of_services ON house_secret TO smartbrain_system USING (true);
GRANT SELECT ON house_secret TO smartbrain_system;
