-- Money. `transfer` is the truth and is only ever added to; the sums in `account`, `key_spend` and
-- `job_hold` are folds of it, kept in the same transaction so that a start reads no history.

-- A lot of an owner's money, or a system account, which has no owner. A lot can neither be
-- overdrawn nor lend what is pending for a job, and a closed one is empty.
CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    owner BLOB REFERENCES owner (id),
    currency TEXT NOT NULL CHECK (currency IN ('USD', 'DIEM', 'BUNDLED_CREDITS', 'VCU')),
    name TEXT NOT NULL,
    opened_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    is_closed INTEGER NOT NULL DEFAULT 0 CHECK (is_closed IN (0, 1)),
    granted INTEGER NOT NULL DEFAULT 0,
    debits INTEGER NOT NULL DEFAULT 0 CHECK (0 <= debits),
    credits INTEGER NOT NULL DEFAULT 0 CHECK (0 <= credits),
    pending INTEGER NOT NULL DEFAULT 0 CHECK (0 <= pending),
    CHECK (owner IS NULL OR debits + pending <= credits),
    CHECK (is_closed = 0 OR debits + pending = credits)
) STRICT;

CREATE UNIQUE INDEX account_of_owner ON account (owner, currency, name) WHERE owner IS NOT NULL;
CREATE UNIQUE INDEX account_of_system ON account (currency, name) WHERE owner IS NULL;
CREATE INDEX account_open ON account (id) WHERE is_closed = 0;

CREATE TABLE transfer (
    seq INTEGER PRIMARY KEY,
    entry BLOB NOT NULL CHECK (length(entry) = 16),
    leg INTEGER NOT NULL CHECK (0 <= leg),
    debit INTEGER NOT NULL REFERENCES account (id),
    credit INTEGER NOT NULL REFERENCES account (id),
    amount INTEGER NOT NULL CHECK (0 < amount),
    code INTEGER NOT NULL CHECK (code BETWEEN 1 AND 8),
    at_ms INTEGER NOT NULL,
    key BLOB REFERENCES api_key (id),
    key_day INTEGER CHECK ((key_day IS NULL) = (key IS NULL)),
    key_month INTEGER CHECK ((key_month IS NULL) = (key IS NULL)),
    CHECK (debit <> credit)
) STRICT;

-- The long memory of what was done: a command that is sent again meets its own rows.
CREATE UNIQUE INDEX transfer_once ON transfer (entry, leg);

CREATE TRIGGER transfer_never_changes BEFORE UPDATE ON transfer
BEGIN SELECT RAISE (ABORT, 'the journal is only added to'); END;

CREATE TRIGGER transfer_never_goes BEFORE DELETE ON transfer
BEGIN SELECT RAISE (ABORT, 'the journal is only added to'); END;

-- What an owner gets each day or month, and the newest period that was handed out.
CREATE TABLE allowance (
    owner BLOB NOT NULL REFERENCES owner (id),
    kind TEXT NOT NULL CHECK (kind IN ('DIEM_DAILY', 'BUNDLED_MONTHLY')),
    amount INTEGER NOT NULL DEFAULT 0 CHECK (0 <= amount),
    opened_period INTEGER,
    PRIMARY KEY (owner, kind)
) STRICT, WITHOUT ROWID;

-- Changes of allowances need no transfer, so they have a memory of their own.
CREATE TABLE allowance_change (
    entry BLOB PRIMARY KEY CHECK (length(entry) = 16),
    owner BLOB NOT NULL REFERENCES owner (id),
    kind TEXT NOT NULL,
    amount INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a key spent in the newest day and month that it spent anything in, and ever.
CREATE TABLE key_spend (
    key BLOB NOT NULL,
    class TEXT NOT NULL CHECK (class IN ('USD', 'DIEM')),
    day INTEGER NOT NULL,
    day_spent INTEGER NOT NULL,
    month INTEGER NOT NULL,
    month_spent INTEGER NOT NULL,
    lifetime_spent INTEGER NOT NULL,
    PRIMARY KEY (key, class)
) STRICT, WITHOUT ROWID;

-- Holds of jobs that outlive the process; the row goes when the hold ends.
CREATE TABLE job_hold (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    owner BLOB NOT NULL REFERENCES owner (id),
    made_ms INTEGER NOT NULL,
    key BLOB REFERENCES api_key (id),
    limit_usd INTEGER,
    limit_diem INTEGER,
    limit_period TEXT,
    key_day INTEGER,
    key_month INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE job_hold_leg (
    hold BLOB NOT NULL REFERENCES job_hold (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    account INTEGER NOT NULL REFERENCES account (id),
    amount INTEGER NOT NULL CHECK (0 < amount),
    PRIMARY KEY (hold, position)
) STRICT, WITHOUT ROWID;
