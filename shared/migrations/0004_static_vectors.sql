-- The static vector of each chunk, and pages in which the vectors of large users are searched.

ALTER TABLE memory_chunks ADD COLUMN static_vector bytea, ADD COLUMN static_model_id text;
COMMENT ON COLUMN memory_chunks.static_vector IS 'What the text means by the encoder that ships with the product (static_model_id), a byte for each number; written with the text. Null: the evolver fills it.';
CREATE INDEX memory_chunks_without_static ON memory_chunks (created_at) WHERE static_model_id IS NULL AND active;
CREATE INDEX memory_chunks_made ON memory_chunks (tenant_id, user_id, created_at);
GRANT SELECT (static_model_id) ON memory_chunks TO smartbrain_system;

CREATE TABLE vector_pages (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    set_id text NOT NULL,
    model_id text NOT NULL,
    page integer NOT NULL,
    version uuid NOT NULL,
    until timestamptz NOT NULL,
    covered integer NOT NULL,
    ids bytea NOT NULL,
    codes bytea NOT NULL,
    PRIMARY KEY (tenant_id, user_id, set_id, model_id, page)
);
COMMENT ON TABLE vector_pages IS 'The chunks of a user with many, packed to be searched by meaning: ids in order, and of each vector a code (shared.vectors). set_id: the encoders that a question is embedded by; model_id: whose vectors are in the page; version: when it was made, with the others of its set; until: chunks made later are compared one by one; covered: so many active chunks had been made until then. Derived; written by evolver, and gone with any erasure, change or return of a chunk.';
ALTER TABLE vector_pages ALTER COLUMN ids SET STORAGE EXTERNAL, ALTER COLUMN codes SET STORAGE EXTERNAL;
ALTER TABLE vector_pages ADD COLUMN epoch integer NOT NULL
    DEFAULT coalesce(nullif(current_setting('app.epoch', true), '')::integer, 0);
ALTER TABLE vector_pages ENABLE ROW LEVEL SECURITY;
ALTER TABLE vector_pages FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON vector_pages TO smartbrain_app
    USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true));
CREATE POLICY own_rows_hidden_too ON vector_pages TO smartbrain_erasure
    USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true));
CREATE POLICY ids_of_all ON vector_pages FOR SELECT TO smartbrain_system USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON vector_pages TO smartbrain_app;
GRANT SELECT, UPDATE, DELETE ON vector_pages TO smartbrain_erasure;
GRANT SELECT (tenant_id, user_id, set_id, covered) ON vector_pages TO smartbrain_system;

CREATE POLICY ids_of_all ON search_stats FOR SELECT TO smartbrain_system USING (true);
GRANT SELECT (tenant_id, user_id, chunks) ON search_stats TO smartbrain_system;
