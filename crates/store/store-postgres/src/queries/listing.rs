//! Lists of characters: one statement, driven by the condition with the fewest matches.
//!
//! If a word, tag or model is rare, its matches are read and sorted. If all are common, characters
//! are scanned in the sort order until enough are found. Either way a list over a hundred thousand
//! characters reads few of them. `OFFSET 0` keeps Postgres from turning the lookup for each
//! character into a join over all of them.

use ledger_core::OwnerId;
use store::character::{
    CharacterCondition, CharacterQuery, CharacterSort, ListedCharacter, find_rarest_condition,
    rare_max,
};
use store::sql::characters::{self, listed_character_at};
use store::sql::to_signed;
use tokio_postgres::types::ToSql;

use crate::columns::{read_column, to_row_limit, to_sql_text};
use crate::error::PgError;
use crate::session::PostgresSession;
use crate::shared_sql::read_shared_row;

const COLUMNS: &str = characters::COLUMNS.postgres;

type Value = Box<dyn ToSql + Sync + Send>;

/// The parameters of a statement under construction.
#[derive(Default)]
struct StatementParameters {
    values: Vec<Value>,
}

impl StatementParameters {
    fn add_value(&mut self, value: impl ToSql + Sync + Send + 'static) -> String {
        self.values.push(Box::new(value));
        format!("${}", self.values.len())
    }

    fn add_text(&mut self, written: &str) -> String {
        self.add_value(to_sql_text(written).into_owned())
    }

    fn add_texts(&mut self, texts: &[String]) -> String {
        self.add_value(texts.iter().map(|it| to_sql_text(it).into_owned()).collect::<Vec<String>>())
    }

    /// The range of words with this prefix: its start, and its exclusive end.
    fn add_prefix_range(&mut self, beginning: &str) -> (String, String) {
        (self.add_text(beginning), self.add_text(&CharacterCondition::prefix_range_end(beginning)))
    }

    async fn rows(
        &self,
        db: &PostgresSession,
        sql: &str,
    ) -> Result<Vec<tokio_postgres::Row>, PgError> {
        let values: Vec<&(dyn ToSql + Sync)> =
            self.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        db.rows(sql, &values).await
    }
}

pub(crate) async fn list_characters(
    db: &PostgresSession,
    query: &CharacterQuery,
    asker: Option<OwnerId>,
) -> Result<Vec<ListedCharacter>, PgError> {
    let conditions = query.conditions();
    let mut counts = Vec::with_capacity(conditions.len());
    for condition in &conditions {
        counts.push(count_matches(condition, db, rare_max(conditions.len())).await?);
    }
    let mut draft = StatementParameters::default();
    draft.add_value(asker.map(|asker| asker.0));
    let mut tests: Vec<String> = Vec::new();
    let from = match find_rarest_condition(&counts) {
        Some(first) => {
            let rows = build_match_query(&conditions[first], &mut draft);
            let others = conditions.iter().enumerate().filter(|(index, _)| *index != first);
            let mut inner = vec!["TRUE".to_owned()];
            inner.extend(others.map(|(_, it)| build_match_test(it, "d.character", &mut draft)));
            format!(
                "(SELECT DISTINCT d.character AS seq FROM ({rows}) d WHERE {}) m \
                 JOIN character c ON c.seq = m.seq",
                inner.join(" AND ")
            )
        }
        None => {
            tests.extend(conditions.iter().map(|it| build_match_test(it, "c.seq", &mut draft)));
            "character c".to_owned()
        }
    };
    tests.push(format!("c.adult = {}", draft.add_value(query.adult)));
    let flags = [("pro", query.pro), ("web_enabled", query.web_enabled)];
    for (column, wanted) in flags {
        if let Some(wanted) = wanted {
            tests.push(format!("c.{column} = {}", draft.add_value(wanted)));
        }
    }
    let (key, also) = choose_sort_column(query.sort);
    tests.extend(also.map(str::to_owned));
    let direction = if query.ascending { "ASC" } else { "DESC" };
    let rows_max = draft.add_value(to_row_limit(query.limit));
    let offset = draft.add_value(to_signed(query.offset).unwrap_or(i64::MAX));
    let sql = format!(
        "SELECT {COLUMNS} FROM {from} WHERE {} ORDER BY c.{key} {direction}, c.seq {direction} \
         LIMIT {rows_max} OFFSET {offset}",
        tests.join(" AND ")
    );
    let rows = draft.rows(db, &sql).await?;
    rows.iter().map(|row| read_shared_row(row, listed_character_at)).collect()
}

/// SQL for the row numbers of the matching characters.
fn build_match_query(
    condition: &CharacterCondition<'_>,
    draft: &mut StatementParameters,
) -> String {
    match condition {
        CharacterCondition::Word(word) => {
            let (from, to) = draft.add_prefix_range(word);
            format!("SELECT character FROM character_word WHERE {from} <= word AND word < {to}")
        }
        CharacterCondition::Tags(tags) => {
            let tags = draft.add_texts(tags);
            format!("SELECT character FROM character_tag WHERE tag = ANY ({tags})")
        }
        CharacterCondition::Models(models) => {
            let models = draft.add_texts(models);
            format!("SELECT seq AS character FROM character WHERE model = ANY ({models})")
        }
    }
}

/// SQL that tests if the character with the number `seq` matches.
fn build_match_test(
    condition: &CharacterCondition<'_>,
    seq: &str,
    draft: &mut StatementParameters,
) -> String {
    match condition {
        CharacterCondition::Word(word) => {
            let (from, to) = draft.add_prefix_range(word);
            format!(
                "EXISTS (SELECT 1 FROM character_word w WHERE w.character = {seq} \
                 AND {from} <= w.word AND w.word < {to} OFFSET 0)"
            )
        }
        CharacterCondition::Tags(tags) => {
            let tags = draft.add_texts(tags);
            format!(
                "EXISTS (SELECT 1 FROM character_tag t WHERE t.character = {seq} \
                 AND t.tag = ANY ({tags}) OFFSET 0)"
            )
        }
        CharacterCondition::Models(models) => {
            let models = draft.add_texts(models);
            format!("(SELECT model FROM character WHERE seq = {seq}) = ANY ({models})")
        }
    }
}

/// The number of matching characters, counted up to one more than is rare.
async fn count_matches(
    condition: &CharacterCondition<'_>,
    db: &PostgresSession,
    rare_max: usize,
) -> Result<usize, PgError> {
    let mut draft = StatementParameters::default();
    let rows = build_match_query(condition, &mut draft);
    let sql = format!("SELECT count(*) FROM ({rows} LIMIT {}) AS fitting", rare_max + 1);
    let counted: i64 = match draft.rows(db, &sql).await?.first() {
        Some(row) => read_column(row, 0)?,
        None => 0,
    };
    Ok(usize::try_from(counted).unwrap_or(usize::MAX))
}

/// The sort column, and the condition of the partial index for it.
fn choose_sort_column(sort: CharacterSort) -> (&'static str, Option<&'static str>) {
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
