-- The digest of the key by which a caller ties requests together, and the prompt tokens that were
-- read from a cache. Rows from before have neither.
ALTER TABLE usage ADD COLUMN cached_tokens INTEGER;
ALTER TABLE usage ADD COLUMN session INTEGER;

-- Usage summed by session and UTC day, in the transaction that adds the rows. `usd` is all
-- currencies but DIEM. A refund changes the amounts only, so that a day with nothing but refunds has
-- no first and last request. The day comes first, so that pruning deletes a range.
CREATE TABLE usage_session (
    day INTEGER NOT NULL,
    owner BLOB NOT NULL,
    session INTEGER NOT NULL,
    requests INTEGER NOT NULL CHECK (0 <= requests),
    units INTEGER NOT NULL,
    usd INTEGER NOT NULL,
    diem INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    first_ms INTEGER,
    last_ms INTEGER,
    PRIMARY KEY (day, owner, session)
) STRICT, WITHOUT ROWID;
