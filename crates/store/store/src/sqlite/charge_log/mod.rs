//! The charge log: charges are made durable by one small row for each batch, and posted to their
//! tables many at a time.
//!
//! A charge changes eight pages of the database: its transfers and their index, balances, counters,
//! usage and its sums. Writing those for every commit is most of the cost of a charge, and charges
//! that are posted together share most of them. So a batch of only charges is committed as one row
//! of the table `charge_log`; the groups are also kept in memory, and posted later by the code that
//! posts everything else. The transaction that posts them deletes the rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{Connection, ErrorCode};

use crate::error::StoreError;
use crate::sqlite::charge_log::admission::ChargeAdmission;
use crate::sqlite::errors::{is_fatal, to_store_error};
use crate::sqlite::posting::{SqliteCaches, SqlitePosting};
use crate::sqlite::queue::QueuedGroup;
use crate::sqlite::write_error::WriteError;
use crate::write::WriteGroup;

mod admission;
mod bytes;
mod codec;
pub(crate) mod crash_recovery;
pub(crate) mod old_file;

pub(crate) use codec::encode_groups;

#[derive(Debug, Default)]
pub(crate) struct ChargeLog {
    /// Acknowledged and in rows of the log, in order, and not in their tables.
    groups: Vec<WriteGroup>,
    rows: usize,
    admission: ChargeAdmission,
    is_admission_current: bool,
    pending: Arc<UnpostedFlag>,
}

/// Set while an acknowledged charge is not in its tables yet, for readers of the tables.
#[derive(Debug, Default)]
pub(crate) struct UnpostedFlag(AtomicBool);

impl UnpostedFlag {
    pub(crate) fn is_any(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl ChargeLog {
    pub(crate) fn new(pending: Arc<UnpostedFlag>) -> ChargeLog {
        ChargeLog { pending, ..ChargeLog::default() }
    }

    /// Number of groups that are not in their tables.
    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Number of rows that posting the log writes.
    pub(crate) fn count_rows(&self) -> usize {
        self.groups.iter().map(|group| group.writes.len()).sum()
    }

    /// Adds a batch to the log in the current transaction, given as `row` by [`encode_groups`].
    /// False, with nothing added, if a charge of it might be refused by the tables. Its groups are
    /// counted from then on, so call [`keep_batch`](ChargeLog::keep_batch) once the transaction is
    /// durable, and [`clear_admission`](ChargeLog::clear_admission) if it is rolled back.
    pub(crate) fn add_row(
        &mut self,
        connection: &Connection,
        batch: &[QueuedGroup],
        row: &[u8],
    ) -> Result<bool, WriteError> {
        if !self.admit_batch(connection, batch)? {
            self.clear_admission();
            return Ok(false);
        }
        let sql = "INSERT INTO charge_log (charges) VALUES (?1)";
        connection.prepare_cached(sql)?.execute([row])?;
        Ok(true)
    }

    /// Keeps the groups of a batch in memory, whose row is durable.
    pub(crate) fn keep_batch(&mut self, batch: &mut [QueuedGroup]) {
        self.groups.extend(batch.iter_mut().map(|waiting| std::mem::take(&mut waiting.group)));
        self.rows += 1;
        self.pending.0.store(true, Ordering::Release);
    }

    fn admit_batch(
        &mut self,
        connection: &Connection,
        batch: &[QueuedGroup],
    ) -> rusqlite::Result<bool> {
        if !self.is_admission_current {
            for group in &self.groups {
                self.admission.admit_group(connection, group)?;
            }
            self.is_admission_current = true;
        }
        for waiting in batch {
            if !self.admission.admit_group(connection, &waiting.group)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Posts the log in the current transaction.
    pub(crate) fn post_groups<'batch>(
        &'batch self,
        connection: &Connection,
        posting: &mut SqlitePosting<'batch>,
    ) -> Result<(), WriteError> {
        if self.is_empty() {
            return Ok(());
        }
        // First, so that the transaction can use their pages again.
        delete_rows(connection, self.rows)?;
        for group in &self.groups {
            posting.add(group)?;
        }
        Ok(())
    }

    /// Posts the log alone. Its charges were acknowledged, so a refusal is our own fault.
    pub(crate) fn post_alone(
        &self,
        connection: &Connection,
        memory: &mut SqliteCaches,
    ) -> Result<(), WriteError> {
        let mut posting = SqlitePosting::new(connection, memory)?;
        let posted = self.post_groups(connection, &mut posting).and_then(|()| posting.finish());
        posted.map_err(|error| match error {
            WriteError::Sqlite(error) if is_full(&error) || is_fatal(&error) => {
                WriteError::Sqlite(error)
            }
            WriteError::Sqlite(error) => WriteError::Unpostable(to_store_error(error)),
            WriteError::Refused(error) | WriteError::Unpostable(error) => {
                WriteError::Unpostable(error)
            }
        })
    }

    /// Empties the log: the transaction that posted it is durable.
    pub(crate) fn finish_posting(&mut self) {
        self.groups.clear();
        self.rows = 0;
        self.admission.finish_posting();
        self.pending.0.store(false, Ordering::Release);
    }

    /// Clears the counts, because something else than the log changed the tables, or tried to.
    pub(crate) fn clear_admission(&mut self) {
        self.admission.clear();
        self.is_admission_current = false;
    }
}

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// Deletes all rows of the log. If their number is not the expected one, another process has
/// written, and nothing is posted.
fn delete_rows(connection: &Connection, expected: usize) -> Result<(), WriteError> {
    let deleted = connection.prepare_cached("DELETE FROM charge_log")?.execute([])?;
    if deleted == expected {
        return Ok(());
    }
    let found = format!("the charge log has {deleted} rows, and {expected} were written");
    Err(WriteError::Refused(StoreError::Unsuitable(found)))
}
