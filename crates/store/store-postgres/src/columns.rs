//! Converts columns of a row to our values and back.

use std::borrow::Cow;

use store::error::StoreError;
use store::sql::to_signed;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::error::PgError;

pub(crate) fn read_column<'row, T: FromSql<'row>>(
    row: &'row Row,
    column: usize,
) -> Result<T, PgError> {
    row.try_get(column).map_err(PgError::from)
}

/// A text that Postgres accepts: it allows every character but NUL, which is replaced.
pub(crate) fn to_sql_text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

pub(crate) fn to_optional_signed(number: Option<u64>) -> Result<Option<i64>, StoreError> {
    number.map(to_signed).transpose()
}

/// A row limit, at most `i64::MAX`.
pub(crate) fn to_row_limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
