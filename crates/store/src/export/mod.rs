//! Everything that a store holds, in a form that belongs to no database: what `tollgate export`
//! writes and `tollgate import` reads.
//!
//! `tables` says what there is and in which order, `value` what a cell is, `writer` and `reader`
//! are the file: one JSON value a line, and a checksum of all of it in the last one.

mod reader;
mod tables;
#[cfg(test)]
mod tests;
mod value;
mod writer;

pub use reader::Reader;
pub use tables::{Column, ColumnKind, TABLES, Table};
pub use value::Value;
pub use writer::Writer;

use uuid::Uuid;

use crate::account_id;

/// Which form this release writes, and the only one that it reads.
pub const FORMAT: u64 = 1;

/// No row is longer: the longest has a picture of 16 MiB.
pub const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How far an export or an import is, told now and then and after each table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub table: &'static str,
    /// Of this table.
    pub rows: u64,
    pub is_whole: bool,
}

/// Told of progress.
pub type Teller<'a> = &'a mut (dyn FnMut(Progress) + Send);

/// Rows between two reports of progress.
const TOLD_EVERY: u64 = 1000;

/// What an account is called in an export: system accounts belong to no node there.
pub fn account_in_export(owner: Option<Uuid>, currency: &str, name: &str) -> Uuid {
    match owner {
        Some(owner) => account_id::of_lot(owner, currency, name),
        None => account_id::of_system(Uuid::nil(), currency, name),
    }
}
