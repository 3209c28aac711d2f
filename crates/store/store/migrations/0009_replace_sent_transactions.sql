-- A transaction that is not mined in time is replaced by one with the same number and a higher fee.
-- Any of them may be the one that is mined, so the names of all are kept, with a space between them.
ALTER TABLE claim ADD COLUMN replaced TEXT NOT NULL DEFAULT '';
-- When what the claim holds now was written down to be sent.
ALTER TABLE claim ADD COLUMN sent_ms INTEGER;

UPDATE claim SET sent_ms = changed_ms WHERE state IN ('SUBMITTED', 'UNKNOWN');
