-- Characters: personas that callers chat with, what they say of them, and who did.

CREATE TABLE character (
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    slug TEXT NOT NULL UNIQUE CHECK (length(slug) BETWEEN 1 AND 100),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    description TEXT NOT NULL CHECK (length(description) <= 2000),
    author TEXT NOT NULL CHECK (length(author) <= 100),
    -- One a line.
    tags TEXT NOT NULL,
    adult INTEGER NOT NULL CHECK (adult IN (0, 1)),
    featured INTEGER NOT NULL CHECK (featured IN (0, 1)),
    pro INTEGER NOT NULL CHECK (pro IN (0, 1)),
    web_enabled INTEGER NOT NULL CHECK (web_enabled IN (0, 1)),
    model TEXT,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    -- Kept by the triggers below.
    imports INTEGER NOT NULL DEFAULT 0 CHECK (0 <= imports),
    rating_count INTEGER NOT NULL DEFAULT 0 CHECK (0 <= rating_count),
    rating_sum INTEGER NOT NULL DEFAULT 0 CHECK (0 <= rating_sum),
    average REAL NOT NULL GENERATED ALWAYS AS
        (CASE rating_count WHEN 0 THEN 0.0 ELSE CAST(rating_sum AS REAL) / rating_count END) STORED
) STRICT;

CREATE INDEX character_by_imports ON character (adult, imports, seq);
CREATE INDEX character_by_creation ON character (adult, created_ms, seq);
CREATE INDEX character_by_rating_count ON character (adult, rating_count, seq);
CREATE INDEX character_by_average ON character (adult, average, seq);
CREATE INDEX character_featured ON character (adult, imports, seq) WHERE featured = 1;
CREATE INDEX character_highly_rated ON character (adult, average, seq) WHERE rating_count >= 2;
CREATE INDEX character_rated_and_recent ON character (adult, created_ms, seq) WHERE average >= 3.0;
CREATE INDEX character_by_model ON character (model) WHERE model IS NOT NULL;

-- What is not needed for lists, apart from them.
CREATE TABLE character_content (
    character INTEGER PRIMARY KEY REFERENCES character (seq) ON DELETE CASCADE,
    card TEXT NOT NULL,
    picture_type TEXT,
    picture BLOB CHECK (length(picture) <= 16777216)
) STRICT;

CREATE TABLE character_tag (
    tag TEXT NOT NULL,
    character INTEGER NOT NULL REFERENCES character (seq) ON DELETE CASCADE,
    PRIMARY KEY (tag, character)
) STRICT, WITHOUT ROWID;

CREATE INDEX character_tag_by_character ON character_tag (character, tag);

-- The words by which a character is found.
CREATE TABLE character_word (
    word TEXT NOT NULL,
    character INTEGER NOT NULL REFERENCES character (seq) ON DELETE CASCADE,
    PRIMARY KEY (word, character)
) STRICT, WITHOUT ROWID;

CREATE INDEX character_word_by_character ON character_word (character, word);

CREATE TABLE character_review (
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    character INTEGER NOT NULL REFERENCES character (seq) ON DELETE CASCADE,
    owner BLOB NOT NULL REFERENCES owner (id),
    rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5),
    message TEXT NOT NULL CHECK (length(message) <= 2000),
    locale TEXT NOT NULL CHECK (length(locale) <= 35),
    username TEXT NOT NULL CHECK (length(username) <= 100),
    created_ms INTEGER NOT NULL,
    UNIQUE (character, owner)
) STRICT;

CREATE TRIGGER character_review_added AFTER INSERT ON character_review BEGIN
    UPDATE character SET rating_count = rating_count + 1, rating_sum = rating_sum + NEW.rating
    WHERE seq = NEW.character;
END;

CREATE TRIGGER character_review_removed AFTER DELETE ON character_review BEGIN
    UPDATE character SET rating_count = rating_count - 1, rating_sum = rating_sum - OLD.rating
    WHERE seq = OLD.character;
END;

-- Who has chatted with a character.
CREATE TABLE character_use (
    character INTEGER NOT NULL REFERENCES character (seq) ON DELETE CASCADE,
    owner BLOB NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (character, owner)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER character_use_added AFTER INSERT ON character_use BEGIN
    UPDATE character SET imports = imports + 1 WHERE seq = NEW.character;
END;
