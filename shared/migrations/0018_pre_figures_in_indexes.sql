-- Turns and packages over time are counted in their indexes alone: rows carry outcomes and hashes, figures need neither.

DROP INDEX turns_committed;
CREATE INDEX turns_committed ON turns (committed_at) INCLUDE (outcome_at, tenant_id, user_id);
DROP INDEX injections_age;
CREATE INDEX injections_age ON injections (created_at) INCLUDE (took_ms, degraded, tenant_id, user_id, tombstone_id);
