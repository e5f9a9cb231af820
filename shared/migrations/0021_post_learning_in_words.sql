-- Wishes of persons that the old code wrote while the new one began.

INSERT INTO user_settings AS s (tenant_id, user_id, epoch, chosen, chosen_when)
SELECT tenant_id, user_id, epoch, '{"learning": false}',
    jsonb_build_object('learning', jsonb_build_object('at', since, 'turn_id', turn_id))
FROM wishes WHERE session_id = '' AND NOT remember
ON CONFLICT (tenant_id, user_id) DO UPDATE
    SET chosen = s.chosen || excluded.chosen, chosen_when = s.chosen_when || excluded.chosen_when
    WHERE coalesce((s.chosen_when -> 'learning' ->> 'at')::timestamptz, '-infinity') <= (excluded.chosen_when -> 'learning' ->> 'at')::timestamptz;
DELETE FROM wishes WHERE session_id = '';
