//! Reads an export. Errors name the line. The caller may keep the rows only after the end was read:
//! the checksum in the last line shows that the file is complete and unchanged.

use std::io::{BufRead, Read};

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::tables::{ExportTable, TABLES};
use super::{ExportProgress, ExportValue, FORMAT, LINE_BYTES_MAX, ProgressCallback, TOLD_EVERY};
use crate::error::StoreError;

pub struct ExportReader<'a, R> {
    from: R,
    tell: ProgressCallback<'a>,
    checksum: Sha256,
    line: Vec<u8>,
    line_number: u64,
    /// Number of tables begun.
    tables: usize,
    table_rows: u64,
    rows: u64,
    /// A line that was read ahead and is not a row of the current table.
    ahead: Option<Json>,
}

impl<'a, R: BufRead> ExportReader<'a, R> {
    pub fn begin(from: R, tell: ProgressCallback<'a>) -> Result<ExportReader<'a, R>, StoreError> {
        let mut reader = ExportReader {
            from,
            tell,
            checksum: Sha256::new(),
            line: Vec::new(),
            line_number: 0,
            tables: 0,
            table_rows: 0,
            rows: 0,
            ahead: None,
        };
        let is_ours = match reader.read_line() {
            Ok(is_there) => is_there,
            Err(StoreError::Unsuitable(_)) => false,
            Err(error) => return Err(error),
        };
        let first: Json = serde_json::from_slice(&reader.line).unwrap_or_default();
        let Some(format) = first["tollgate_export"].as_u64().filter(|_| is_ours) else {
            return Err(unsuitable_error(
                "this is no file that `tollgate export` wrote".to_owned(),
            ));
        };
        if format != FORMAT {
            let release = first["release"].as_str().unwrap_or("unknown");
            return Err(unsuitable_error(format!(
                "the export has format {format} of release {release}, and this release reads \
                 format {FORMAT}; import it with that release, and upgrade then"
            )));
        }
        reader.checksum.update(&reader.line);
        Ok(reader)
    }

    /// The next table, whose rows follow. None after the last line, whose checksum was verified.
    pub fn next_table(&mut self) -> Result<Option<&'static ExportTable>, StoreError> {
        let line = match self.ahead.take() {
            Some(line) => line,
            None => self.next()?,
        };
        self.report_progress(true);
        let Some(table) = TABLES.get(self.tables) else {
            return self.check_end(&line).map(|()| None);
        };
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        if line != json!({ "table": table.name, "columns": columns }) {
            let name = table.name;
            return Err(self.damage_error(&format!(
                "the table `{name}` should begin here, with the columns that this release knows; \
                 was it exported by the same release?"
            )));
        }
        self.tables += 1;
        self.table_rows = 0;
        Ok(Some(table))
    }

    /// The next row of the table; None after its last.
    pub fn next_row(&mut self) -> Result<Option<Vec<ExportValue>>, StoreError> {
        if self.ahead.is_some() {
            return Ok(None);
        }
        let cells = match self.next()? {
            Json::Array(cells) => cells,
            other => {
                self.ahead = Some(other);
                return Ok(None);
            }
        };
        let columns = TABLES[self.tables - 1].columns;
        let is_full = cells.len() == columns.len();
        let values = cells.into_iter().zip(columns);
        let values =
            values.map(|(cell, column)| ExportValue::from_json(cell, column.kind)).collect();
        let Some(values) = Option::<Vec<ExportValue>>::filter(values, |_| is_full) else {
            return Err(self.damage_error("this is no row of its table"));
        };
        self.rows += 1;
        self.table_rows += 1;
        if self.table_rows.is_multiple_of(TOLD_EVERY) {
            self.report_progress(false);
        }
        Ok(Some(values))
    }

    /// The number of rows read.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn next(&mut self) -> Result<Json, StoreError> {
        if !self.read_line()? {
            return Err(self.damage_error("the file is cut off"));
        }
        let Ok(json) = serde_json::from_slice::<Json>(&self.line) else {
            return Err(self.damage_error("this is no JSON"));
        };
        if json.get("end").is_none() {
            self.checksum.update(&self.line);
        }
        Ok(json)
    }

    fn check_end(&mut self, line: &Json) -> Result<(), StoreError> {
        let checksum = hex::encode(self.checksum.clone().finalize());
        if *line != json!({ "end": { "rows": self.rows, "sha256": checksum } }) {
            return Err(self.damage_error(
                "the checksum is not that of the lines before: the file was changed",
            ));
        }
        if self.read_line()? {
            return Err(self.damage_error("nothing should follow the last line"));
        }
        Ok(())
    }

    /// False at the end of the file.
    fn read_line(&mut self) -> Result<bool, StoreError> {
        self.line.clear();
        self.line_number += 1;
        let read = (&mut self.from).take(LINE_BYTES_MAX).read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| {
            StoreError::Failed(format!("the export could not be read: {error}"))
        })?;
        if read != 0 && !self.line.ends_with(b"\n") {
            return Err(self.damage_error("the file is cut off"));
        }
        Ok(read != 0)
    }

    fn report_progress(&mut self, is_whole: bool) {
        let Some(table) = self.tables.checked_sub(1).and_then(|last| TABLES.get(last)) else {
            return;
        };
        (self.tell)(ExportProgress { table: table.name, rows: self.table_rows, is_whole });
    }

    fn damage_error(&self, what: &str) -> StoreError {
        unsuitable_error(format!("the export is damaged, in line {}: {what}", self.line_number))
    }
}

fn unsuitable_error(message: String) -> StoreError {
    StoreError::Unsuitable(message)
}
