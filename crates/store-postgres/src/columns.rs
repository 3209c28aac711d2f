//! Converts columns of a row to our values and back; an unknown value is an error.

use std::borrow::Cow;

use moment::Timestamp;
use money::{Nano, Per, Price};
use store::error::StoreError;
use store::names::per_of;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::error::PgError;

pub(crate) fn get<'row, T: FromSql<'row>>(row: &'row Row, column: usize) -> Result<T, PgError> {
    row.try_get(column).map_err(PgError::from)
}

pub(crate) fn time(row: &Row, column: usize) -> Result<Timestamp, PgError> {
    get(row, column).map(Timestamp::from_ms)
}

pub(crate) fn time_or_none(row: &Row, column: usize) -> Result<Option<Timestamp>, PgError> {
    let ms: Option<i64> = get(row, column)?;
    Ok(ms.map(Timestamp::from_ms))
}

pub(crate) fn nano(row: &Row, column: usize) -> Result<Nano, PgError> {
    get(row, column).map(Nano::from_nanos)
}

pub(crate) fn nano_or_none(row: &Row, column: usize) -> Result<Option<Nano>, PgError> {
    let nanos: Option<i64> = get(row, column)?;
    Ok(nanos.map(Nano::from_nanos))
}

/// Reads a number that is never negative.
pub(crate) fn unsigned<T: TryFrom<i64>>(row: &Row, column: usize) -> Result<T, PgError> {
    let number: i64 = get(row, column)?;
    T::try_from(number).map_err(|_| unknown(number))
}

pub(crate) fn unsigned_or_none<T: TryFrom<i64>>(
    row: &Row,
    column: usize,
) -> Result<Option<T>, PgError> {
    let number: Option<i64> = get(row, column)?;
    number.map(|number| T::try_from(number).map_err(|_| unknown(number))).transpose()
}

pub(crate) fn bytes<const N: usize>(row: &Row, column: usize) -> Result<[u8; N], PgError> {
    let bytes: &[u8] = get(row, column)?;
    bytes.try_into().map_err(|_| unknown(format!("{} bytes", bytes.len())))
}

pub(crate) fn bytes_or_none<const N: usize>(
    row: &Row,
    column: usize,
) -> Result<Option<[u8; N]>, PgError> {
    let bytes: Option<&[u8]> = get(row, column)?;
    let whole =
        |bytes: &[u8]| bytes.try_into().map_err(|_| unknown(format!("{} bytes", bytes.len())));
    bytes.map(whole).transpose()
}

/// Parses a name with `parse`; an unknown name is an error.
pub(crate) fn parsed<T>(
    row: &Row,
    column: usize,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, PgError> {
    let name: &str = get(row, column)?;
    parse(name).ok_or_else(|| unknown(format!("{name:?}")))
}

pub(crate) fn price(row: &Row, column: usize) -> Result<Price, PgError> {
    let picos: i64 = get(row, column)?;
    Price::from_picos(picos).ok_or_else(|| unknown(picos))
}

pub(crate) fn per(row: &Row, column: usize) -> Result<Per, PgError> {
    let units: i64 = get(row, column)?;
    per_of(units).ok_or_else(|| unknown(units))
}

pub(crate) fn unknown(value: impl std::fmt::Display) -> PgError {
    let text = format!("{value} is not a value that this release knows");
    PgError::Refused(StoreError::Failed(text))
}

/// A text that Postgres accepts: it allows every character but NUL, which is replaced.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

pub(crate) fn text_or_none(optional: Option<&String>) -> Option<Cow<'_, str>> {
    optional.map(|written| text(written))
}

/// Converts a count to the database's type.
pub(crate) fn signed(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number)
        .map_err(|_| StoreError::Refused("a number does not fit into 64 bits".to_owned()))
}

pub(crate) fn signed_or_none(number: Option<u64>) -> Result<Option<i64>, StoreError> {
    number.map(signed).transpose()
}

/// A row limit, at most `i64::MAX`.
pub(crate) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
