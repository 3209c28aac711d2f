-- The digest of the key by which a caller ties requests together, and the prompt tokens that were
-- read from a cache. Rows of earlier releases have neither, and neither have those that a node of
-- one writes during an upgrade.
ALTER TABLE usage ADD COLUMN cached_tokens BIGINT;
ALTER TABLE usage ADD COLUMN session BIGINT;

-- Usage summed by session and UTC day, in the transaction that adds the rows. `usd` is all
-- currencies but DIEM. A refund changes the amounts only, so that a day with nothing but refunds has
-- no first and last request. The day comes first, so that pruning deletes a range.
CREATE TABLE usage_session (
    day BIGINT NOT NULL,
    owner UUID NOT NULL,
    session BIGINT NOT NULL,
    requests BIGINT NOT NULL CHECK (0 <= requests),
    units BIGINT NOT NULL,
    usd BIGINT NOT NULL,
    diem BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    first_ms BIGINT,
    last_ms BIGINT,
    PRIMARY KEY (day, owner, session)
) WITH (fillfactor = 70);
