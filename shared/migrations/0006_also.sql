-- Memories that say more than one thing: what else they say is looked for by its key.

CREATE INDEX memory_also ON memory_items (tenant_id, user_id) WHERE status = 'active' AND value ? 'also';
