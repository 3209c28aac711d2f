//! Queries about characters.

use credits::OwnerId;
use store::character::{
    Character, CharacterContent, CharacterLine, CharacterPicture, CharacterQuery, Review,
    ReviewPage,
};
use store::{CharacterStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::Postgres;
use crate::columns::{get, limit, signed, text, time, unsigned, unsigned_or_none};
use crate::error::PgError;
use crate::queries::listing::list;
use crate::session::Session;

/// The columns for [`line_at`]. The first parameter is the querying owner.
pub(crate) const COLUMNS: &str = "c.id, c.slug, c.name, c.description, c.author, c.tags, c.adult, \
    c.featured, c.pro, c.web_enabled, c.model, c.created_ms, c.updated_ms, c.imports, \
    c.rating_count, c.rating_sum, \
    (SELECT rating FROM character_review WHERE character = c.seq AND owner = $1::uuid)";

impl CharacterStore for Postgres {
    fn characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<CharacterLine>> {
        self.ask(async move |db| list(&db, &query, asker).await)
    }

    fn character<'a>(
        &'a self,
        slug_or_id: &'a str,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'a, Option<CharacterLine>> {
        self.ask(async move |db| find(&db, slug_or_id, asker).await)
    }

    fn character_content(&self, id: Uuid) -> StoreFuture<'_, Option<CharacterContent>> {
        self.ask(async move |db| content(&db, id).await)
    }

    fn character_picture<'a>(
        &'a self,
        slug_or_id: &'a str,
    ) -> StoreFuture<'a, Option<CharacterPicture>> {
        self.ask(async move |db| picture(&db, slug_or_id).await)
    }

    fn reviews(&self, character: Uuid, skip: u64, size: usize) -> StoreFuture<'_, ReviewPage> {
        self.ask_at_once(async move |db| reviews(&db, character, skip, size).await)
    }
}

/// A slug that looks like an id comes before the id.
async fn find(
    db: &Session,
    slug_or_id: &str,
    asker: Option<OwnerId>,
) -> Result<Option<CharacterLine>, PgError> {
    let asker = asker.map(|asker| asker.0);
    let by = |column: &str| format!("SELECT {COLUMNS} FROM character c WHERE c.{column} = $2");
    let mut found = db.row(&by("slug"), &[&asker, &text(slug_or_id)]).await?;
    if let (None, Ok(id)) = (&found, Uuid::parse_str(slug_or_id)) {
        found = db.row(&by("id"), &[&asker, &id]).await?;
    }
    found.map(|row| line_at(&row)).transpose()
}

async fn content(db: &Session, id: Uuid) -> Result<Option<CharacterContent>, PgError> {
    let sql = "SELECT k.card FROM character_content k JOIN character c ON c.seq = k.character \
               WHERE c.id = $1";
    let found = db.row(sql, &[&id]).await?;
    let content =
        |row: Row| Ok(CharacterContent { card: get(&row, 0)?, picture: None, words: Vec::new() });
    found.map(content).transpose()
}

async fn picture(db: &Session, slug_or_id: &str) -> Result<Option<CharacterPicture>, PgError> {
    let Some(line) = find(db, slug_or_id, None).await? else { return Ok(None) };
    let sql = "SELECT k.picture_type, k.picture FROM character_content k \
               JOIN character c ON c.seq = k.character WHERE c.id = $1 AND k.picture IS NOT NULL";
    let found = db.row(sql, &[&line.character.id]).await?;
    let picture =
        |row: Row| Ok(CharacterPicture { media_type: get(&row, 0)?, bytes: get(&row, 1)? });
    found.map(picture).transpose()
}

async fn reviews(
    db: &Session,
    character: Uuid,
    skip: u64,
    size: usize,
) -> Result<ReviewPage, PgError> {
    let sql = "SELECT seq, rating_count FROM character WHERE id = $1";
    let Some(found) = db.row(sql, &[&character]).await? else {
        return Ok(ReviewPage { reviews: Vec::new(), total: 0 });
    };
    let (seq, total): (i64, u64) = (get(&found, 0)?, unsigned(&found, 1)?);
    let sql = "SELECT id, owner, rating, message, locale, username, created_ms \
               FROM character_review WHERE character = $1 ORDER BY created_ms DESC, seq DESC \
               LIMIT $2 OFFSET $3";
    let rows = db.rows(sql, &[&seq, &limit(size), &signed(skip)?]).await?;
    let review = |row| {
        Ok(Review {
            id: get(row, 0)?,
            character,
            owner: OwnerId(get(row, 1)?),
            rating: unsigned(row, 2)?,
            message: get(row, 3)?,
            locale: get(row, 4)?,
            username: get(row, 5)?,
            created: time(row, 6)?,
        })
    };
    let reviews = rows.iter().map(review).collect::<Result<_, PgError>>()?;
    Ok(ReviewPage { reviews, total })
}

pub(crate) fn line_at(row: &Row) -> Result<CharacterLine, PgError> {
    let tags: &str = get(row, 5)?;
    let character = Character {
        id: get(row, 0)?,
        slug: get(row, 1)?,
        name: get(row, 2)?,
        description: get(row, 3)?,
        author: get(row, 4)?,
        tags: tags.lines().map(str::to_owned).collect(),
        adult: get(row, 6)?,
        featured: get(row, 7)?,
        pro: get(row, 8)?,
        web_enabled: get(row, 9)?,
        model: get(row, 10)?,
        created: time(row, 11)?,
        updated: time(row, 12)?,
    };
    Ok(CharacterLine {
        character,
        imports: unsigned(row, 13)?,
        rating_count: unsigned(row, 14)?,
        rating_sum: unsigned(row, 15)?,
        own_rating: unsigned_or_none(row, 16)?,
    })
}
