-- Responses of models that callers asked to keep, or that run without a connection. What was said is
-- sealed with a key that is in this row alone; without the key nobody can read it, wherever copies
-- of it are.
CREATE TABLE model_response (
    id UUID PRIMARY KEY,
    owner UUID NOT NULL REFERENCES owner (id),
    state TEXT COLLATE "C" NOT NULL CHECK (state IN
        ('QUEUED', 'IN_PROGRESS', 'COMPLETED', 'INCOMPLETE', 'FAILED', 'CANCELLED')),
    model TEXT COLLATE "C" NOT NULL,
    -- The response that it continues, and the number of responses before it.
    previous UUID,
    depth BIGINT NOT NULL CHECK (0 <= depth),
    conversation UUID,
    is_background BOOLEAN NOT NULL,
    is_streamed BOOLEAN NOT NULL,
    -- The size before encryption.
    bytes BIGINT NOT NULL CHECK (0 <= bytes),
    -- Absent once it is deleted.
    key BYTEA CHECK (length(key) = 32),
    input BYTEA NOT NULL,
    output BYTEA,
    usd_nano BIGINT NOT NULL CHECK (0 <= usd_nano),
    diem_nano BIGINT NOT NULL CHECK (0 <= diem_nano),
    -- The worker that runs it: every step names the fence that it expects.
    fence BIGINT NOT NULL CHECK (0 <= fence),
    lease_until_ms BIGINT NOT NULL,
    wants_cancel BOOLEAN NOT NULL,
    -- The events that are stored; the next has this number.
    events BIGINT NOT NULL CHECK (0 <= events),
    created_ms BIGINT NOT NULL,
    started_ms BIGINT,
    ended_ms BIGINT,
    expires_ms BIGINT NOT NULL,
    CHECK ((state IN ('QUEUED', 'IN_PROGRESS')) = (ended_ms IS NULL)),
    CHECK (is_background OR ended_ms IS NOT NULL)
);

CREATE INDEX model_response_of_owner ON model_response (owner, id, bytes) WHERE key IS NOT NULL;
CREATE INDEX model_response_open ON model_response (owner, created_ms, id) WHERE ended_ms IS NULL;
CREATE INDEX model_response_expiring ON model_response (expires_ms) WHERE ended_ms IS NOT NULL;
CREATE INDEX model_response_deleted ON model_response (id) WHERE key IS NULL;

CREATE TRIGGER model_response_ends_once BEFORE UPDATE ON model_response FOR EACH ROW
    WHEN (old.ended_ms IS NOT NULL
        AND (new.state <> old.state OR new.ended_ms IS DISTINCT FROM old.ended_ms))
    EXECUTE FUNCTION refuse('a response ends once');

-- Events of a background response that is streamed: those with the numbers from `first` to `last`,
-- sealed with the key of the response.
CREATE TABLE response_event (
    response UUID NOT NULL,
    first BIGINT NOT NULL CHECK (0 <= first),
    last BIGINT NOT NULL CHECK (first <= last),
    sealed BYTEA NOT NULL,
    PRIMARY KEY (response, first)
);

CREATE TABLE conversation (
    id UUID PRIMARY KEY,
    owner UUID NOT NULL REFERENCES owner (id),
    key BYTEA CHECK (length(key) = 32),
    metadata BYTEA NOT NULL,
    bytes BIGINT NOT NULL CHECK (0 <= bytes),
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL
);

CREATE INDEX conversation_of_owner ON conversation (owner, id, bytes) WHERE key IS NOT NULL;
CREATE INDEX conversation_expiring ON conversation (expires_ms);

-- Each item has a key of its own, so that it can be deleted alone.
CREATE TABLE conversation_item (
    conversation UUID NOT NULL,
    position BIGINT NOT NULL CHECK (0 <= position),
    item TEXT COLLATE "C" NOT NULL,
    owner UUID NOT NULL REFERENCES owner (id),
    key BYTEA CHECK (length(key) = 32),
    sealed BYTEA NOT NULL,
    bytes BIGINT NOT NULL CHECK (0 <= bytes),
    PRIMARY KEY (conversation, position)
);

CREATE INDEX conversation_item_of_owner ON conversation_item (owner, bytes) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX conversation_item_by_name ON conversation_item (conversation, item);
CREATE INDEX conversation_item_deleted ON conversation_item (conversation) WHERE key IS NULL;
