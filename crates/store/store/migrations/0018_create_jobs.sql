-- Work that is queued: music and videos. A job is there together with the hold that pays for it,
-- and ends in the transaction that charges for it or gives the money back. Every step names the
-- fence that it expects, so that a worker which was given up for dead changes nothing any more.
CREATE TABLE job (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    owner BLOB NOT NULL REFERENCES owner (id),
    key BLOB REFERENCES api_key (id),
    kind TEXT NOT NULL CHECK (kind IN ('MUSIC', 'VIDEO')),
    model TEXT NOT NULL,
    -- What was asked for, as JSON; empty once the job has ended.
    request TEXT NOT NULL,
    -- What it costs when it succeeds, as JSON.
    charge TEXT NOT NULL,
    request_id TEXT NOT NULL,
    -- Another model, for a caller whose prompt this one's provider refuses.
    alternative TEXT,
    -- Whether the caller has a link to what becomes of it, and whether the link still opens it.
    has_link INTEGER NOT NULL CHECK (has_link IN (0, 1)),
    is_link_revoked INTEGER NOT NULL DEFAULT 0 CHECK (is_link_revoked IN (0, 1)),
    state TEXT NOT NULL
        CHECK (state IN ('QUEUED', 'RUNNING', 'UNKNOWN', 'COMPLETED', 'FAILED', 'REJECTED')),
    is_open INTEGER NOT NULL CHECK (is_open = (state IN ('QUEUED', 'RUNNING', 'UNKNOWN'))),
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (0 <= attempts),
    fence INTEGER NOT NULL DEFAULT 0 CHECK (0 <= fence),
    lease_until_ms INTEGER NOT NULL DEFAULT 0,
    due_ms INTEGER NOT NULL,
    -- A worker began to hand it in, and has not said how that ended.
    is_submitting INTEGER NOT NULL DEFAULT 0 CHECK (is_submitting IN (0, 1)),
    wants_cancel INTEGER NOT NULL DEFAULT 0 CHECK (wants_cancel IN (0, 1)),
    -- What its provider knows it by.
    ticket TEXT,
    queued_ms INTEGER NOT NULL,
    started_ms INTEGER,
    submitted_ms INTEGER,
    done_ms INTEGER,
    -- Why it ended without a result, as JSON.
    failure TEXT,
    media BLOB REFERENCES media (id),
    CHECK ((state = 'COMPLETED') = (media IS NOT NULL)),
    CHECK ((state IN ('FAILED', 'REJECTED')) = (failure IS NOT NULL)),
    CHECK ((is_open = 0) = (done_ms IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX job_open ON job (owner, queued_ms, id) WHERE is_open = 1;
CREATE INDEX job_done ON job (done_ms) WHERE is_open = 0;

CREATE TRIGGER job_ends_once BEFORE UPDATE ON job
    WHEN old.is_open = 0 AND (new.state <> old.state OR new.done_ms <> old.done_ms)
BEGIN SELECT RAISE (ABORT, 'a job ends once'); END;

-- What jobs made: one object each, in a store of objects, under a key that is here alone. Without
-- the key nobody can read the object, wherever copies of it are.
CREATE TABLE media (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    owner BLOB NOT NULL REFERENCES owner (id),
    bytes INTEGER NOT NULL CHECK (0 < bytes),
    content_type TEXT NOT NULL,
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    key BLOB CHECK (length(key) = 32),
    state TEXT NOT NULL CHECK (state IN ('STORED', 'DELETING', 'DELETED')),
    stored_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    CHECK ((state = 'STORED') = (key IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX media_expiring ON media (expires_ms) WHERE state = 'STORED';
CREATE INDEX media_deleting ON media (id) WHERE state = 'DELETING';

-- How long the last jobs of each model took.
CREATE TABLE job_timing (
    model TEXT NOT NULL,
    job BLOB NOT NULL CHECK (length(job) = 16),
    took_ms INTEGER NOT NULL CHECK (0 <= took_ms),
    PRIMARY KEY (model, job)
) STRICT, WITHOUT ROWID;
