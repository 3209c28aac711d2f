//! A database-independent copy of everything in a store: `tollgate export` writes it and `tollgate
//! import` reads it.
//!
//! `tables` lists the tables and their order, `value` defines a cell, `writer` and `reader` handle
//! the file: one JSON value per line, and a checksum of all of them in the last one.

mod reader;
mod tables;
#[cfg(test)]
mod tests;
mod value;
mod writer;

pub use reader::ExportReader;
pub use tables::{ColumnKind, ExportColumn, ExportTable, TABLES};
pub use value::ExportValue;
pub use writer::ExportWriter;

use uuid::Uuid;

use crate::account_id;

/// The format version that this release writes, and the only one it reads.
pub const FORMAT: u64 = 1;

/// The longest line: the largest row has a picture of 16 MiB.
pub const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The progress of an export or an import, reported at intervals and after each table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportProgress {
    pub table: &'static str,
    /// Rows of this table so far.
    pub rows: u64,
    pub is_whole: bool,
}

/// Called with the progress.
pub type ProgressCallback<'a> = &'a mut (dyn FnMut(ExportProgress) + Send);

/// Rows between two reports of progress.
const TOLD_EVERY: u64 = 1000;

/// The id of an account in an export, where system accounts belong to no node.
pub fn account_in_export(owner: Option<Uuid>, currency: &str, name: &str) -> Uuid {
    match owner {
        Some(owner) => account_id::lot_account_id(owner, currency, name),
        None => account_id::system_account_id(Uuid::nil(), currency, name),
    }
}
