//! Queries about characters.

use ledger_core::OwnerId;
use store::character::{
    CharacterContent, CharacterPicture, CharacterQuery, CharacterReview, ListedCharacter,
    ReviewPage, StoredCharacter,
};
use store::{CharacterStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::{
    read_column, read_optional_unsigned, read_time, read_unsigned, to_row_limit, to_signed,
    to_sql_text,
};
use crate::error::PgError;
use crate::queries::listing::list_characters;
use crate::session::PostgresSession;

/// The columns for [`line_at`]. The first parameter is the querying owner.
pub(crate) const COLUMNS: &str = "c.id, c.slug, c.name, c.description, c.author, c.tags, c.adult, \
    c.featured, c.pro, c.web_enabled, c.model, c.created_ms, c.updated_ms, c.imports, \
    c.rating_count, c.rating_sum, \
    (SELECT rating FROM character_review WHERE character = c.seq AND owner = $1::uuid)";

impl CharacterStore for PostgresStore {
    fn list_characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<ListedCharacter>> {
        self.query(async move |db| list_characters(&db, &query, asker).await)
    }

    fn character<'a>(
        &'a self,
        slug_or_id: &'a str,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'a, Option<ListedCharacter>> {
        self.query(async move |db| find_character(&db, slug_or_id, asker).await)
    }

    fn character_content(&self, id: Uuid) -> StoreFuture<'_, Option<CharacterContent>> {
        self.query(async move |db| read_content(&db, id).await)
    }

    fn character_picture<'a>(
        &'a self,
        slug_or_id: &'a str,
    ) -> StoreFuture<'a, Option<CharacterPicture>> {
        self.query(async move |db| read_picture(&db, slug_or_id).await)
    }

    fn read_reviews(&self, character: Uuid, skip: u64, size: usize) -> StoreFuture<'_, ReviewPage> {
        self.query_snapshot(async move |db| read_reviews(&db, character, skip, size).await)
    }
}

/// A slug that looks like an id comes before the id.
async fn find_character(
    db: &PostgresSession,
    slug_or_id: &str,
    asker: Option<OwnerId>,
) -> Result<Option<ListedCharacter>, PgError> {
    let asker = asker.map(|asker| asker.0);
    let by = |column: &str| format!("SELECT {COLUMNS} FROM character c WHERE c.{column} = $2");
    let mut found = db.row(&by("slug"), &[&asker, &to_sql_text(slug_or_id)]).await?;
    if let (None, Ok(id)) = (&found, Uuid::parse_str(slug_or_id)) {
        found = db.row(&by("id"), &[&asker, &id]).await?;
    }
    found.map(|row| line_at(&row)).transpose()
}

async fn read_content(db: &PostgresSession, id: Uuid) -> Result<Option<CharacterContent>, PgError> {
    let sql = "SELECT k.card FROM character_content k JOIN character c ON c.seq = k.character \
               WHERE c.id = $1";
    let found = db.row(sql, &[&id]).await?;
    let content = |row: Row| {
        Ok(CharacterContent { card: read_column(&row, 0)?, picture: None, words: Vec::new() })
    };
    found.map(content).transpose()
}

async fn read_picture(
    db: &PostgresSession,
    slug_or_id: &str,
) -> Result<Option<CharacterPicture>, PgError> {
    let Some(line) = find_character(db, slug_or_id, None).await? else { return Ok(None) };
    let sql = "SELECT k.picture_type, k.picture FROM character_content k \
               JOIN character c ON c.seq = k.character WHERE c.id = $1 AND k.picture IS NOT NULL";
    let found = db.row(sql, &[&line.character.id]).await?;
    let picture = |row: Row| {
        Ok(CharacterPicture { media_type: read_column(&row, 0)?, bytes: read_column(&row, 1)? })
    };
    found.map(picture).transpose()
}

async fn read_reviews(
    db: &PostgresSession,
    character: Uuid,
    skip: u64,
    size: usize,
) -> Result<ReviewPage, PgError> {
    let sql = "SELECT seq, rating_count FROM character WHERE id = $1";
    let Some(found) = db.row(sql, &[&character]).await? else {
        return Ok(ReviewPage { reviews: Vec::new(), total: 0 });
    };
    let (seq, total): (i64, u64) = (read_column(&found, 0)?, read_unsigned(&found, 1)?);
    let sql = "SELECT id, owner, rating, message, locale, username, created_ms \
               FROM character_review WHERE character = $1 ORDER BY created_ms DESC, seq DESC \
               LIMIT $2 OFFSET $3";
    let rows = db.rows(sql, &[&seq, &to_row_limit(size), &to_signed(skip)?]).await?;
    let review = |row| {
        Ok(CharacterReview {
            id: read_column(row, 0)?,
            character,
            owner: OwnerId(read_column(row, 1)?),
            rating: read_unsigned(row, 2)?,
            message: read_column(row, 3)?,
            locale: read_column(row, 4)?,
            username: read_column(row, 5)?,
            created: read_time(row, 6)?,
        })
    };
    let reviews = rows.iter().map(review).collect::<Result<_, PgError>>()?;
    Ok(ReviewPage { reviews, total })
}

pub(crate) fn line_at(row: &Row) -> Result<ListedCharacter, PgError> {
    let tags: &str = read_column(row, 5)?;
    let character = StoredCharacter {
        id: read_column(row, 0)?,
        slug: read_column(row, 1)?,
        name: read_column(row, 2)?,
        description: read_column(row, 3)?,
        author: read_column(row, 4)?,
        tags: tags.lines().map(str::to_owned).collect(),
        adult: read_column(row, 6)?,
        featured: read_column(row, 7)?,
        pro: read_column(row, 8)?,
        web_enabled: read_column(row, 9)?,
        model: read_column(row, 10)?,
        created: read_time(row, 11)?,
        updated: read_time(row, 12)?,
    };
    Ok(ListedCharacter {
        character,
        imports: read_unsigned(row, 13)?,
        rating_count: read_unsigned(row, 14)?,
        rating_sum: read_unsigned(row, 15)?,
        own_rating: read_optional_unsigned(row, 16)?,
    })
}
