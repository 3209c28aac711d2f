-- Since when a key has its limits, so that what it spent can be held against them. Keys that are
-- there already may have been changed at any time before.
ALTER TABLE api_key ADD COLUMN limits_since_ms INTEGER NOT NULL DEFAULT 0;

UPDATE api_key SET limits_since_ms = CAST(unixepoch('subsec') * 1000 AS INTEGER);
