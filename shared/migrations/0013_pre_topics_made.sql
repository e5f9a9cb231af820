-- A broker that has lost its data is noticed by whoever makes its topics anew, and told to the governor.

CREATE TABLE topics_made (made_at timestamptz NOT NULL DEFAULT now());
COMMENT ON TABLE topics_made IS 'When the topic of committed turns was made: whatever is older and has no result was lost with the one before. Written by whoever makes topics (relay, smartbrain up, migrate); read and deleted by governor, once it has driven that again.';
GRANT SELECT, INSERT, DELETE ON topics_made TO smartbrain_system;
