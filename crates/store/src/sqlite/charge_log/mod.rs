//! Charges that are durable in one small row, and go into their tables many at a time.
//!
//! A charge changes eight pages of the file: its transfers and their index, balances, counters,
//! usage and its sums. Writing those for every commit is most of what a charge costs, and charges
//! that are posted together share most of them. So a commit of charges alone adds one row to the
//! table `charge_log`, which makes them durable; the groups are kept in memory too, and are posted
//! by the code that posts everything else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{Connection, ErrorCode, params};

use crate::error::StoreError;
use crate::sqlite::charge_log::admission::Admission;
use crate::sqlite::fault::{is_fatal, refusal};
use crate::sqlite::posting::{Memory, Posting};
use crate::sqlite::queue::Waiting;
use crate::sqlite::writer::Fault;
use crate::write::Group;

mod admission;
mod bytes;
mod codec;
pub(crate) mod left_over;

pub(crate) use codec::encode;

#[derive(Debug, Default)]
pub(crate) struct ChargeLog {
    /// Acknowledged and in the log, in their order, and not in their tables.
    groups: Vec<Group>,
    rows: usize,
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
    pub(crate) fn new(pending: Arc<Pending>) -> ChargeLog {
        ChargeLog { pending, ..ChargeLog::default() }
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

    /// Adds the row of a batch to the transaction under way. False, with nothing added, if some
    /// charge of it is not sure to be posted.
    pub(crate) fn add(
        &mut self,
        connection: &Connection,
        batch: &[Waiting],
        row: &[u8],
    ) -> Result<bool, Fault> {
        let is_sure = self.admits(connection, batch)?;
        if !is_sure {
            self.forget_tables();
            return Ok(false);
        }
        let sql = "INSERT INTO charge_log (charges) VALUES (?1)";
        connection.prepare_cached(sql)?.execute(params![row])?;
        Ok(true)
    }

    /// The row of these groups is durable.
    pub(crate) fn added(&mut self, groups: impl Iterator<Item = Group>) {
        self.groups.extend(groups);
        self.rows += 1;
        self.pending.0.store(true, Ordering::Release);
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
        // First, so that the transaction can use the pages again.
        delete_rows(connection, self.rows)?;
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

    /// The transaction that moved the log is durable.
    pub(crate) fn posted(&mut self) {
        self.groups.clear();
        self.rows = 0;
        self.admission.posted();
        self.pending.0.store(false, Ordering::Release);
    }

    /// Something else than the log changed the tables, or tried to.
    pub(crate) fn forget_tables(&mut self) {
        self.admission.forget();
        self.is_admission_current = false;
    }

    fn admits(&mut self, connection: &Connection, batch: &[Waiting]) -> rusqlite::Result<bool> {
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
}

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// The table holds what was expected and nothing else: a row more or less means that somebody else
/// has written, and then nothing is posted.
fn delete_rows(connection: &Connection, expected: usize) -> Result<(), Fault> {
    let deleted = connection.prepare_cached("DELETE FROM charge_log")?.execute([])?;
    if deleted == expected {
        return Ok(());
    }
    let found = format!("the charge log has {deleted} rows, and {expected} were written");
    Err(Fault::Refused(StoreError::Unsuitable(found)))
}
