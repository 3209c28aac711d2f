-- Files of callers: what a batch reads and what it wrote. The content is an object of `media` with
-- the same id. A file that was deleted or has expired has a row until its object is gone.
CREATE TABLE file (
    id UUID PRIMARY KEY REFERENCES media (id),
    owner UUID NOT NULL REFERENCES owner (id),
    name TEXT NOT NULL,
    purpose TEXT COLLATE "C" NOT NULL CHECK (purpose IN ('batch', 'batch_output')),
    bytes BIGINT NOT NULL CHECK (0 < bytes),
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    is_deleted BOOLEAN NOT NULL DEFAULT FALSE
);

CREATE INDEX file_live ON file (owner, id) WHERE NOT is_deleted;

CREATE INDEX media_deleted ON media (id) WHERE state = 'DELETED';

-- Batches of calls. The counters are changed in the transaction that adds a line's result.
CREATE TABLE call_batch (
    id UUID PRIMARY KEY,
    owner UUID NOT NULL REFERENCES owner (id),
    -- The credential and country with which it was created.
    caller TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    -- Not a reference: the file may be deleted once the batch has ended.
    input_file UUID NOT NULL,
    -- Tags of the caller, as JSON.
    metadata TEXT,
    -- Time that output files are kept, if the caller chose one.
    keep_output_ms BIGINT CHECK (0 < keep_output_ms),
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('validating', 'in_progress', 'finalizing',
        'cancelling', 'completed', 'failed', 'expired', 'cancelled')),
    is_open BOOLEAN NOT NULL GENERATED ALWAYS AS
        (state IN ('validating', 'in_progress', 'finalizing', 'cancelling')) STORED,
    -- Faults of the input file, as JSON.
    errors TEXT,
    -- The key of the results; destroyed when they are in files.
    result_key BYTEA CHECK (length(result_key) = 32),
    lines BIGINT NOT NULL DEFAULT 0 CHECK (0 <= lines),
    completed BIGINT NOT NULL DEFAULT 0 CHECK (0 <= completed),
    failed BIGINT NOT NULL DEFAULT 0 CHECK (0 <= failed),
    result_bytes BIGINT NOT NULL DEFAULT 0 CHECK (0 <= result_bytes),
    -- What was charged, by currency: in DIEM, and in all others.
    cost_usd BIGINT NOT NULL DEFAULT 0 CHECK (0 <= cost_usd),
    cost_diem BIGINT NOT NULL DEFAULT 0 CHECK (0 <= cost_diem),
    output_file UUID,
    error_file UUID,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    started_ms BIGINT,
    finalizing_ms BIGINT,
    cancelling_ms BIGINT,
    ended_ms BIGINT,
    -- True while results may be in `call_batch_line`.
    has_lines BOOLEAN NOT NULL DEFAULT TRUE,
    CHECK ((state IN ('validating', 'in_progress', 'finalizing', 'cancelling'))
        = (result_key IS NOT NULL)),
    CHECK ((state IN ('completed', 'failed', 'expired', 'cancelled')) = (ended_ms IS NOT NULL)),
    CHECK ((state = 'failed') = (errors IS NOT NULL))
) WITH (fillfactor = 70);

CREATE INDEX call_batch_of_owner ON call_batch (owner, id);
CREATE INDEX call_batch_open ON call_batch (owner, id) WHERE is_open;
CREATE INDEX call_batch_of_input ON call_batch (input_file) WHERE is_open;
CREATE INDEX call_batch_to_clear ON call_batch (id) WHERE NOT is_open AND has_lines;
CREATE INDEX call_batch_ended ON call_batch (ended_ms) WHERE NOT is_open;

CREATE TRIGGER call_batch_ends_once BEFORE UPDATE ON call_batch
    FOR EACH ROW
    WHEN (NOT OLD.is_open AND (NEW.state <> OLD.state OR NEW.ended_ms <> OLD.ended_ms))
    EXECUTE FUNCTION refuse('a batch ends once');

-- The results of a batch's lines until they are in files, sealed with its key. A line that was
-- charged is here together with its charge, once.
CREATE TABLE call_batch_line (
    batch UUID NOT NULL REFERENCES call_batch (id),
    -- The line's number in the file, from one.
    line BIGINT NOT NULL CHECK (0 < line),
    charge UUID,
    is_failed BOOLEAN NOT NULL,
    result BYTEA NOT NULL,
    PRIMARY KEY (batch, line),
    CHECK (NOT is_failed OR charge IS NULL)
);
