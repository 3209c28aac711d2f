-- Who has money and keys. Amounts are nano-units, times are milliseconds since 1970, ids are UUIDs.

CREATE TABLE owner (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    kind TEXT NOT NULL CHECK (kind IN ('account', 'evm', 'solana')),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
    tier TEXT NOT NULL DEFAULT 'default',
    created_ms INTEGER NOT NULL,
    UNIQUE (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    owner BLOB NOT NULL REFERENCES owner (id),
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    last6 TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('INFERENCE', 'ADMIN')),
    description TEXT NOT NULL,
    limit_usd INTEGER CHECK (0 <= limit_usd),
    limit_diem INTEGER CHECK (0 <= limit_diem),
    limit_period TEXT NOT NULL CHECK (limit_period IN ('EPOCH', 'MONTH', 'LIFETIME')),
    expires_ms INTEGER,
    created_ms INTEGER NOT NULL,
    last_used_ms INTEGER,
    revoked_ms INTEGER
) STRICT, WITHOUT ROWID;

-- Lists of an owner's keys come newest first. Revoked keys stay for the usage that names them,
-- and are listed nowhere.
CREATE INDEX api_key_by_owner ON api_key (owner, created_ms) WHERE revoked_ms IS NULL;

-- Requests that a rate limit refused: the last fifty of each owner.
CREATE TABLE limit_hit (
    seq INTEGER PRIMARY KEY,
    owner BLOB NOT NULL REFERENCES owner (id),
    key BLOB REFERENCES api_key (id),
    model TEXT NOT NULL,
    tier TEXT NOT NULL,
    kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX limit_hit_by_owner ON limit_hit (owner, seq);

-- What the installation knows about itself, such as the pepper of its keys.
CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
