-- What a user does to their memories by hand, shown in order; and turns that came with an import.

CREATE INDEX memory_pinned ON memory_items (tenant_id, user_id, valid_at DESC) WHERE status = 'active' AND pinned;
CREATE INDEX observations_settled ON observations (tenant_id, user_id, settled_at DESC) WHERE state = 'evolved';
CREATE INDEX memory_retracted ON memory_items (tenant_id, user_id, invalid_at) WHERE status = 'retracted';

ALTER TABLE turns ADD COLUMN imported boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN turns.imported IS 'It came with an import: nothing is learnt from its words, its items say what had been.';
