-- Keys that carry the operator's rights. Their `kind` is ADMIN. Keys that are there already carry
-- the rights of their own account only.
ALTER TABLE api_key ADD COLUMN is_operator BOOLEAN NOT NULL DEFAULT FALSE;
