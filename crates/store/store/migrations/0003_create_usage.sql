-- What was charged for, line by line: read by its owner, and prunable, because balances and
-- totals do not depend on it. Owners and keys are not checked again here: each row is written with
-- transfers whose accounts and key are, and checking them would cost a tenth of every charge.

CREATE TABLE usage (
    seq INTEGER PRIMARY KEY,
    charge BLOB NOT NULL,
    owner BLOB NOT NULL,
    key BLOB,
    at_ms INTEGER NOT NULL,
    sku TEXT NOT NULL,
    model TEXT NOT NULL,
    currency TEXT NOT NULL,
    units INTEGER NOT NULL CHECK (0 <= units),
    price_pico INTEGER NOT NULL CHECK (0 <= price_pico),
    price_per INTEGER NOT NULL CHECK (price_per IN (1, 1000, 1000000)),
    amount INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    execution_ms INTEGER,
    notes TEXT NOT NULL
) STRICT;

-- Where an owner's rows are, in the order they are read: counting and finding a page look at these
-- alone. An index would change one page of the file for every owner in a batch, and most of what a
-- charge writes would be that; so rows are placed here thousands at a time. Those after
-- `through_seq` are not placed yet, and are few enough to be looked through.
CREATE TABLE usage_place (
    owner BLOB NOT NULL,
    at_ms INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    currency TEXT NOT NULL,
    PRIMARY KEY (owner, at_ms, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_placed (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    through_seq INTEGER NOT NULL
) STRICT;

INSERT INTO usage_placed (one, through_seq) VALUES (1, 0);

-- The same amounts summed by UTC day, in the transaction that adds the rows. Totals, analytics
-- and the number of pages come from here, so they cost the same however long the history is.
-- An empty `key` stands for a wallet, which has none.
CREATE TABLE usage_daily (
    owner BLOB NOT NULL,
    day INTEGER NOT NULL,
    currency TEXT NOT NULL,
    key BLOB NOT NULL,
    model TEXT NOT NULL,
    sku TEXT NOT NULL,
    row_count INTEGER NOT NULL CHECK (0 <= row_count),
    units INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (owner, day, currency, key, model, sku)
) STRICT, WITHOUT ROWID;
