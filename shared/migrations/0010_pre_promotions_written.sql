-- What was approved is written to the knowledge side: for which organisation, how far it is, and why it is not there.

ALTER TABLE promotions
    ADD COLUMN org_id text NOT NULL DEFAULT '',
    ADD COLUMN document_id text,
    ADD COLUMN write_attempts integer NOT NULL DEFAULT 0,
    ADD COLUMN write_requested_at timestamptz,
    ADD COLUMN offered_at timestamptz,
    ADD COLUMN written_at timestamptz,
    ADD COLUMN write_reason text;
COMMENT ON TABLE promotions IS 'Memories that qualify to be offered to the enterprise side, with the figures they qualified by, and what became of those that were approved; no text. Written by evolver; compose records decisions; librarian writes what was approved to the knowledge side.';
COMMENT ON COLUMN promotions.org_id IS 'The organisation that it was approved for; empty: all of the tenant. What is for a store or a region always names one.';
COMMENT ON COLUMN promotions.document_id IS 'What the knowledge side calls it: by it, or by proposal_id, an erasure finds it there.';
COMMENT ON COLUMN promotions.write_requested_at IS 'When it was last to be written to the knowledge side; empty: never, and it is not there.';
COMMENT ON COLUMN promotions.offered_at IS 'When it was last on its way there: until that try is settled an erasure waits for it.';
COMMENT ON COLUMN promotions.write_reason IS 'Why it is not written, or not yet; write_failed is tried again when somebody asks for it.';
CREATE INDEX promotions_to_write ON promotions (write_requested_at)
    WHERE status = 'approved' AND write_requested_at IS NOT NULL AND written_at IS NULL;
GRANT SELECT (visibility, write_requested_at, written_at) ON promotions TO smartbrain_system;
