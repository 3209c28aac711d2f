-- Keys that carry the operator's rights. Their `kind` is ADMIN. Keys that are there already carry
-- the rights of their own account only.
ALTER TABLE api_key ADD COLUMN is_operator INTEGER NOT NULL DEFAULT 0
    CHECK (is_operator IN (0, 1));
