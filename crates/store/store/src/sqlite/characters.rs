//! Lists of characters: one statement, driven by the condition with the fewest matches.
//!
//! If words, tags or models are rare, the row numbers of their matches are read, and the
//! intersection is sorted. If all are common, characters are scanned in the sort order until enough
//! are found. Either way a list over a hundred thousand characters reads few of them.

use ledger_core::OwnerId;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::character::{
    CharacterCondition, CharacterQuery, CharacterSort, ListedCharacter, rare_max,
};
use crate::sql::characters::{self, listed_character_at};
use crate::sqlite::shared_sql::read_shared_row;

const COLUMNS: &str = characters::COLUMNS.sqlite;

/// The parameters of a statement under construction.
struct SqlParameters {
    values: Vec<Value>,
}

impl SqlParameters {
    fn add_value(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    fn add_texts(&mut self, values: &[String]) -> String {
        let places: Vec<String> =
            values.iter().map(|value| self.add_value(value.clone())).collect();
        places.join(", ")
    }

    /// The range of words with this prefix: its start, and its exclusive end.
    fn add_prefix_range(&mut self, beginning: &str) -> (String, String) {
        (
            self.add_value(beginning.to_owned()),
            self.add_value(CharacterCondition::prefix_range_end(beginning)),
        )
    }
}

/// SQL for the row numbers of the matching characters.
fn build_match_query(condition: &CharacterCondition<'_>, draft: &mut SqlParameters) -> String {
    match condition {
        CharacterCondition::Word(word) => {
            let (from, to) = draft.add_prefix_range(word);
            format!("SELECT character FROM character_word WHERE {from} <= word AND word < {to}")
        }
        CharacterCondition::Tags(tags) => {
            let tags = draft.add_texts(tags);
            format!("SELECT character FROM character_tag WHERE tag IN ({tags})")
        }
        CharacterCondition::Models(models) => {
            let models = draft.add_texts(models);
            format!("SELECT seq AS character FROM character WHERE model IN ({models})")
        }
    }
}

/// SQL that tests if the character with the number `seq` matches.
fn build_match_test(
    condition: &CharacterCondition<'_>,
    seq: &str,
    draft: &mut SqlParameters,
) -> String {
    match condition {
        CharacterCondition::Word(word) => {
            let (from, to) = draft.add_prefix_range(word);
            format!(
                "EXISTS (SELECT 1 FROM character_word w WHERE w.character = {seq} \
                 AND {from} <= w.word AND w.word < {to})"
            )
        }
        CharacterCondition::Tags(tags) => {
            let tags = draft.add_texts(tags);
            format!(
                "EXISTS (SELECT 1 FROM character_tag t WHERE t.character = {seq} \
                 AND t.tag IN ({tags}))"
            )
        }
        CharacterCondition::Models(models) => {
            let models = draft.add_texts(models);
            format!("(SELECT model FROM character WHERE seq = {seq}) IN ({models})")
        }
    }
}

/// The sorted row numbers of the matching characters; None if they are not rare.
fn find_row_numbers(
    condition: &CharacterCondition<'_>,
    connection: &Connection,
    rare_max: usize,
) -> rusqlite::Result<Option<Vec<i64>>> {
    let mut draft = SqlParameters { values: Vec::new() };
    let rows = build_match_query(condition, &mut draft);
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
fn intersect_sorted(one: &[i64], other: &[i64]) -> Vec<i64> {
    let mut rest = other.iter().peekable();
    let is_there = |number: &&i64| {
        while rest.next_if(|it| it < number).is_some() {}
        rest.peek() == Some(number)
    };
    one.iter().filter(is_there).copied().collect()
}

pub(crate) fn list_characters(
    connection: &Connection,
    query: &CharacterQuery,
    asker: Option<OwnerId>,
) -> rusqlite::Result<Vec<ListedCharacter>> {
    let conditions = query.conditions();
    let rare_max = rare_max(conditions.len());
    let (mut fitting, mut common): (Option<Vec<i64>>, Vec<&CharacterCondition<'_>>) =
        (None, Vec::new());
    for condition in &conditions {
        match (find_row_numbers(condition, connection, rare_max)?, &fitting) {
            (None, _) => common.push(condition),
            (Some(numbers), None) => fitting = Some(numbers),
            (Some(numbers), Some(others)) => fitting = Some(intersect_sorted(others, &numbers)),
        }
    }
    let asker = asker.map_or(Value::Null, |it| Value::Blob(it.0.as_bytes().to_vec()));
    let mut draft = SqlParameters { values: vec![asker] };
    let (key, index, also) = choose_sort_column(query.sort);
    let from = match fitting {
        Some(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
            let numbers = draft.add_value(format!("[{}]", numbers.join(",")));
            format!("json_each({numbers}) m CROSS JOIN character c ON c.seq = m.value")
        }
        None => {
            let index = index.map(|name| format!(" INDEXED BY {name}")).unwrap_or_default();
            format!("character c{index}")
        }
    };
    let mut tests: Vec<String> =
        common.iter().map(|it| build_match_test(it, "c.seq", &mut draft)).collect();
    tests.push(format!("c.adult = {}", draft.add_value(query.adult)));
    let flags = [("pro", query.pro), ("web_enabled", query.web_enabled)];
    for (column, wanted) in flags {
        if let Some(wanted) = wanted {
            tests.push(format!("c.{column} = {}", draft.add_value(wanted)));
        }
    }
    tests.extend(also.map(str::to_owned));
    let direction = if query.ascending { "ASC" } else { "DESC" };
    let limit = draft.add_value(i64::try_from(query.limit).unwrap_or(i64::MAX));
    let offset = draft.add_value(i64::try_from(query.offset).unwrap_or(i64::MAX));
    let sql = format!(
        "SELECT {COLUMNS} FROM {from} WHERE {} ORDER BY c.{key} {direction}, c.seq {direction} \
         LIMIT {limit} OFFSET {offset}",
        tests.join(" AND ")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let lines = statement.query_map(params_from_iter(draft.values), |row| {
        read_shared_row(row, listed_character_at)
    })?;
    lines.collect()
}

/// The sort column, a partial index for it, and the condition of that index.
fn choose_sort_column(
    sort: CharacterSort,
) -> (&'static str, Option<&'static str>, Option<&'static str>) {
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
        assert_eq!(intersect_sorted(&[1, 3, 5, 7, 9], &[0, 3, 4, 9]), [3, 9]);
        assert_eq!(intersect_sorted(&[1, 2], &[1, 2]), [1, 2]);
        assert_eq!(intersect_sorted(&[5], &[]), Vec::<i64>::new());
        assert_eq!(intersect_sorted(&[], &[5]), Vec::<i64>::new());
        assert_eq!(intersect_sorted(&[8], &[1, 2, 8]), [8]);
    }
}
