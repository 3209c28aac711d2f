//! Charges that are durable in one small record, and go into their tables many at a time.
//!
//! A charge changes eight pages of the database: its transfers and their index, balances, counters,
//! usage and its sums. Writing those for every commit is most of what a charge costs, and charges
//! that are posted together share most of them. So charges alone are made durable by one write to a
//! file beside the database; the groups are kept in memory too, and are posted by the code that
//! posts everything else.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{Connection, ErrorCode};

use crate::error::StoreError;
use crate::sqlite::charge_log::admission::Admission;
use crate::sqlite::charge_log::file::LogFile;
use crate::sqlite::fault::{is_fatal, refusal};
use crate::sqlite::posting::{Memory, Posting};
use crate::sqlite::queue::Waiting;
use crate::sqlite::writer::Fault;
use crate::write::Group;

mod admission;
mod bytes;
mod codec;
pub(crate) mod file;
mod gap;
pub(crate) mod left_over;
pub(crate) mod record;

pub(crate) use codec::encode;

#[derive(Debug)]
pub(crate) struct ChargeLog {
    file: LogFile,
    /// Acknowledged and in the file, in their order, and not in their tables.
    groups: Vec<Group>,
    admission: Admission,
    is_admission_current: bool,
    pending: Arc<Pending>,
}

/// Whether some acknowledged charge is not in its tables yet, for those who read the tables.
#[derive(Debug, Default)]
pub(crate) struct Pending(AtomicBool);

impl Pending {
    pub(crate) fn is_any(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl ChargeLog {
    pub(crate) fn new(file: LogFile, pending: Arc<Pending>) -> ChargeLog {
        let (groups, admission) = (Vec::new(), Admission::default());
        ChargeLog { file, groups, admission, is_admission_current: false, pending }
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Rows that posting the log writes.
    pub(crate) fn writes(&self) -> usize {
        self.groups.iter().map(|group| group.writes.len()).sum()
    }

    /// Whether every charge of a batch is sure to be posted after those of the log. All are counted
    /// as if they were in the log, so they are to be added now, or all [forgotten] that is known.
    ///
    /// [forgotten]: ChargeLog::forget_tables
    pub(crate) fn admits(
        &mut self,
        connection: &Connection,
        batch: &[Waiting],
    ) -> rusqlite::Result<bool> {
        if !self.is_admission_current {
            for group in &self.groups {
                self.admission.admits(connection, group)?;
            }
            self.is_admission_current = true;
        }
        for waiting in batch {
            if !self.admission.admits(connection, &waiting.group)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes the groups of a batch, which [`encode`] made charges of, durable. False, with nothing
    /// changed, if there is no room for them.
    pub(crate) fn add(&mut self, charges: &[u8], batch: &mut [Waiting]) -> bool {
        match self.file.append(charges) {
            Ok(true) => {}
            Ok(false) => return false,
            Err(error) if is_no_room(&error) => return false,
            Err(error) => stop(&error),
        }
        self.groups.extend(batch.iter_mut().map(|waiting| std::mem::take(&mut waiting.group)));
        self.pending.0.store(true, Ordering::Release);
        true
    }

    /// Moves the log into the transaction under way, before what is posted next.
    pub(crate) fn post<'batch>(
        &'batch self,
        connection: &Connection,
        posting: &mut Posting<'batch>,
    ) -> Result<(), Fault> {
        if self.is_empty() {
            return Ok(());
        }
        raise_generation(connection, self.file.generation())?;
        for group in &self.groups {
            posting.add(group)?;
        }
        Ok(())
    }

    /// Moves the log alone. Its charges were acknowledged, so a refusal is nobody's but ours.
    pub(crate) fn post_alone(
        &self,
        connection: &Connection,
        memory: &mut Memory,
    ) -> Result<(), Fault> {
        let mut posting = Posting::new(connection, memory)?;
        let posted = self.post(connection, &mut posting).and_then(|()| posting.finish());
        posted.map_err(|fault| match fault {
            Fault::Sqlite(error) if is_full(&error) || is_fatal(&error) => Fault::Sqlite(error),
            Fault::Sqlite(error) => Fault::Unpostable(refusal(error)),
            Fault::Refused(error) | Fault::Unpostable(error) => Fault::Unpostable(error),
        })
    }

    /// The transaction that moved the log, if there was anything in it, is durable.
    pub(crate) fn posted(&mut self) {
        if self.is_empty() {
            return;
        }
        self.groups.clear();
        self.file.begin_again();
        self.admission.posted();
        self.pending.0.store(false, Ordering::Release);
    }

    /// Something else than the log changed the tables, or tried to.
    pub(crate) fn forget_tables(&mut self) {
        self.admission.forget();
        self.is_admission_current = false;
    }
}

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// Says in the database that the records of this generation are posted. If it says so already, or
/// knows nothing of the generation, somebody else has written, and then nothing is posted.
fn raise_generation(connection: &Connection, generation: i64) -> Result<(), Fault> {
    let sql = "UPDATE charge_log_generation SET generation = ?1 + 1 WHERE generation = ?1";
    if connection.prepare_cached(sql)?.execute([generation])? == 1 {
        return Ok(());
    }
    let found = "the charge log was posted by somebody else";
    Err(Fault::Refused(StoreError::Unsuitable(found.into())))
}

fn is_no_room(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Ends the process at once: what was written may be on disk or not.
fn stop(error: &io::Error) -> ! {
    tracing::error!(%error, "the charge log cannot be written safely; stopping: {error}");
    std::process::abort();
}
