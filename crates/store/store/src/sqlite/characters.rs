//! Reads and writes the rows of characters.

mod listing;

use ledger_core::OwnerId;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::character::{
    CharacterContent, CharacterPicture, CharacterReview, CharacterWrite, ListedCharacter,
    ReviewPage, StoredCharacter,
};
use crate::error::StoreError;
use crate::sqlite::columns::{read_id, read_time};
use crate::sqlite::write_error::WriteError;

pub(crate) use listing::list_characters;

/// The columns for [`line_at`].
const COLUMNS: &str = "c.id, c.slug, c.name, c.description, c.author, c.tags, c.adult, c.featured, \
    c.pro, c.web_enabled, c.model, c.created_ms, c.updated_ms, c.imports, c.rating_count, \
    c.rating_sum, (SELECT rating FROM character_review WHERE character = c.seq AND owner = ?1)";

pub(crate) fn post_character(
    connection: &Connection,
    write: &CharacterWrite,
) -> Result<(), WriteError> {
    match write {
        CharacterWrite::Add { character, content } => add_character(connection, character, content),
        CharacterWrite::Change { character, content } => {
            change_character(connection, character, content)
        }
        CharacterWrite::Remove(id) => remove_character(connection, *id),
        CharacterWrite::PutReview(review) => put_review(connection, review),
        CharacterWrite::NoteUse { character, owner, at } => {
            note_use(connection, *character, *owner, at.ms())
        }
    }
}

fn add_character(
    connection: &Connection,
    character: &StoredCharacter,
    content: &CharacterContent,
) -> Result<(), WriteError> {
    let sql = "INSERT INTO character (id, slug, name, description, author, tags, adult, featured, \
               pro, web_enabled, model, created_ms, updated_ms) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    connection.prepare_cached(sql)?.execute(params![
        character.id.as_bytes(),
        character.slug,
        character.name,
        character.description,
        character.author,
        character.tags.join("\n"),
        character.adult,
        character.featured,
        character.pro,
        character.web_enabled,
        character.model,
        character.created.ms(),
        character.updated.ms(),
    ])?;
    let seq = connection.last_insert_rowid();
    let sql = "INSERT INTO character_content (character, card, picture_type, picture) \
               VALUES (?1, ?2, ?3, ?4)";
    let picture = content.picture.as_ref();
    connection.prepare_cached(sql)?.execute(params![
        seq,
        content.card,
        picture.map(|it| it.media_type.as_str()),
        picture.map(|it| it.bytes.as_slice()),
    ])?;
    add_words(connection, seq, character, content)
}

fn add_words(
    connection: &Connection,
    seq: i64,
    character: &StoredCharacter,
    content: &CharacterContent,
) -> Result<(), WriteError> {
    let sql = "INSERT INTO character_tag (tag, character) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    let mut add_tag = connection.prepare_cached(sql)?;
    for tag in &character.tags {
        add_tag.execute(params![tag.to_lowercase(), seq])?;
    }
    let sql = "INSERT INTO character_word (word, character) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    let mut add_word = connection.prepare_cached(sql)?;
    for word in &content.words {
        add_word.execute(params![word, seq])?;
    }
    Ok(())
}

/// Changes everything but the counters; the picture only if there is a new one.
fn change_character(
    connection: &Connection,
    character: &StoredCharacter,
    content: &CharacterContent,
) -> Result<(), WriteError> {
    let seq = find_seq(connection, character.id)?.ok_or_else(missing_character)?;
    let sql = "UPDATE character SET slug = ?2, name = ?3, description = ?4, author = ?5, tags = ?6, \
               adult = ?7, featured = ?8, pro = ?9, web_enabled = ?10, model = ?11, \
               updated_ms = ?12 WHERE seq = ?1";
    connection.prepare_cached(sql)?.execute(params![
        seq,
        character.slug,
        character.name,
        character.description,
        character.author,
        character.tags.join("\n"),
        character.adult,
        character.featured,
        character.pro,
        character.web_enabled,
        character.model,
        character.updated.ms(),
    ])?;
    let sql = "UPDATE character_content SET card = ?2 WHERE character = ?1";
    connection.prepare_cached(sql)?.execute(params![seq, content.card])?;
    if let Some(picture) = &content.picture {
        let sql =
            "UPDATE character_content SET picture_type = ?2, picture = ?3 WHERE character = ?1";
        connection.prepare_cached(sql)?.execute(params![seq, picture.media_type, picture.bytes])?;
    }
    for sql in [
        "DELETE FROM character_tag WHERE character = ?1",
        "DELETE FROM character_word WHERE character = ?1",
    ] {
        connection.prepare_cached(sql)?.execute([seq])?;
    }
    add_words(connection, seq, character, content)
}

fn remove_character(connection: &Connection, id: Uuid) -> Result<(), WriteError> {
    let sql = "DELETE FROM character WHERE id = ?1";
    let removed = connection.prepare_cached(sql)?.execute([id.as_bytes()])?;
    if removed == 1 { Ok(()) } else { Err(missing_character()) }
}

/// Replaces the account's earlier review, and its share of the sums.
fn put_review(connection: &Connection, review: &CharacterReview) -> Result<(), WriteError> {
    let seq = find_seq(connection, review.character)?.ok_or_else(missing_character)?;
    let owner = review.owner.0.as_bytes();
    let sql = "DELETE FROM character_review WHERE character = ?1 AND owner = ?2";
    connection.prepare_cached(sql)?.execute(params![seq, owner])?;
    let sql = "INSERT INTO character_review \
               (id, character, owner, rating, message, locale, username, created_ms) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    connection.prepare_cached(sql)?.execute(params![
        review.id.as_bytes(),
        seq,
        owner,
        review.rating,
        review.message,
        review.locale,
        review.username,
        review.created.ms(),
    ])?;
    Ok(())
}

/// Counts an account once. No effect if the character was deleted.
fn note_use(
    connection: &Connection,
    character: Uuid,
    owner: OwnerId,
    at_ms: i64,
) -> Result<(), WriteError> {
    let sql = "INSERT INTO character_use (character, owner, at_ms) \
               SELECT seq, ?2, ?3 FROM character WHERE id = ?1 ON CONFLICT DO NOTHING";
    let owner = owner.0.as_bytes();
    connection.prepare_cached(sql)?.execute(params![character.as_bytes(), owner, at_ms])?;
    Ok(())
}

pub(crate) fn find_character(
    connection: &Connection,
    slug_or_id: &str,
    asker: Option<OwnerId>,
) -> rusqlite::Result<Option<ListedCharacter>> {
    let asker = asker.map(|it| *it.0.as_bytes());
    let by = |column: &str| format!("SELECT {COLUMNS} FROM character c WHERE c.{column} = ?2");
    let mut statement = connection.prepare_cached(&by("slug"))?;
    let found = statement.query_row(params![asker, slug_or_id], line_at).optional()?;
    let Some(id) = Uuid::parse_str(slug_or_id).ok().filter(|_| found.is_none()) else {
        return Ok(found);
    };
    let mut statement = connection.prepare_cached(&by("id"))?;
    statement.query_row(params![asker, id.as_bytes()], line_at).optional()
}

pub(crate) fn read_content(
    connection: &Connection,
    id: Uuid,
) -> rusqlite::Result<Option<CharacterContent>> {
    let sql = "SELECT k.card FROM character_content k JOIN character c ON c.seq = k.character \
               WHERE c.id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([id.as_bytes()], |row| {
        Ok(CharacterContent { card: row.get(0)?, picture: None, words: Vec::new() })
    });
    found.optional()
}

pub(crate) fn read_picture(
    connection: &Connection,
    slug_or_id: &str,
) -> rusqlite::Result<Option<CharacterPicture>> {
    let Some(line) = find_character(connection, slug_or_id, None)? else { return Ok(None) };
    let sql = "SELECT k.picture_type, k.picture FROM character_content k \
               JOIN character c ON c.seq = k.character WHERE c.id = ?1 AND k.picture IS NOT NULL";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([line.character.id.as_bytes()], |row| {
        Ok(CharacterPicture { media_type: row.get(0)?, bytes: row.get(1)? })
    });
    found.optional()
}

pub(crate) fn read_reviews(
    connection: &Connection,
    character: Uuid,
    skip: u64,
    size: usize,
) -> rusqlite::Result<ReviewPage> {
    let Some(seq) = find_seq(connection, character)? else {
        return Ok(ReviewPage { reviews: Vec::new(), total: 0 });
    };
    let sql = "SELECT rating_count FROM character WHERE seq = ?1";
    let total = connection.prepare_cached(sql)?.query_row([seq], |row| row.get(0))?;
    let sql = "SELECT id, owner, rating, message, locale, username, created_ms \
               FROM character_review WHERE character = ?1 ORDER BY created_ms DESC, seq DESC \
               LIMIT ?2 OFFSET ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let reviews = statement.query_map(params![seq, size, skip], |row| {
        Ok(CharacterReview {
            id: read_id(row, 0)?,
            character,
            owner: read_id(row, 1).map(OwnerId)?,
            rating: row.get(2)?,
            message: row.get(3)?,
            locale: row.get(4)?,
            username: row.get(5)?,
            created: read_time(row, 6)?,
        })
    })?;
    Ok(ReviewPage { reviews: reviews.collect::<rusqlite::Result<_>>()?, total })
}

fn find_seq(connection: &Connection, id: Uuid) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT seq FROM character WHERE id = ?1";
    connection.prepare_cached(sql)?.query_row([id.as_bytes()], |row| row.get(0)).optional()
}

fn missing_character() -> WriteError {
    WriteError::Refused(StoreError::Missing("there is no such character"))
}

fn line_at(row: &Row<'_>) -> rusqlite::Result<ListedCharacter> {
    let tags: String = row.get(5)?;
    let character = StoredCharacter {
        id: read_id(row, 0)?,
        slug: row.get(1)?,
        name: row.get(2)?,
        description: row.get(3)?,
        author: row.get(4)?,
        tags: tags.lines().map(str::to_owned).collect(),
        adult: row.get(6)?,
        featured: row.get(7)?,
        pro: row.get(8)?,
        web_enabled: row.get(9)?,
        model: row.get(10)?,
        created: read_time(row, 11)?,
        updated: read_time(row, 12)?,
    };
    Ok(ListedCharacter {
        character,
        imports: row.get(13)?,
        rating_count: row.get(14)?,
        rating_sum: row.get(15)?,
        own_rating: row.get(16)?,
    })
}
