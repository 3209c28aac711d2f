//! Converts columns of a row; an unknown value is an error.

use moment::Timestamp;
use money::{Nano, Price, PriceUnits};
use rusqlite::Row;
use rusqlite::types::{FromSqlError, Type};
use uuid::Uuid;

use crate::names::per_of;

pub(crate) fn read_id(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    row.get(column).map(Uuid::from_bytes)
}

pub(crate) fn read_optional_id(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Uuid>> {
    let bytes: Option<[u8; 16]> = row.get(column)?;
    Ok(bytes.map(Uuid::from_bytes))
}

pub(crate) fn read_time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp::from_ms)
}

pub(crate) fn read_optional_time(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<Timestamp>> {
    let ms: Option<i64> = row.get(column)?;
    Ok(ms.map(Timestamp::from_ms))
}

pub(crate) fn read_nano(row: &Row<'_>, column: usize) -> rusqlite::Result<Nano> {
    row.get(column).map(Nano::from_nanos)
}

pub(crate) fn read_optional_nano(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Nano>> {
    let nanos: Option<i64> = row.get(column)?;
    Ok(nanos.map(Nano::from_nanos))
}

/// Parses a name with `parse`; an unknown name is an error.
pub(crate) fn read_parsed<T>(
    row: &Row<'_>,
    column: usize,
    parse: impl Fn(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let name: String = row.get(column)?;
    parse(&name).ok_or_else(|| {
        let unknown = format!("{name:?} is not a value that this release knows");
        let error = FromSqlError::Other(unknown.into());
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

pub(crate) fn read_price(row: &Row<'_>, column: usize) -> rusqlite::Result<Price> {
    let picos: i64 = row.get(column)?;
    Price::from_picos(picos).ok_or(rusqlite::Error::IntegralValueOutOfRange(column, picos))
}

pub(crate) fn read_price_units(row: &Row<'_>, column: usize) -> rusqlite::Result<PriceUnits> {
    let units: i64 = row.get(column)?;
    per_of(units).ok_or(rusqlite::Error::IntegralValueOutOfRange(column, units))
}
