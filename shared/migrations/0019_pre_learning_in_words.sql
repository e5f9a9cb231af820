-- What is said in words of being remembered at all is the setting `learning`: of each setting it is kept when it was chosen,
-- and in which turn.

ALTER TABLE user_settings ADD COLUMN chosen_when jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN user_settings.chosen_when IS 'Of each setting that was ever chosen: when (at), and the turn that said it in words (turn_id), if one did. What was said before that does not change it.';

INSERT INTO user_settings AS s (tenant_id, user_id, epoch, chosen, chosen_when)
SELECT tenant_id, user_id, epoch, '{"learning": false}',
    jsonb_build_object('learning', jsonb_build_object('at', since, 'turn_id', turn_id))
FROM wishes WHERE session_id = '' AND NOT remember
ON CONFLICT (tenant_id, user_id) DO UPDATE
    SET chosen = s.chosen || excluded.chosen, chosen_when = s.chosen_when || excluded.chosen_when;
DELETE FROM wishes WHERE session_id = '';
COMMENT ON TABLE wishes IS 'What the user said last of remembering a session. No words. Written by observer, read by compose; only an erasure of everything takes it.';
