-- Jobs with what they made, and characters.

----- Jobs and what they made ---------------------------------------------------------------------

-- What jobs made: one object each, in a store of objects, under a key that is here alone. Without
-- the key nobody can read the object, wherever copies of it are.
CREATE TABLE media (
    id UUID PRIMARY KEY,
    owner UUID NOT NULL REFERENCES owner (id),
    bytes BIGINT NOT NULL CHECK (0 < bytes),
    content_type TEXT NOT NULL,
    sha256 BYTEA NOT NULL CHECK (length(sha256) = 32),
    key BYTEA CHECK (length(key) = 32),
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('STORED', 'DELETING', 'DELETED')),
    stored_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    CHECK ((state = 'STORED') = (key IS NOT NULL))
);

CREATE INDEX media_expiring ON media (expires_ms) WHERE state = 'STORED';
CREATE INDEX media_deleting ON media (id) WHERE state = 'DELETING';

-- Work that is queued: music and videos. A job is there together with the hold that pays for it,
-- and ends in the transaction that charges for it or gives the money back. Every step names the
-- fence that it expects, so that a worker which was given up for dead changes nothing any more.
CREATE TABLE job (
    id UUID PRIMARY KEY,
    owner UUID NOT NULL REFERENCES owner (id),
    key UUID REFERENCES api_key (id),
    kind TEXT NOT NULL CHECK (kind IN ('MUSIC', 'VIDEO')),
    model TEXT COLLATE "C" NOT NULL,
    -- What was asked for, as JSON; empty once the job has ended.
    request TEXT NOT NULL,
    -- What it costs when it succeeds, as JSON.
    charge TEXT NOT NULL,
    request_id TEXT NOT NULL,
    -- Another model, for a caller whose prompt this one's provider refuses.
    alternative TEXT,
    -- Whether the caller has a link to what becomes of it, and whether the link still opens it.
    has_link BOOLEAN NOT NULL,
    is_link_revoked BOOLEAN NOT NULL DEFAULT FALSE,
    state TEXT COLLATE "C" NOT NULL
        CHECK (state IN ('QUEUED', 'RUNNING', 'UNKNOWN', 'COMPLETED', 'FAILED', 'REJECTED')),
    is_open BOOLEAN NOT NULL
        GENERATED ALWAYS AS (state IN ('QUEUED', 'RUNNING', 'UNKNOWN')) STORED,
    attempts BIGINT NOT NULL DEFAULT 0 CHECK (0 <= attempts),
    fence BIGINT NOT NULL DEFAULT 0 CHECK (0 <= fence),
    lease_until_ms BIGINT NOT NULL DEFAULT 0,
    due_ms BIGINT NOT NULL,
    -- A worker began to hand it in, and has not said how that ended.
    is_submitting BOOLEAN NOT NULL DEFAULT FALSE,
    wants_cancel BOOLEAN NOT NULL DEFAULT FALSE,
    -- What its provider knows it by.
    ticket TEXT,
    queued_ms BIGINT NOT NULL,
    started_ms BIGINT,
    submitted_ms BIGINT,
    done_ms BIGINT,
    -- Why it ended without a result, as JSON.
    failure TEXT,
    media UUID REFERENCES media (id),
    CHECK ((state = 'COMPLETED') = (media IS NOT NULL)),
    CHECK ((state IN ('FAILED', 'REJECTED')) = (failure IS NOT NULL)),
    CHECK ((state IN ('COMPLETED', 'FAILED', 'REJECTED')) = (done_ms IS NOT NULL))
);

CREATE INDEX job_open ON job (owner, queued_ms, id) WHERE is_open;
CREATE INDEX job_done ON job (done_ms) WHERE NOT is_open;
CREATE INDEX job_of_media ON job (media) WHERE media IS NOT NULL;

CREATE TRIGGER job_ends_once BEFORE UPDATE ON job
    FOR EACH ROW
    WHEN (NOT OLD.is_open AND (NEW.state <> OLD.state OR NEW.done_ms <> OLD.done_ms))
    EXECUTE FUNCTION refuse('a job ends once');

-- How long the last jobs of each model took.
CREATE TABLE job_timing (
    model TEXT COLLATE "C" NOT NULL,
    job UUID NOT NULL,
    took_ms BIGINT NOT NULL CHECK (0 <= took_ms),
    PRIMARY KEY (model, job)
);

----- Characters ----------------------------------------------------------------------------------

-- Characters: personas that callers chat with, what they say of them, and who did.
CREATE TABLE character (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    slug TEXT COLLATE "C" NOT NULL UNIQUE CHECK (length(slug) BETWEEN 1 AND 100),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    description TEXT NOT NULL CHECK (length(description) <= 2000),
    author TEXT NOT NULL CHECK (length(author) <= 100),
    -- One a line.
    tags TEXT NOT NULL,
    adult BOOLEAN NOT NULL,
    featured BOOLEAN NOT NULL,
    pro BOOLEAN NOT NULL,
    web_enabled BOOLEAN NOT NULL,
    model TEXT COLLATE "C",
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    -- Kept by the triggers below.
    imports BIGINT NOT NULL DEFAULT 0 CHECK (0 <= imports),
    rating_count BIGINT NOT NULL DEFAULT 0 CHECK (0 <= rating_count),
    rating_sum BIGINT NOT NULL DEFAULT 0 CHECK (0 <= rating_sum),
    average DOUBLE PRECISION NOT NULL GENERATED ALWAYS AS
        (CASE rating_count WHEN 0 THEN 0 ELSE rating_sum::DOUBLE PRECISION / rating_count END)
        STORED
);

CREATE INDEX character_by_imports ON character (adult, imports, seq);
CREATE INDEX character_by_creation ON character (adult, created_ms, seq);
CREATE INDEX character_by_rating_count ON character (adult, rating_count, seq);
CREATE INDEX character_by_average ON character (adult, average, seq);
CREATE INDEX character_featured ON character (adult, imports, seq) WHERE featured;
CREATE INDEX character_highly_rated ON character (adult, average, seq) WHERE rating_count >= 2;
CREATE INDEX character_rated_and_recent ON character (adult, created_ms, seq) WHERE average >= 3;
CREATE INDEX character_by_model ON character (model) WHERE model IS NOT NULL;

-- What is not needed for lists, apart from them.
CREATE TABLE character_content (
    character BIGINT PRIMARY KEY REFERENCES character (seq) ON DELETE CASCADE,
    card TEXT NOT NULL,
    picture_type TEXT,
    picture BYTEA CHECK (length(picture) <= 16777216)
);

CREATE TABLE character_tag (
    tag TEXT COLLATE "C" NOT NULL,
    character BIGINT NOT NULL REFERENCES character (seq) ON DELETE CASCADE,
    PRIMARY KEY (tag, character)
);

CREATE INDEX character_tag_by_character ON character_tag (character, tag);

-- The words by which a character is found.
CREATE TABLE character_word (
    word TEXT COLLATE "C" NOT NULL,
    character BIGINT NOT NULL REFERENCES character (seq) ON DELETE CASCADE,
    PRIMARY KEY (word, character)
);

CREATE INDEX character_word_by_character ON character_word (character, word);

CREATE TABLE character_review (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id UUID NOT NULL UNIQUE,
    character BIGINT NOT NULL REFERENCES character (seq) ON DELETE CASCADE,
    owner UUID NOT NULL REFERENCES owner (id),
    rating BIGINT NOT NULL CHECK (rating BETWEEN 1 AND 5),
    message TEXT NOT NULL CHECK (length(message) <= 2000),
    locale TEXT NOT NULL CHECK (length(locale) <= 35),
    username TEXT NOT NULL CHECK (length(username) <= 100),
    created_ms BIGINT NOT NULL,
    UNIQUE (character, owner)
);

CREATE FUNCTION character_review_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE character
        SET rating_count = rating_count + 1, rating_sum = rating_sum + NEW.rating
        WHERE seq = NEW.character;
    ELSE
        UPDATE character
        SET rating_count = rating_count - 1, rating_sum = rating_sum - OLD.rating
        WHERE seq = OLD.character;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER character_review_counted AFTER INSERT OR DELETE ON character_review
    FOR EACH ROW EXECUTE FUNCTION character_review_counted();

-- Who has chatted with a character.
CREATE TABLE character_use (
    character BIGINT NOT NULL REFERENCES character (seq) ON DELETE CASCADE,
    owner UUID NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (character, owner)
);

CREATE FUNCTION character_use_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE character SET imports = imports + 1 WHERE seq = NEW.character;
    RETURN NULL;
END $$;

CREATE TRIGGER character_use_counted AFTER INSERT ON character_use
    FOR EACH ROW EXECUTE FUNCTION character_use_counted();
