//! Lists of characters: one statement, driven by the condition with the fewest matches.
//!
//! If a word, tag or model is rare, its matches are read and sorted. If all are common, characters
//! are scanned in the sort order until enough are found. Either way a list over a hundred thousand
//! characters reads few of them. `OFFSET 0` keeps Postgres from turning the lookup for each
//! character into a join over all of them.

use credits::OwnerId;
use store::character::{CharacterLine, CharacterQuery, CharacterSort, Condition, driver, rare_max};
use tokio_postgres::types::ToSql;

use crate::columns::{get, limit, signed, text};
use crate::error::PgError;
use crate::queries::characters::{COLUMNS, line_at};
use crate::session::Session;

type Value = Box<dyn ToSql + Sync + Send>;

/// The parameters of a statement under construction.
#[derive(Default)]
struct Draft {
    values: Vec<Value>,
}

impl Draft {
    fn put(&mut self, value: impl ToSql + Sync + Send + 'static) -> String {
        self.values.push(Box::new(value));
        format!("${}", self.values.len())
    }

    fn put_text(&mut self, written: &str) -> String {
        self.put(text(written).into_owned())
    }

    fn put_all(&mut self, texts: &[String]) -> String {
        self.put(texts.iter().map(|it| text(it).into_owned()).collect::<Vec<String>>())
    }

    /// The range of words with this prefix: its start, and its exclusive end.
    fn put_word(&mut self, beginning: &str) -> (String, String) {
        (self.put_text(beginning), self.put_text(&Condition::end_of_words(beginning)))
    }

    async fn rows(&self, db: &Session, sql: &str) -> Result<Vec<tokio_postgres::Row>, PgError> {
        let values: Vec<&(dyn ToSql + Sync)> =
            self.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        db.rows(sql, &values).await
    }
}

pub(crate) async fn list(
    db: &Session,
    query: &CharacterQuery,
    asker: Option<OwnerId>,
) -> Result<Vec<CharacterLine>, PgError> {
    let conditions = query.conditions();
    let mut counts = Vec::with_capacity(conditions.len());
    for condition in &conditions {
        counts.push(count(condition, db, rare_max(conditions.len())).await?);
    }
    let mut draft = Draft::default();
    draft.put(asker.map(|asker| asker.0));
    let mut tests: Vec<String> = Vec::new();
    let from = match driver(&counts) {
        Some(first) => {
            let rows = rows(&conditions[first], &mut draft);
            let others = conditions.iter().enumerate().filter(|(index, _)| *index != first);
            let mut inner = vec!["TRUE".to_owned()];
            inner.extend(others.map(|(_, it)| test(it, "d.character", &mut draft)));
            format!(
                "(SELECT DISTINCT d.character AS seq FROM ({rows}) d WHERE {}) m \
                 JOIN character c ON c.seq = m.seq",
                inner.join(" AND ")
            )
        }
        None => {
            tests.extend(conditions.iter().map(|it| test(it, "c.seq", &mut draft)));
            "character c".to_owned()
        }
    };
    tests.push(format!("c.adult = {}", draft.put(query.adult)));
    let flags = [("pro", query.pro), ("web_enabled", query.web_enabled)];
    for (column, wanted) in flags {
        if let Some(wanted) = wanted {
            tests.push(format!("c.{column} = {}", draft.put(wanted)));
        }
    }
    let (key, also) = sort(query.sort);
    tests.extend(also.map(str::to_owned));
    let direction = if query.ascending { "ASC" } else { "DESC" };
    let rows_max = draft.put(limit(query.limit));
    let offset = draft.put(signed(query.offset).unwrap_or(i64::MAX));
    let sql = format!(
        "SELECT {COLUMNS} FROM {from} WHERE {} ORDER BY c.{key} {direction}, c.seq {direction} \
         LIMIT {rows_max} OFFSET {offset}",
        tests.join(" AND ")
    );
    draft.rows(db, &sql).await?.iter().map(line_at).collect()
}

/// SQL for the row numbers of the matching characters.
fn rows(condition: &Condition<'_>, draft: &mut Draft) -> String {
    match condition {
        Condition::Word(word) => {
            let (from, to) = draft.put_word(word);
            format!("SELECT character FROM character_word WHERE {from} <= word AND word < {to}")
        }
        Condition::Tags(tags) => {
            let tags = draft.put_all(tags);
            format!("SELECT character FROM character_tag WHERE tag = ANY ({tags})")
        }
        Condition::Models(models) => {
            let models = draft.put_all(models);
            format!("SELECT seq AS character FROM character WHERE model = ANY ({models})")
        }
    }
}

/// SQL that tests if the character with the number `seq` matches.
fn test(condition: &Condition<'_>, seq: &str, draft: &mut Draft) -> String {
    match condition {
        Condition::Word(word) => {
            let (from, to) = draft.put_word(word);
            format!(
                "EXISTS (SELECT 1 FROM character_word w WHERE w.character = {seq} \
                 AND {from} <= w.word AND w.word < {to} OFFSET 0)"
            )
        }
        Condition::Tags(tags) => {
            let tags = draft.put_all(tags);
            format!(
                "EXISTS (SELECT 1 FROM character_tag t WHERE t.character = {seq} \
                 AND t.tag = ANY ({tags}) OFFSET 0)"
            )
        }
        Condition::Models(models) => {
            let models = draft.put_all(models);
            format!("(SELECT model FROM character WHERE seq = {seq}) = ANY ({models})")
        }
    }
}

/// The number of matching characters, counted up to one more than is rare.
async fn count(condition: &Condition<'_>, db: &Session, rare_max: usize) -> Result<usize, PgError> {
    let mut draft = Draft::default();
    let rows = rows(condition, &mut draft);
    let sql = format!("SELECT count(*) FROM ({rows} LIMIT {}) AS fitting", rare_max + 1);
    let counted: i64 = match draft.rows(db, &sql).await?.first() {
        Some(row) => get(row, 0)?,
        None => 0,
    };
    Ok(usize::try_from(counted).unwrap_or(usize::MAX))
}

/// The sort column, and the condition of the partial index for it.
fn sort(sort: CharacterSort) -> (&'static str, Option<&'static str>) {
    match sort {
        CharacterSort::Featured => ("imports", Some("c.featured")),
        CharacterSort::HighestRating => ("average", None),
        CharacterSort::HighlyRated => ("average", Some("c.rating_count >= 2")),
        CharacterSort::HighlyRatedAndRecent => ("created_ms", Some("c.average >= 3")),
        CharacterSort::Imports => ("imports", None),
        CharacterSort::MostRecent => ("created_ms", None),
        CharacterSort::RatingCount => ("rating_count", None),
    }
}
