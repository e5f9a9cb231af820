-- What the user said by hand of a memory where a package had shown it.

ALTER TABLE injections ADD COLUMN verdicts jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN injections.verdicts IS 'By the id of a memory what the user said last of it as it stood in this package (POST /v1/feedback with context_id), and when: verdict and at. Written by compose.';
