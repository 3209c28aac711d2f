-- Responses of models that callers asked to keep, or that run without a connection. What was said is
-- sealed with a key that is in this row alone; without the key nobody can read it, wherever copies
-- of it are.
CREATE TABLE model_response (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    owner BLOB NOT NULL REFERENCES owner (id),
    state TEXT NOT NULL CHECK (state IN
        ('QUEUED', 'IN_PROGRESS', 'COMPLETED', 'INCOMPLETE', 'FAILED', 'CANCELLED')),
    model TEXT NOT NULL,
    -- The response that it continues, and the number of responses before it.
    previous BLOB CHECK (length(previous) = 16),
    depth INTEGER NOT NULL CHECK (0 <= depth),
    conversation BLOB CHECK (length(conversation) = 16),
    is_background INTEGER NOT NULL CHECK (is_background IN (0, 1)),
    is_streamed INTEGER NOT NULL CHECK (is_streamed IN (0, 1)),
    -- The size before encryption.
    bytes INTEGER NOT NULL CHECK (0 <= bytes),
    -- Absent once it is deleted.
    key BLOB CHECK (length(key) = 32),
    input BLOB NOT NULL,
    output BLOB,
    usd_nano INTEGER NOT NULL CHECK (0 <= usd_nano),
    diem_nano INTEGER NOT NULL CHECK (0 <= diem_nano),
    -- The worker that runs it: every step names the fence that it expects.
    fence INTEGER NOT NULL CHECK (0 <= fence),
    lease_until_ms INTEGER NOT NULL,
    wants_cancel INTEGER NOT NULL CHECK (wants_cancel IN (0, 1)),
    -- The events that are stored; the next has this number.
    events INTEGER NOT NULL CHECK (0 <= events),
    created_ms INTEGER NOT NULL,
    started_ms INTEGER,
    ended_ms INTEGER,
    expires_ms INTEGER NOT NULL,
    CHECK ((state IN ('QUEUED', 'IN_PROGRESS')) = (ended_ms IS NULL)),
    CHECK (is_background = 1 OR ended_ms IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE INDEX model_response_of_owner ON model_response (owner, id, bytes) WHERE key IS NOT NULL;
CREATE INDEX model_response_open ON model_response (owner, created_ms, id) WHERE ended_ms IS NULL;
CREATE INDEX model_response_expiring ON model_response (expires_ms) WHERE ended_ms IS NOT NULL;
CREATE INDEX model_response_deleted ON model_response (id) WHERE key IS NULL;

CREATE TRIGGER model_response_ends_once BEFORE UPDATE ON model_response
    WHEN old.ended_ms IS NOT NULL
    AND (new.state <> old.state OR new.ended_ms IS NOT old.ended_ms)
BEGIN SELECT RAISE (ABORT, 'a response ends once'); END;

-- Events of a background response that is streamed: those with the numbers from `first` to `last`,
-- sealed with the key of the response.
CREATE TABLE response_event (
    response BLOB NOT NULL CHECK (length(response) = 16),
    first INTEGER NOT NULL CHECK (0 <= first),
    last INTEGER NOT NULL CHECK (first <= last),
    sealed BLOB NOT NULL,
    PRIMARY KEY (response, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE conversation (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    owner BLOB NOT NULL REFERENCES owner (id),
    key BLOB CHECK (length(key) = 32),
    metadata BLOB NOT NULL,
    bytes INTEGER NOT NULL CHECK (0 <= bytes),
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX conversation_of_owner ON conversation (owner, id, bytes) WHERE key IS NOT NULL;
CREATE INDEX conversation_expiring ON conversation (expires_ms);

-- Each item has a key of its own, so that it can be deleted alone.
CREATE TABLE conversation_item (
    conversation BLOB NOT NULL CHECK (length(conversation) = 16),
    position INTEGER NOT NULL CHECK (0 <= position),
    item TEXT NOT NULL,
    owner BLOB NOT NULL REFERENCES owner (id),
    key BLOB CHECK (length(key) = 32),
    sealed BLOB NOT NULL,
    bytes INTEGER NOT NULL CHECK (0 <= bytes),
    PRIMARY KEY (conversation, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX conversation_item_of_owner ON conversation_item (owner, bytes) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX conversation_item_by_name ON conversation_item (conversation, item);
CREATE INDEX conversation_item_deleted ON conversation_item (conversation) WHERE key IS NULL;
