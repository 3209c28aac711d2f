-- What the JSON-RPC proxy keeps: answers by idempotency key, and which transactions were sent.

-- Answers to requests that carried an idempotency key, given again to whoever sends the same
-- request. A row is written with the charge for the work, or not at all.
CREATE TABLE idempotency (
    owner BLOB NOT NULL REFERENCES owner (id),
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
    headers TEXT NOT NULL,
    body BLOB NOT NULL,
    expires_ms INTEGER NOT NULL,
    PRIMARY KEY (owner, key)
) STRICT;

CREATE INDEX idempotency_by_expiry ON idempotency (expires_ms);

-- How much of the above each owner takes up, so that it can be bounded without counting.
CREATE TABLE idempotency_total (
    owner BLOB PRIMARY KEY,
    answers INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER idempotency_added AFTER INSERT ON idempotency BEGIN
    INSERT INTO idempotency_total (owner, answers, bytes)
    VALUES (new.owner, 1, length(new.body))
    ON CONFLICT (owner) DO UPDATE
    SET answers = answers + 1, bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER idempotency_removed AFTER DELETE ON idempotency BEGIN
    UPDATE idempotency_total SET answers = answers - 1, bytes = bytes - length(old.body)
    WHERE owner = old.owner;
END;

-- The signed transactions that were sent to a chain: who and when, never what. A hash is absent
-- where neither we nor the node could tell it.
CREATE TABLE rpc_tx (
    seq INTEGER PRIMARY KEY,
    tx_hash TEXT,
    network TEXT NOT NULL,
    request_id TEXT NOT NULL,
    owner BLOB NOT NULL REFERENCES owner (id),
    at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX rpc_tx_by_hash ON rpc_tx (tx_hash);

-- A start counts the last day's credits from here. Rows come in the order of time, so the index
-- grows at its end only, and not at all for other work.
CREATE INDEX usage_of_rpc ON usage (at_ms) WHERE sku GLOB 'crypto-rpc-*';
