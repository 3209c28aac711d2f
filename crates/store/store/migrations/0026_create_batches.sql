-- Files of callers: what a batch reads and what it wrote. The content is an object of `media` with
-- the same id. A file that was deleted or has expired has a row until its object is gone.
CREATE TABLE file (
    id BLOB PRIMARY KEY CHECK (length(id) = 16) REFERENCES media (id),
    owner BLOB NOT NULL REFERENCES owner (id),
    name TEXT NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('batch', 'batch_output')),
    bytes INTEGER NOT NULL CHECK (0 < bytes),
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    is_deleted INTEGER NOT NULL DEFAULT 0 CHECK (is_deleted IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE INDEX file_live ON file (owner, id) WHERE is_deleted = 0;

CREATE INDEX media_deleted ON media (id) WHERE state = 'DELETED';

-- Batches of calls. The counters are changed in the transaction that adds a line's result.
CREATE TABLE call_batch (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    owner BLOB NOT NULL REFERENCES owner (id),
    -- The credential and country with which it was created.
    caller TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    -- Not a reference: the file may be deleted once the batch has ended.
    input_file BLOB NOT NULL CHECK (length(input_file) = 16),
    -- Tags of the caller, as JSON.
    metadata TEXT,
    -- Time that output files are kept, if the caller chose one.
    keep_output_ms INTEGER CHECK (0 < keep_output_ms),
    state TEXT NOT NULL CHECK (state IN ('validating', 'in_progress', 'finalizing', 'cancelling',
        'completed', 'failed', 'expired', 'cancelled')),
    is_open INTEGER NOT NULL
        CHECK (is_open = (state IN ('validating', 'in_progress', 'finalizing', 'cancelling'))),
    -- Faults of the input file, as JSON.
    errors TEXT,
    -- The key of the results; destroyed when they are in files.
    result_key BLOB CHECK (length(result_key) = 32),
    lines INTEGER NOT NULL DEFAULT 0 CHECK (0 <= lines),
    completed INTEGER NOT NULL DEFAULT 0 CHECK (0 <= completed),
    failed INTEGER NOT NULL DEFAULT 0 CHECK (0 <= failed),
    result_bytes INTEGER NOT NULL DEFAULT 0 CHECK (0 <= result_bytes),
    -- What was charged, by currency: in DIEM, and in all others.
    cost_usd INTEGER NOT NULL DEFAULT 0 CHECK (0 <= cost_usd),
    cost_diem INTEGER NOT NULL DEFAULT 0 CHECK (0 <= cost_diem),
    output_file BLOB CHECK (length(output_file) = 16),
    error_file BLOB CHECK (length(error_file) = 16),
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    started_ms INTEGER,
    finalizing_ms INTEGER,
    cancelling_ms INTEGER,
    ended_ms INTEGER,
    -- True while results may be in `call_batch_line`.
    has_lines INTEGER NOT NULL DEFAULT 1 CHECK (has_lines IN (0, 1)),
    CHECK ((is_open = 1) = (result_key IS NOT NULL)),
    CHECK ((is_open = 0) = (ended_ms IS NOT NULL)),
    CHECK ((state = 'failed') = (errors IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX call_batch_of_owner ON call_batch (owner, id);
CREATE INDEX call_batch_open ON call_batch (owner, id) WHERE is_open = 1;
CREATE INDEX call_batch_of_input ON call_batch (input_file) WHERE is_open = 1;
CREATE INDEX call_batch_to_clear ON call_batch (id) WHERE is_open = 0 AND has_lines = 1;
CREATE INDEX call_batch_ended ON call_batch (ended_ms) WHERE is_open = 0;

CREATE TRIGGER call_batch_ends_once BEFORE UPDATE ON call_batch
    WHEN old.is_open = 0 AND (new.state <> old.state OR new.ended_ms <> old.ended_ms)
BEGIN SELECT RAISE (ABORT, 'a batch ends once'); END;

-- The results of a batch's lines until they are in files, sealed with its key. A line that was
-- charged is here together with its charge, once.
CREATE TABLE call_batch_line (
    batch BLOB NOT NULL REFERENCES call_batch (id),
    -- The line's number in the file, from one.
    line INTEGER NOT NULL CHECK (0 < line),
    charge BLOB CHECK (length(charge) = 16),
    is_failed INTEGER NOT NULL CHECK (is_failed IN (0, 1)),
    result BLOB NOT NULL,
    PRIMARY KEY (batch, line),
    CHECK (is_failed = 0 OR charge IS NULL)
) STRICT;
