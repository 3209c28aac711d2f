//! The charge log: charges are made durable by one small record each, and posted to their tables
//! many at a time.
//!
//! A charge changes eight pages of the database: its transfers and their index, balances, counters,
//! usage and its sums. Writing those for every commit is most of the cost of a charge, and charges
//! that are posted together share most of them. So batches of only charges are made durable by one
//! write to a file next to the database; the groups are also kept in memory, and posted later by
//! the code that posts everything else. While they are, further ones go into the other area of the
//! file.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{Connection, ErrorCode};

use crate::error::StoreError;
use crate::sqlite::charge_log::admission::ChargeAdmission;
use crate::sqlite::charge_log::file::LogFile;
use crate::sqlite::errors::{is_fatal, to_store_error};
use crate::sqlite::posting::{SqliteCaches, SqlitePosting};
use crate::sqlite::queue::QueuedGroup;
use crate::sqlite::writer::WriteError;
use crate::write::WriteGroup;

mod admission;
mod bytes;
mod codec;
pub(crate) mod crash_recovery;
pub(crate) mod file;
mod gap;
pub(crate) mod record;

pub(crate) use codec::encode_groups;

/// Groups posted before the queue is checked for new charges (about 0.3 ms of work).
const POSTED_IN_ONE_GO: usize = 16;

#[derive(Debug)]
pub(crate) struct ChargeLog {
    file: LogFile,
    /// Acknowledged and in the file, in order; posting them to their tables has not begun.
    groups: Vec<WriteGroup>,
    /// Number of groups being posted.
    leaving: usize,
    /// The first generation that is not posted, as recorded in the database: the file's or the one
    /// before.
    oldest: i64,
    admission: ChargeAdmission,
    is_admission_current: bool,
    /// Set when writing a record failed: it may be complete on disk all the same. Its generation
    /// ends with the next posting, so that it is never posted again.
    is_soiled: bool,
    pending: Arc<UnpostedFlag>,
}

/// Groups of the log that are being posted to their tables.
#[derive(Debug)]
pub(crate) struct PostingBatch {
    groups: Vec<WriteGroup>,
    /// True if their generation ends, also because of a record that was refused.
    ends: bool,
    /// Their generations: two only after a posting that failed.
    first: i64,
    last: i64,
    /// True if the file has begun a new generation and the admission state is current, so that
    /// charges can be logged during the posting.
    pub(crate) can_go_on: bool,
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
    pub(crate) fn new(file: LogFile, pending: Arc<UnpostedFlag>) -> ChargeLog {
        let (groups, oldest, admission) =
            (Vec::new(), file.generation(), ChargeAdmission::default());
        ChargeLog {
            file,
            groups,
            leaving: 0,
            oldest,
            admission,
            is_admission_current: false,
            is_soiled: false,
            pending,
        }
    }

    #[cfg(test)]
    pub(crate) fn file_mut(&mut self) -> &mut LogFile {
        &mut self.file
    }

    /// Number of groups that are not in their tables.
    pub(crate) fn len(&self) -> usize {
        self.groups.len() + self.leaving
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if every charge of a batch can be posted after those of the log. All are then counted
    /// as logged, so the caller must add them now, or [clear] the counts.
    ///
    /// [clear]: ChargeLog::forget_tables
    pub(crate) fn admit_batch(
        &mut self,
        connection: &Connection,
        batch: &[QueuedGroup],
    ) -> rusqlite::Result<bool> {
        if !self.is_admission_current {
            debug_assert!(self.leaving == 0, "what is on its way cannot be counted again");
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

    /// Makes the groups of a batch durable, given as `charges` by [`encode_groups`]. False, with
    /// nothing changed, if there is no room for them.
    pub(crate) fn append_batch(&mut self, charges: &[u8], batch: &mut [QueuedGroup]) -> bool {
        match self.file.append(charges) {
            Ok(true) => {}
            Ok(false) => return false,
            Err(error) if is_no_room(&error) => {
                self.is_soiled = true;
                return false;
            }
            Err(error) => abort_process(&error),
        }
        // It overwrote the record that was refused before.
        self.is_soiled = false;
        self.groups.extend(batch.iter_mut().map(|waiting| std::mem::take(&mut waiting.group)));
        self.pending.0.store(true, Ordering::Release);
        true
    }

    /// Hands out all groups to be posted. Charges that come meanwhile belong to the next
    /// generation, which uses the other area of the file, unless that is not posted either.
    pub(crate) fn begin_posting(&mut self) -> PostingBatch {
        let (first, last) = (self.oldest, self.file.generation());
        let groups = std::mem::take(&mut self.groups);
        let ends = !groups.is_empty() || self.is_soiled;
        let has_turned = ends && first == last;
        if has_turned {
            self.file.begin_next_generation();
        }
        self.leaving = groups.len();
        self.admission.begin_posting();
        PostingBatch {
            groups,
            ends,
            first,
            last,
            can_go_on: has_turned && self.is_admission_current,
        }
    }

    /// The transaction that posted them is durable.
    pub(crate) fn finish_posting(&mut self, leaving: &PostingBatch) {
        if !leaving.ends {
            return;
        }
        self.leaving = 0;
        self.is_soiled = false;
        self.oldest = leaving.last + 1;
        if self.file.generation() < self.oldest {
            self.file.begin_next_generation();
        }
        self.admission.finish_posting();
        if self.admission.is_long() {
            self.clear_admission();
        }
        self.pending.0.store(!self.groups.is_empty(), Ordering::Release);
    }

    /// Puts back groups that were not posted, before those that came since.
    pub(crate) fn restore_groups(&mut self, leaving: PostingBatch) {
        let since = std::mem::replace(&mut self.groups, leaving.groups);
        self.groups.extend(since);
        self.leaving = 0;
        self.clear_admission();
    }

    /// Clears the counts, because something else than the log changed the tables, or tried to.
    pub(crate) fn clear_admission(&mut self) {
        self.admission.clear();
        self.is_admission_current = false;
    }
}

impl PostingBatch {
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Number of rows that posting them writes.
    pub(crate) fn count_rows(&self) -> usize {
        self.groups.iter().map(|group| group.writes.len()).sum()
    }

    /// Posts the groups in the current transaction. `between` is called every few groups, so that
    /// new charges do not wait for the end.
    pub(crate) fn post_groups<'batch>(
        &'batch self,
        connection: &Connection,
        posting: &mut SqlitePosting<'batch>,
        between: &mut dyn FnMut() -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        if !self.ends {
            return Ok(());
        }
        raise_generation(connection, self.first, self.last + 1)?;
        for some in self.groups.chunks(POSTED_IN_ONE_GO) {
            for group in some {
                posting.add(group)?;
            }
            between()?;
        }
        Ok(())
    }

    /// Posts the groups alone. They were acknowledged, so a refusal is our own fault.
    pub(crate) fn post_alone(
        &self,
        connection: &Connection,
        memory: &mut SqliteCaches,
        between: &mut dyn FnMut() -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let mut posting = SqlitePosting::new(connection, memory)?;
        let posted = self
            .post_groups(connection, &mut posting, between)
            .and_then(|()| posting.finish_with(between));
        posted.map_err(|error| match error {
            WriteError::Sqlite(error) if is_full(&error) || is_fatal(&error) => {
                WriteError::Sqlite(error)
            }
            WriteError::Sqlite(error) => WriteError::Unpostable(to_store_error(error)),
            WriteError::Refused(error) | WriteError::Unpostable(error) => {
                WriteError::Unpostable(error)
            }
            WriteError::Meanwhile(error) => WriteError::Meanwhile(error),
        })
    }
}

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// Records in the database that the generations before `next` are posted. If the stored generation
/// is not `first`, another process has written, and nothing is posted.
fn raise_generation(connection: &Connection, first: i64, next: i64) -> Result<(), WriteError> {
    let sql = "UPDATE charge_log_generation SET generation = ?2 WHERE generation = ?1";
    if connection.prepare_cached(sql)?.execute([first, next])? == 1 {
        return Ok(());
    }
    let found = "the charge log was posted by somebody else";
    Err(WriteError::Refused(StoreError::Unsuitable(found.into())))
}

fn is_no_room(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Ends the process at once: it is unknown if the write is on disk.
fn abort_process(error: &io::Error) -> ! {
    tracing::error!(%error, "the charge log cannot be written safely; stopping: {error}");
    std::process::abort();
}
