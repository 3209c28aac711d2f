//! Settings by name.

use crate::error::StoreError;
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{SqlConnection, SqlPosting, SqlText, SqlValue};

pub(crate) const READ: SqlText = shared_sql!("SELECT value FROM setting WHERE name = $1");

const ADD: SqlText = shared_sql!("INSERT INTO setting (name, value) VALUES ($1, $2)");

const PUT: SqlText = shared_sql!(
    "INSERT INTO setting (name, value) VALUES ($1, $2) \
     ON CONFLICT (name) DO UPDATE SET value = excluded.value"
);

pub async fn read_setting(
    db: &dyn SqlConnection,
    name: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    db.row(READ, &sql_values![name], |row| row.get(0)).await
}

/// Adds a setting; an existing one is a duplicate.
pub(crate) fn add_setting<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    name: &'a str,
    value: &'a [u8],
) -> Result<(), P::Error> {
    posting.run(ADD, sql_values![name, value])
}

pub(crate) fn put_setting<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    name: &'a str,
    value: impl Into<SqlValue<'a>>,
) -> Result<(), P::Error> {
    posting.run(PUT, sql_values![name, value.into()])
}
