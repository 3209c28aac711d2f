//! Characters, their reviews, and the accounts that chatted with them.

use ledger_core::OwnerId;
use uuid::Uuid;

use crate::character::{
    CharacterContent, CharacterPicture, CharacterQuery, CharacterReview, CharacterWrite,
    ListedCharacter, ReviewPage, StoredCharacter,
};
use crate::error::StoreError;
use crate::sql::connection::RowResult;
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{
    ReadMode, SqlConnection, SqlPosting, SqlRow, SqlStore, SqlText, SqlValue, to_signed,
};
use crate::{CharacterStore, StoreFuture};

const MISSING: StoreError = StoreError::Missing("there is no such character");

/// The columns for [`listed_character_at`]. The first parameter is the querying owner.
pub const COLUMNS: SqlText = shared_sql!(
    "c.id, c.slug, c.name, c.description, c.author, c.tags, c.adult, c.featured, c.pro, \
     c.web_enabled, c.model, c.created_ms, c.updated_ms, c.imports, c.rating_count, c.rating_sum, \
     (SELECT rating FROM character_review WHERE character = c.seq AND owner = $1::uuid)"
);

const FIND_BY_SLUG: SqlText =
    shared_sql!("SELECT ", COLUMNS, " FROM character c WHERE c.slug = $2");

const FIND_BY_ID: SqlText = shared_sql!("SELECT ", COLUMNS, " FROM character c WHERE c.id = $2");

const READ_CARD: SqlText = shared_sql!(
    "SELECT k.card FROM character_content k JOIN character c ON c.seq = k.character \
     WHERE c.id = $1"
);

const READ_PICTURE: SqlText = shared_sql!(
    "SELECT k.picture_type, k.picture FROM character_content k \
     JOIN character c ON c.seq = k.character WHERE c.id = $1 AND k.picture IS NOT NULL"
);

const FIND_RATED: SqlText = shared_sql!("SELECT seq, rating_count FROM character WHERE id = $1");

const READ_REVIEWS: SqlText = shared_sql!(
    "SELECT id, owner, rating, message, locale, username, created_ms \
     FROM character_review WHERE character = $1 ORDER BY created_ms DESC, seq DESC \
     LIMIT $2 OFFSET $3"
);

const ADD: SqlText = shared_sql!(
    "INSERT INTO character (id, slug, name, description, author, tags, adult, featured, pro, \
     web_enabled, model, updated_ms, created_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"
);

const ADD_CONTENT: SqlText = shared_sql!(
    "INSERT INTO character_content (character, card, picture_type, picture) \
     SELECT seq, $2, $3, $4 FROM character WHERE id = $1"
);

/// The texts of the second parameter, each as `added.word`.
const ADDED: SqlText = SqlText {
    sqlite: "(SELECT value AS word FROM json_each(?2)) AS added",
    postgres: "unnest($2::text[]) AS added (word)",
};

const ADD_TAGS: SqlText = shared_sql!(
    "INSERT INTO character_tag (tag, character) SELECT added.word, seq FROM character, ",
    ADDED,
    " WHERE id = $1 ON CONFLICT DO NOTHING"
);

const ADD_WORDS: SqlText = shared_sql!(
    "INSERT INTO character_word (word, character) SELECT added.word, seq FROM character, ",
    ADDED,
    " WHERE id = $1 ON CONFLICT DO NOTHING"
);

const CHANGE: SqlText = shared_sql!(
    "UPDATE character SET slug = $2, name = $3, description = $4, author = $5, tags = $6, \
     adult = $7, featured = $8, pro = $9, web_enabled = $10, model = $11, updated_ms = $12 \
     WHERE id = $1"
);

const CHANGE_CARD: SqlText = shared_sql!(
    "UPDATE character_content SET card = $2 \
     WHERE character = (SELECT seq FROM character WHERE id = $1)"
);

const CHANGE_PICTURE: SqlText = shared_sql!(
    "UPDATE character_content SET picture_type = $2, picture = $3 \
     WHERE character = (SELECT seq FROM character WHERE id = $1)"
);

const DROP_TAGS: SqlText = shared_sql!(
    "DELETE FROM character_tag WHERE character = (SELECT seq FROM character WHERE id = $1)"
);

const DROP_WORDS: SqlText = shared_sql!(
    "DELETE FROM character_word WHERE character = (SELECT seq FROM character WHERE id = $1)"
);

const REMOVE: SqlText = shared_sql!("DELETE FROM character WHERE id = $1");

const DROP_REVIEW: SqlText = shared_sql!(
    "DELETE FROM character_review \
     WHERE character = (SELECT seq FROM character WHERE id = $1) AND owner = $2"
);

const ADD_REVIEW: SqlText = shared_sql!(
    "INSERT INTO character_review \
     (id, character, owner, rating, message, locale, username, created_ms) \
     SELECT $2, seq, $3, $4, $5, $6, $7, $8 FROM character WHERE id = $1"
);

/// Counts an account once. No effect if the character was deleted.
const NOTE_USE: SqlText = shared_sql!(
    "INSERT INTO character_use (character, owner, at_ms) \
     SELECT seq, $2, $3 FROM character WHERE id = $1 ON CONFLICT DO NOTHING"
);

impl<S: SqlStore> CharacterStore for S {
    fn list_characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<ListedCharacter>> {
        self.search_characters(query, asker)
    }

    fn character<'a>(
        &'a self,
        slug_or_id: &'a str,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'a, Option<ListedCharacter>> {
        let slug_or_id = slug_or_id.to_owned();
        self.read(ReadMode::STATEMENT, move |db| {
            Box::pin(async move { find_character(db, &slug_or_id, asker).await })
        })
    }

    fn character_content(&self, id: Uuid) -> StoreFuture<'_, Option<CharacterContent>> {
        self.read_row(ReadMode::STATEMENT, READ_CARD, sql_values![id], |row| {
            Ok(CharacterContent { card: row.get(0)?, picture: None, words: Vec::new() })
        })
    }

    fn character_picture<'a>(
        &'a self,
        slug_or_id: &'a str,
    ) -> StoreFuture<'a, Option<CharacterPicture>> {
        let slug_or_id = slug_or_id.to_owned();
        self.read(ReadMode::STATEMENT, move |db| {
            Box::pin(async move { read_picture(db, &slug_or_id).await })
        })
    }

    fn read_reviews(&self, character: Uuid, skip: u64, size: usize) -> StoreFuture<'_, ReviewPage> {
        self.read(ReadMode::SNAPSHOT, move |db| {
            Box::pin(async move { read_reviews(db, character, skip, size).await })
        })
    }
}

/// A slug that looks like an id comes before the id.
async fn find_character(
    db: &dyn SqlConnection,
    slug_or_id: &str,
    asker: Option<OwnerId>,
) -> Result<Option<ListedCharacter>, StoreError> {
    let by_slug = sql_values![asker, slug_or_id];
    let found = db.row(FIND_BY_SLUG, &by_slug, listed_character_at).await?;
    match Uuid::parse_str(slug_or_id) {
        Ok(id) if found.is_none() => {
            db.row(FIND_BY_ID, &sql_values![asker, id], listed_character_at).await
        }
        _ => Ok(found),
    }
}

async fn read_picture(
    db: &dyn SqlConnection,
    slug_or_id: &str,
) -> Result<Option<CharacterPicture>, StoreError> {
    let Some(line) = find_character(db, slug_or_id, None).await? else { return Ok(None) };
    let values = sql_values![line.character.id];
    let picture = db.row(READ_PICTURE, &values, |row| {
        Ok(CharacterPicture { media_type: row.get(0)?, bytes: row.get(1)? })
    });
    picture.await
}

async fn read_reviews(
    db: &dyn SqlConnection,
    character: Uuid,
    skip: u64,
    size: usize,
) -> Result<ReviewPage, StoreError> {
    let read = |row: &dyn SqlRow| Ok((row.get::<i64>(0)?, row.get(1)?));
    let Some((seq, total)) = db.row(FIND_RATED, &sql_values![character], read).await? else {
        return Ok(ReviewPage { reviews: Vec::new(), total: 0 });
    };
    let values = sql_values![seq, size, to_signed(skip)?];
    let reviews = db.rows(READ_REVIEWS, &values, |row| {
        Ok(CharacterReview {
            id: row.get(0)?,
            character,
            owner: row.get(1)?,
            rating: row.get(2)?,
            message: row.get(3)?,
            locale: row.get(4)?,
            username: row.get(5)?,
            created: row.get(6)?,
        })
    });
    Ok(ReviewPage { reviews: reviews.await?, total })
}

pub(crate) fn post_character<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    write: &'a CharacterWrite,
) -> Result<(), P::Error> {
    match write {
        CharacterWrite::Add { character, content } => add_character(posting, character, content),
        CharacterWrite::Change { character, content } => {
            change_character(posting, character, content)
        }
        CharacterWrite::Remove(id) => posting.run_one(REMOVE, sql_values![*id], MISSING),
        CharacterWrite::PutReview(review) => put_review(posting, review),
        CharacterWrite::NoteUse { character, owner, at } => {
            posting.run(NOTE_USE, sql_values![*character, *owner, *at])
        }
    }
}

fn add_character<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    character: &'a StoredCharacter,
    content: &'a CharacterContent,
) -> Result<(), P::Error> {
    let mut values = Vec::from(character_values(character));
    values.push(character.created.into());
    posting.run(ADD, values)?;
    let picture = content.picture.as_ref();
    let values = sql_values![
        character.id,
        &content.card,
        picture.map(|picture| &picture.media_type),
        picture.map(|picture| &picture.bytes),
    ];
    posting.run(ADD_CONTENT, values)?;
    add_words(posting, character, content)
}

/// Changes everything but the counters; the picture only if there is a new one.
fn change_character<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    character: &'a StoredCharacter,
    content: &'a CharacterContent,
) -> Result<(), P::Error> {
    let id = character.id;
    posting.run_one(CHANGE, character_values(character), MISSING)?;
    posting.run(CHANGE_CARD, sql_values![id, &content.card])?;
    if let Some(CharacterPicture { media_type, bytes }) = &content.picture {
        posting.run(CHANGE_PICTURE, sql_values![id, media_type, bytes])?;
    }
    posting.run(DROP_TAGS, sql_values![id])?;
    posting.run(DROP_WORDS, sql_values![id])?;
    add_words(posting, character, content)
}

/// Replaces the account's earlier review, and its share of the sums.
fn put_review<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    review: &'a CharacterReview,
) -> Result<(), P::Error> {
    posting.run(DROP_REVIEW, sql_values![review.character, review.owner])?;
    let values = sql_values![
        review.character,
        review.id,
        review.owner,
        review.rating,
        &review.message,
        &review.locale,
        &review.username,
        review.created,
    ];
    posting.run_one(ADD_REVIEW, values, MISSING)
}

fn character_values(character: &StoredCharacter) -> [SqlValue<'_>; 12] {
    sql_values![
        character.id,
        &character.slug,
        &character.name,
        &character.description,
        &character.author,
        character.tags.join("\n"),
        character.adult,
        character.featured,
        character.pro,
        character.web_enabled,
        character.model.as_ref(),
        character.updated,
    ]
}

fn add_words<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    character: &'a StoredCharacter,
    content: &'a CharacterContent,
) -> Result<(), P::Error> {
    let tags: Vec<_> = character.tags.iter().map(|tag| tag.to_lowercase()).collect();

    posting.run(ADD_TAGS, sql_values![character.id, tags])?;
    posting.run(ADD_WORDS, sql_values![character.id, content.words.clone()])
}

pub fn listed_character_at(row: &dyn SqlRow) -> RowResult<ListedCharacter> {
    let tags: String = row.get(5)?;
    let character = StoredCharacter {
        id: row.get(0)?,
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
        created: row.get(11)?,
        updated: row.get(12)?,
    };
    Ok(ListedCharacter {
        character,
        imports: row.get(13)?,
        rating_count: row.get(14)?,
        rating_sum: row.get(15)?,
        own_rating: row.get(16)?,
    })
}
