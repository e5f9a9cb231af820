-- What has ended and what was taken back is read for every package.

CREATE INDEX memory_ended ON memory_items (tenant_id, user_id, invalid_at DESC)
    WHERE status IN ('superseded', 'retracted') AND (type <> 'entity' OR key IS NULL);
CREATE INDEX observations_taking_back ON observations (tenant_id, user_id, said_at DESC)
    WHERE detector = 'retraction' AND old_value IS NULL;
