-- Turns of a tenant that says little go past those that the workers have of one that floods, by topics of their own.

ALTER TABLE turns_under_way ADD COLUMN ahead boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN turns_under_way.ahead IS 'Whether the turn, and what follows from it, goes past the turns of others by topics of its own; so do all turns of its user until none of them is under way.';
CREATE INDEX turns_under_way_ahead ON turns_under_way (tenant, who) WHERE ahead;
COMMENT ON TABLE tenants_about IS 'When a turn of each tenant was last published, to 20 ms: while others are about nobody fills the workers. Written by relay.';
