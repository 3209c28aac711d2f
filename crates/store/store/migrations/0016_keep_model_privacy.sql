-- Which models a key may use. Keys that are there already could use all.
ALTER TABLE api_key ADD COLUMN model_privacy TEXT NOT NULL DEFAULT 'ALL'
    CHECK (model_privacy IN ('ALL', 'PRIVATE_TEXT', 'PRIVATE_ONLY'));
