//! Lists of characters: one statement, driven by the condition with the fewest matches.
//!
//! If words, tags or models are rare, the row numbers of their matches are read, and the
//! intersection is sorted. If all are common, characters are scanned in the sort order until enough
//! are found. Either way a list over a hundred thousand characters reads few of them.

use credits::OwnerId;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::{COLUMNS, line_at};
use crate::character::{CharacterLine, CharacterQuery, CharacterSort, Condition, rare_max};

/// The parameters of a statement under construction.
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

    /// The range of words with this prefix: its start, and its exclusive end.
    fn put_word(&mut self, beginning: &str) -> (String, String) {
        (self.put(beginning.to_owned()), self.put(Condition::end_of_words(beginning)))
    }
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
            format!("SELECT character FROM character_tag WHERE tag IN ({tags})")
        }
        Condition::Models(models) => {
            let models = draft.put_all(models);
            format!("SELECT seq AS character FROM character WHERE model IN ({models})")
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

/// The sorted row numbers of the matching characters; None if they are not rare.
fn numbers(
    condition: &Condition<'_>,
    connection: &Connection,
    rare_max: usize,
) -> rusqlite::Result<Option<Vec<i64>>> {
    let mut draft = Draft { values: Vec::new() };
    let rows = rows(condition, &mut draft);
    let mut statement = connection.prepare_cached(&format!("{rows} LIMIT {}", rare_max + 1))?;
    let numbers = statement.query_map(params_from_iter(draft.values), |row| row.get(0))?;
    let mut numbers = numbers.collect::<rusqlite::Result<Vec<i64>>>()?;
    if rare_max < numbers.len() {
        return Ok(None);
    }
    // Several words of a character may have the same prefix.
    numbers.sort_unstable();
    numbers.dedup();
    Ok(Some(numbers))
}

/// The intersection of two sorted lists.
fn in_both(one: &[i64], other: &[i64]) -> Vec<i64> {
    let mut rest = other.iter().peekable();
    let is_there = |number: &&i64| {
        while rest.next_if(|it| it < number).is_some() {}
        rest.peek() == Some(number)
    };
    one.iter().filter(is_there).copied().collect()
}

pub(crate) fn list(
    connection: &Connection,
    query: &CharacterQuery,
    asker: Option<OwnerId>,
) -> rusqlite::Result<Vec<CharacterLine>> {
    let conditions = query.conditions();
    let rare_max = rare_max(conditions.len());
    let (mut fitting, mut common): (Option<Vec<i64>>, Vec<&Condition<'_>>) = (None, Vec::new());
    for condition in &conditions {
        match (numbers(condition, connection, rare_max)?, &fitting) {
            (None, _) => common.push(condition),
            (Some(numbers), None) => fitting = Some(numbers),
            (Some(numbers), Some(others)) => fitting = Some(in_both(others, &numbers)),
        }
    }
    let asker = asker.map_or(Value::Null, |it| Value::Blob(it.0.as_bytes().to_vec()));
    let mut draft = Draft { values: vec![asker] };
    let (key, index, also) = sort(query.sort);
    let from = match fitting {
        Some(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
            let numbers = draft.put(format!("[{}]", numbers.join(",")));
            format!("json_each({numbers}) m CROSS JOIN character c ON c.seq = m.value")
        }
        None => {
            let index = index.map(|name| format!(" INDEXED BY {name}")).unwrap_or_default();
            format!("character c{index}")
        }
    };
    let mut tests: Vec<String> = common.iter().map(|it| test(it, "c.seq", &mut draft)).collect();
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

/// The sort column, a partial index for it, and the condition of that index.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_both_is_found_wherever_it_is() {
        assert_eq!(in_both(&[1, 3, 5, 7, 9], &[0, 3, 4, 9]), [3, 9]);
        assert_eq!(in_both(&[1, 2], &[1, 2]), [1, 2]);
        assert_eq!(in_both(&[5], &[]), Vec::<i64>::new());
        assert_eq!(in_both(&[], &[5]), Vec::<i64>::new());
        assert_eq!(in_both(&[8], &[1, 2, 8]), [8]);
    }
}
