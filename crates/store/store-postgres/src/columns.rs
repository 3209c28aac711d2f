//! Converts columns of a row to our values and back; an unknown value is an error.

use std::borrow::Cow;

use moment::Timestamp;
use money::{Nano, Price, PriceUnits};
use store::error::StoreError;
use store::names::per_of;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::error::PgError;

pub(crate) fn read_column<'row, T: FromSql<'row>>(
    row: &'row Row,
    column: usize,
) -> Result<T, PgError> {
    row.try_get(column).map_err(PgError::from)
}

pub(crate) fn read_time(row: &Row, column: usize) -> Result<Timestamp, PgError> {
    read_column(row, column).map(Timestamp::from_ms)
}

pub(crate) fn read_optional_time(row: &Row, column: usize) -> Result<Option<Timestamp>, PgError> {
    let ms: Option<i64> = read_column(row, column)?;
    Ok(ms.map(Timestamp::from_ms))
}

pub(crate) fn read_nano(row: &Row, column: usize) -> Result<Nano, PgError> {
    read_column(row, column).map(Nano::from_nanos)
}

pub(crate) fn read_optional_nano(row: &Row, column: usize) -> Result<Option<Nano>, PgError> {
    let nanos: Option<i64> = read_column(row, column)?;
    Ok(nanos.map(Nano::from_nanos))
}

/// Reads a number that is never negative.
pub(crate) fn read_unsigned<T: TryFrom<i64>>(row: &Row, column: usize) -> Result<T, PgError> {
    let number: i64 = read_column(row, column)?;
    T::try_from(number).map_err(|_| refuse_unknown(number))
}

pub(crate) fn read_optional_unsigned<T: TryFrom<i64>>(
    row: &Row,
    column: usize,
) -> Result<Option<T>, PgError> {
    let number: Option<i64> = read_column(row, column)?;
    number.map(|number| T::try_from(number).map_err(|_| refuse_unknown(number))).transpose()
}

pub(crate) fn read_bytes<const N: usize>(row: &Row, column: usize) -> Result<[u8; N], PgError> {
    let bytes: &[u8] = read_column(row, column)?;
    bytes.try_into().map_err(|_| refuse_unknown(format!("{} bytes", bytes.len())))
}

/// Parses a name with `parse`; an unknown name is an error.
pub(crate) fn read_parsed<T>(
    row: &Row,
    column: usize,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, PgError> {
    let name: &str = read_column(row, column)?;
    parse(name).ok_or_else(|| refuse_unknown(format!("{name:?}")))
}

pub(crate) fn read_price(row: &Row, column: usize) -> Result<Price, PgError> {
    let picos: i64 = read_column(row, column)?;
    Price::from_picos(picos).ok_or_else(|| refuse_unknown(picos))
}

pub(crate) fn read_price_units(row: &Row, column: usize) -> Result<PriceUnits, PgError> {
    let units: i64 = read_column(row, column)?;
    per_of(units).ok_or_else(|| refuse_unknown(units))
}

pub(crate) fn refuse_unknown(value: impl std::fmt::Display) -> PgError {
    let text = format!("{value} is not a value that this release knows");
    PgError::Refused(StoreError::Failed(text))
}

/// A text that Postgres accepts: it allows every character but NUL, which is replaced.
pub(crate) fn to_sql_text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

/// Converts a count to the database's type.
pub(crate) fn to_signed(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number)
        .map_err(|_| StoreError::Refused("a number does not fit into 64 bits".to_owned()))
}

pub(crate) fn to_optional_signed(number: Option<u64>) -> Result<Option<i64>, StoreError> {
    number.map(to_signed).transpose()
}

/// A row limit, at most `i64::MAX`.
pub(crate) fn to_row_limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
