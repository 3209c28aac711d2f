//! Writes an export: a first line, for each table a line with its columns and its rows, and a last
//! line with the number of rows and the checksum of all lines before it.

use std::io::Write;

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::tables::{ExportTable, TABLES};
use super::{ExportProgress, ExportValue, FORMAT, ProgressCallback, TOLD_EVERY};
use crate::error::StoreError;

pub struct ExportWriter<'a, W> {
    to: W,
    tell: ProgressCallback<'a>,
    checksum: Sha256,
    /// Number of tables begun.
    tables: usize,
    table_rows: u64,
    rows: u64,
}

impl<'a, W: Write> ExportWriter<'a, W> {
    /// Starts an export. `release` is for people: the program version that wrote it.
    pub fn begin(
        to: W,
        release: &str,
        tell: ProgressCallback<'a>,
    ) -> Result<ExportWriter<'a, W>, StoreError> {
        let checksum = Sha256::new();
        let mut writer = ExportWriter { to, tell, checksum, tables: 0, table_rows: 0, rows: 0 };
        writer.write_line(&json!({ "tollgate_export": FORMAT, "release": release }))?;
        Ok(writer)
    }

    /// Starts a table, whose rows follow. Tables come in the order of [`TABLES`].
    pub fn begin_table(&mut self, table: &'static ExportTable) -> Result<(), StoreError> {
        self.end_table();
        assert_eq!(TABLES.get(self.tables), Some(table), "tables come in their order");
        self.tables += 1;
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        self.write_line(&json!({ "table": table.name, "columns": columns }))
    }

    pub fn write_row(&mut self, cells: Vec<ExportValue>) -> Result<(), StoreError> {
        self.write_line(&Json::Array(cells.into_iter().map(ExportValue::into_json).collect()))?;
        self.rows += 1;
        self.table_rows += 1;
        if self.table_rows.is_multiple_of(TOLD_EVERY) {
            self.report_progress(false);
        }
        Ok(())
    }

    /// Writes the last line. Returns the number of rows.
    pub fn finish(mut self) -> Result<u64, StoreError> {
        self.end_table();
        assert_eq!(self.tables, TABLES.len(), "every table is in an export");
        let checksum = hex::encode(self.checksum.clone().finalize());
        self.write_line(&json!({ "end": { "rows": self.rows, "sha256": checksum } }))?;
        self.to.flush().map_err(not_written)?;
        Ok(self.rows)
    }

    fn end_table(&mut self) {
        self.report_progress(true);
        self.table_rows = 0;
    }

    fn report_progress(&mut self, is_whole: bool) {
        let Some(table) = self.tables.checked_sub(1).and_then(|last| TABLES.get(last)) else {
            return;
        };
        (self.tell)(ExportProgress { table: table.name, rows: self.table_rows, is_whole });
    }

    fn write_line(&mut self, json: &Json) -> Result<(), StoreError> {
        let mut line =
            serde_json::to_vec(json).map_err(std::io::Error::from).map_err(not_written)?;
        line.push(b'\n');
        self.checksum.update(&line);
        self.to.write_all(&line).map_err(not_written)
    }
}

fn not_written(error: std::io::Error) -> StoreError {
    StoreError::Failed(format!("the export could not be written: {error}"))
}
