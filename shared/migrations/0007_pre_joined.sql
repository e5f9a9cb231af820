-- One name in two spellings: the mention that says so names the other one.

ALTER TABLE entity_mentions ADD COLUMN same_as text;
COMMENT ON COLUMN entity_mentions.same_as IS 'Another name of the same one, as these words say: 李明（Li Ming）, "Robert, everyone calls him Bob". Questions with either find both. Goes with its turn.';
CREATE INDEX entity_mentions_joined ON entity_mentions (tenant_id, user_id) WHERE same_as IS NOT NULL;
