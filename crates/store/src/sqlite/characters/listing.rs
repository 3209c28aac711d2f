//! Lists of characters: one statement, driven by whatever leaves the fewest rows.
//!
//! Where a word, tag or model is rare, its characters are taken and sorted. Where all are common,
//! the characters are walked in the order of the sort until enough are found. Either way a list over
//! a hundred thousand characters reads few of them.

use credits::OwnerId;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::{COLUMNS, line_at};
use crate::character::{CharacterLine, CharacterQuery, CharacterSort, Condition, driver, rare_max};

/// A statement as it is put together.
struct Draft {
    values: Vec<Value>,
}

impl Draft {
    fn put(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    fn put_all(&mut self, values: &[String]) -> String {
        let places: Vec<String> = values.iter().map(|value| self.put(value.clone())).collect();
        places.join(", ")
    }

    /// From the first word that begins like this to behind the last.
    fn put_word(&mut self, beginning: &str) -> (String, String) {
        (self.put(beginning.to_owned()), self.put(Condition::end_of_words(beginning)))
    }
}

/// The numbers of the characters that fit.
fn rows(condition: &Condition<'_>, draft: &mut Draft) -> String {
    match condition {
        Condition::Word(word) => {
            let (from, to) = draft.put_word(word);
            format!("SELECT character FROM character_word WHERE {from} <= word AND word < {to}")
        }
        Condition::Tags(tags) => {
            let tags = draft.put_all(tags);
            format!("SELECT character FROM character_tag WHERE tag IN ({tags})")
        }
        Condition::Models(models) => {
            let models = draft.put_all(models);
            format!("SELECT seq AS character FROM character WHERE model IN ({models})")
        }
    }
}

/// Whether a character whose number is at hand fits.
fn test(condition: &Condition<'_>, seq: &str, draft: &mut Draft) -> String {
    match condition {
        Condition::Word(word) => {
            let (from, to) = draft.put_word(word);
            format!(
                "EXISTS (SELECT 1 FROM character_word w WHERE w.character = {seq} \
                 AND {from} <= w.word AND w.word < {to})"
            )
        }
        Condition::Tags(tags) => {
            let tags = draft.put_all(tags);
            format!(
                "EXISTS (SELECT 1 FROM character_tag t WHERE t.character = {seq} \
                 AND t.tag IN ({tags}))"
            )
        }
        Condition::Models(models) => {
            let models = draft.put_all(models);
            format!("(SELECT model FROM character WHERE seq = {seq}) IN ({models})")
        }
    }
}

/// How many characters fit, up to one more than is rare.
fn count(
    condition: &Condition<'_>,
    connection: &Connection,
    rare_max: usize,
) -> rusqlite::Result<usize> {
    let mut draft = Draft { values: Vec::new() };
    let rows = rows(condition, &mut draft);
    let sql = format!("SELECT count(*) FROM ({rows} LIMIT {})", rare_max + 1);
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row(params_from_iter(draft.values), |row| row.get(0))
}

pub(crate) fn list(
    connection: &Connection,
    query: &CharacterQuery,
    asker: Option<OwnerId>,
) -> rusqlite::Result<Vec<CharacterLine>> {
    let conditions = query.conditions();
    let rare_max = rare_max(conditions.len());
    let counts = conditions.iter().map(|condition| count(condition, connection, rare_max));
    let driver = driver(&counts.collect::<rusqlite::Result<Vec<_>>>()?);
    let asker = asker.map_or(Value::Null, |it| Value::Blob(it.0.as_bytes().to_vec()));
    let mut draft = Draft { values: vec![asker] };
    let (key, index, also) = sort(query.sort);
    let (from, mut tests) = match driver {
        Some(first) => {
            let rows = rows(&conditions[first], &mut draft);
            let others = conditions.iter().enumerate().filter(|(index, _)| *index != first);
            let mut inner = vec!["1".to_owned()];
            inner.extend(others.map(|(_, it)| test(it, "d.character", &mut draft)));
            let from = format!(
                "(SELECT DISTINCT d.character AS seq FROM ({rows}) d WHERE {}) m \
                 CROSS JOIN character c ON c.seq = m.seq",
                inner.join(" AND ")
            );
            (from, Vec::new())
        }
        None => {
            let tests = conditions.iter().map(|it| test(it, "c.seq", &mut draft)).collect();
            let index = index.map(|name| format!(" INDEXED BY {name}")).unwrap_or_default();
            (format!("character c{index}"), tests)
        }
    };
    tests.push(format!("c.adult = {}", draft.put(query.adult)));
    let flags = [("pro", query.pro), ("web_enabled", query.web_enabled)];
    for (column, wanted) in flags {
        if let Some(wanted) = wanted {
            tests.push(format!("c.{column} = {}", draft.put(wanted)));
        }
    }
    tests.extend(also.map(str::to_owned));
    let direction = if query.ascending { "ASC" } else { "DESC" };
    let limit = draft.put(i64::try_from(query.limit).unwrap_or(i64::MAX));
    let offset = draft.put(i64::try_from(query.offset).unwrap_or(i64::MAX));
    let sql = format!(
        "SELECT {COLUMNS} FROM {from} WHERE {} ORDER BY c.{key} {direction}, c.seq {direction} \
         LIMIT {limit} OFFSET {offset}",
        tests.join(" AND ")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let lines = statement.query_map(params_from_iter(draft.values), line_at)?;
    lines.collect()
}

/// The column, an index that has only what is wanted, and what else must hold.
fn sort(sort: CharacterSort) -> (&'static str, Option<&'static str>, Option<&'static str>) {
    match sort {
        CharacterSort::Featured => ("imports", Some("character_featured"), Some("c.featured = 1")),
        CharacterSort::HighestRating => ("average", None, None),
        CharacterSort::HighlyRated => {
            ("average", Some("character_highly_rated"), Some("c.rating_count >= 2"))
        }
        CharacterSort::HighlyRatedAndRecent => {
            ("created_ms", Some("character_rated_and_recent"), Some("c.average >= 3.0"))
        }
        CharacterSort::Imports => ("imports", None, None),
        CharacterSort::MostRecent => ("created_ms", None, None),
        CharacterSort::RatingCount => ("rating_count", None, None),
    }
}
