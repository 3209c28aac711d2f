//! Statements for characters, their reviews, and the accounts that chatted with them.

use ledger_core::OwnerId;
use store::character::{CharacterContent, CharacterReview, CharacterWrite, StoredCharacter};
use store::error::StoreError;
use uuid::Uuid;

use crate::columns::{to_optional_sql_text, to_sql_text};
use crate::statements::{SqlStatements, Value, values};

const MISSING: StoreError = StoreError::Missing("there is no such character");

const ADD: &str = "INSERT INTO character (id, slug, name, description, author, tags, adult, \
    featured, pro, web_enabled, model, updated_ms, created_ms) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

const ADD_CONTENT: &str = "INSERT INTO character_content \
    (character, card, picture_type, picture) SELECT seq, $2, $3, $4 FROM character WHERE id = $1";

const ADD_TAGS: &str = "INSERT INTO character_tag (tag, character) \
    SELECT tag, seq FROM character, unnest($2::text[]) AS added (tag) WHERE id = $1 \
    ON CONFLICT DO NOTHING";

const ADD_WORDS: &str = "INSERT INTO character_word (word, character) \
    SELECT word, seq FROM character, unnest($2::text[]) AS added (word) WHERE id = $1 \
    ON CONFLICT DO NOTHING";

const CHANGE: &str = "UPDATE character SET slug = $2, name = $3, description = $4, author = $5, \
    tags = $6, adult = $7, featured = $8, pro = $9, web_enabled = $10, model = $11, \
    updated_ms = $12 WHERE id = $1";

const CHANGE_CARD: &str = "UPDATE character_content SET card = $2 \
    WHERE character = (SELECT seq FROM character WHERE id = $1)";

const CHANGE_PICTURE: &str = "UPDATE character_content SET picture_type = $2, picture = $3 \
    WHERE character = (SELECT seq FROM character WHERE id = $1)";

const DROP_TAGS: &str =
    "DELETE FROM character_tag WHERE character = (SELECT seq FROM character WHERE id = $1)";

const DROP_WORDS: &str =
    "DELETE FROM character_word WHERE character = (SELECT seq FROM character WHERE id = $1)";

const DROP_REVIEW: &str = "DELETE FROM character_review \
    WHERE character = (SELECT seq FROM character WHERE id = $1) AND owner = $2";

const ADD_REVIEW: &str = "INSERT INTO character_review \
    (id, character, owner, rating, message, locale, username, created_ms) \
    SELECT $2, seq, $3, $4, $5, $6, $7, $8 FROM character WHERE id = $1";

/// Counts an account once. No effect if the character was deleted.
const NOTE_USE: &str = "INSERT INTO character_use (character, owner, at_ms) \
    SELECT seq, $2, $3 FROM character WHERE id = $1 ON CONFLICT DO NOTHING";

pub(crate) fn post_character<'a>(statements: &mut SqlStatements<'a>, write: &'a CharacterWrite) {
    match write {
        CharacterWrite::Add { character, content } => add_character(statements, character, content),
        CharacterWrite::Change { character, content } => {
            change_character(statements, character, content)
        }
        CharacterWrite::Remove(id) => remove_character(statements, *id),
        CharacterWrite::PutReview(review) => put_review(statements, review),
        CharacterWrite::NoteUse { character, owner, at } => {
            note_use(statements, *character, *owner, at.ms());
        }
    }
}

fn add_character<'a>(
    statements: &mut SqlStatements<'a>,
    character: &'a StoredCharacter,
    content: &'a CharacterContent,
) {
    let mut values = character_values(character);
    values.extend(values![character.created.ms()]);
    statements.add(ADD, values);
    let picture = content.picture.as_ref();
    let values = values![
        character.id,
        to_sql_text(&content.card),
        picture.map(|picture| to_sql_text(&picture.media_type)),
        picture.map(|picture| picture.bytes.as_slice()),
    ];
    statements.add(ADD_CONTENT, values);
    add_words(statements, character, content);
}

/// Changes everything but the counters; the picture only if there is a new one.
fn change_character<'a>(
    statements: &mut SqlStatements<'a>,
    character: &'a StoredCharacter,
    content: &'a CharacterContent,
) {
    statements.add_one(CHANGE, character_values(character), MISSING);
    statements.add(CHANGE_CARD, values![character.id, to_sql_text(&content.card)]);
    if let Some(picture) = &content.picture {
        let values =
            values![character.id, to_sql_text(&picture.media_type), picture.bytes.as_slice()];
        statements.add(CHANGE_PICTURE, values);
    }
    statements.add(DROP_TAGS, values![character.id]);
    statements.add(DROP_WORDS, values![character.id]);
    add_words(statements, character, content);
}

fn remove_character(statements: &mut SqlStatements<'_>, id: Uuid) {
    statements.add_one("DELETE FROM character WHERE id = $1", values![id], MISSING);
}

/// Replaces the account's earlier review, and its share of the sums.
fn put_review<'a>(statements: &mut SqlStatements<'a>, review: &'a CharacterReview) {
    statements.add(DROP_REVIEW, values![review.character, review.owner.0]);
    let values = values![
        review.character,
        review.id,
        review.owner.0,
        i64::from(review.rating),
        to_sql_text(&review.message),
        to_sql_text(&review.locale),
        to_sql_text(&review.username),
        review.created.ms(),
    ];
    statements.add_one(ADD_REVIEW, values, MISSING);
}

fn note_use(statements: &mut SqlStatements<'_>, character: Uuid, owner: OwnerId, at_ms: i64) {
    statements.add(NOTE_USE, values![character, owner.0, at_ms]);
}

fn character_values(character: &StoredCharacter) -> Vec<Value<'_>> {
    values![
        character.id,
        to_sql_text(&character.slug),
        to_sql_text(&character.name),
        to_sql_text(&character.description),
        to_sql_text(&character.author),
        to_sql_text(&character.tags.join("\n")).into_owned(),
        character.adult,
        character.featured,
        character.pro,
        character.web_enabled,
        to_optional_sql_text(character.model.as_ref()),
        character.updated.ms(),
    ]
}

fn add_words<'a>(
    statements: &mut SqlStatements<'a>,
    character: &'a StoredCharacter,
    content: &'a CharacterContent,
) {
    let tags: Vec<String> =
        character.tags.iter().map(|tag| to_sql_text(&tag.to_lowercase()).into_owned()).collect();
    let words: Vec<_> = content.words.iter().map(|word| to_sql_text(word)).collect();
    statements.add(ADD_TAGS, values![character.id, tags]);
    statements.add(ADD_WORDS, values![character.id, words]);
}
