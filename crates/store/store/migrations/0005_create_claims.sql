-- Payments on their way to a chain. A row is there before the chain is asked anything, and what is
-- sent is in it before it is sent, so that a crash at any moment leaves a question that the chain
-- can answer.
CREATE TABLE claim (
    id BLOB PRIMARY KEY CHECK (length(id) = 20),
    network TEXT NOT NULL,
    asset TEXT NOT NULL,
    payer TEXT NOT NULL,
    -- What the chain spends once: the nonce of an authorization, or the hash of a message.
    nonce BLOB NOT NULL CHECK (length(nonce) = 32),
    pay_to TEXT NOT NULL,
    units INTEGER NOT NULL CHECK (0 < units),
    payment TEXT NOT NULL,
    state TEXT NOT NULL
        CHECK (state IN ('VERIFIED', 'SUBMITTED', 'UNKNOWN', 'CREDITED', 'FAILED')),
    transaction_id TEXT,
    raw BLOB,
    sequence INTEGER,
    since_block INTEGER,
    reason TEXT,
    credited_nano INTEGER CHECK (0 < credited_nano),
    entry BLOB CHECK (length(entry) = 16),
    created_ms INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    -- Money is there with a transaction that moved it, and only then.
    CHECK ((state = 'CREDITED') = (credited_nano IS NOT NULL)),
    CHECK ((state = 'CREDITED') = (entry IS NOT NULL)),
    CHECK (state <> 'CREDITED' OR transaction_id IS NOT NULL),
    CHECK (state <> 'FAILED' OR reason IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX claim_once ON claim (network, asset, payer, nonce);
CREATE INDEX claim_unfinished ON claim (created_ms, id)
    WHERE state IN ('VERIFIED', 'SUBMITTED', 'UNKNOWN');
CREATE INDEX claim_failed ON claim (changed_ms) WHERE state = 'FAILED';

CREATE TRIGGER claim_credited_never_changes BEFORE UPDATE ON claim WHEN old.state = 'CREDITED'
BEGIN SELECT RAISE (ABORT, 'a credited payment is never changed'); END;

CREATE TRIGGER claim_never_goes BEFORE DELETE ON claim WHEN old.state <> 'FAILED'
BEGIN SELECT RAISE (ABORT, 'only failed payments are forgotten'); END;
