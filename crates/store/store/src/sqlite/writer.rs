//! The only thread that writes: it drains the queue, commits everything in one transaction, and
//! only then completes the futures of those groups.
//!
//! The cost of a commit is its fsync and the pages it changes, so the more groups wait, the cheaper
//! each becomes. A small batch of charges goes into the charge log, and into the tables later, with
//! many others. Everything else is posted to the tables at once, after the charges in the log, so
//! that the journal keeps the order in which groups were handed in. Groups run without savepoints,
//! and sums such as balances are written once per batch. Only if a group of a batch fails does the
//! batch run again, each group with its own savepoint, so that only the bad one fails.

use std::sync::Arc;
use std::time::{Duration, Instant};

use metrics::Histogram;
use rusqlite::Connection;

use crate::error::StoreError;
use crate::sqlite::charge_log::{ChargeLog, encode_groups};
use crate::sqlite::errors::is_fatal;
use crate::sqlite::posting::{SqliteCaches, SqlitePosting};
use crate::sqlite::queue::{QueueTake, QueuedGroup, SqliteQueue};
use crate::sqlite::session::{WriteSession, run_cached, stop_or_refuse};
use crate::sqlite::write_error::WriteError;
use crate::write::WriteGroup;

#[cfg(test)]
mod tests;

/// Largest batch that is logged. Groups of a larger one share enough pages to be posted at once,
/// instead of being written twice.
const LOGGED_BATCH_MAX: usize = 128;

/// Groups in the log at which it is posted: about five milliseconds of work.
const POSTED_TOGETHER: usize = 256;

/// The most groups in the log while it cannot be posted for lack of disk space; more are refused.
const UNPOSTED_GROUPS_MAX: usize = 1024;

/// Time without new groups after which the log is posted.
pub(crate) const QUIET: Duration = Duration::from_millis(100);

/// Pause before posting is retried after the disk was full.
const NO_ROOM_PAUSE: Duration = Duration::from_secs(1);

pub(crate) struct SqliteWriter {
    session: WriteSession,
    log: ChargeLog,
    quiet: Duration,
    /// False since the disk was too full to post the log.
    has_room: bool,
    commit_seconds: Histogram,
    batch_groups: Histogram,
}

/// Fails the waiting groups when the writer ends, also by a panic, so that no task waits for ever.
struct AbandonOnExit(Arc<SqliteQueue>);

impl Drop for AbandonOnExit {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Writes until the queue is closed, then posts the log and checkpoints.
pub(crate) fn run_writer(mut writer: SqliteWriter, queue: Arc<SqliteQueue>) {
    let _abandon = AbandonOnExit(Arc::clone(&queue));
    let mut batch = Vec::new();
    loop {
        match queue.take(&mut batch, writer.posting_delay()) {
            QueueTake::Groups => writer.commit_and_complete(&mut batch),
            QueueTake::Nothing => writer.post_log(),
            QueueTake::End => break,
        }
    }
    writer.post_log();
    writer.session.checkpoint();
}

impl SqliteWriter {
    pub(crate) fn new(connection: Connection, log: ChargeLog, quiet: Duration) -> SqliteWriter {
        SqliteWriter {
            session: WriteSession::new(connection),
            log,
            quiet,
            has_room: true,
            commit_seconds: metrics::histogram!("store_commit_seconds"),
            batch_groups: metrics::histogram!("store_batch_groups"),
        }
    }

    /// Time to wait for groups before the log is posted; None, for ever, if the log is empty.
    fn posting_delay(&self) -> Option<Duration> {
        let pause = if self.has_room { self.quiet } else { NO_ROOM_PAUSE };
        (!self.log.is_empty()).then_some(pause)
    }

    fn commit_and_complete(&mut self, batch: &mut Vec<QueuedGroup>) {
        let started = Instant::now();
        let outcomes = self.commit(batch);
        self.commit_seconds.record(started.elapsed().as_secs_f64());
        self.batch_groups.record(batch.len() as f64);
        for (waiting, outcome) in batch.drain(..).zip(outcomes) {
            // A waiter that was dropped does not undo its group.
            let _ = waiting.done.send(outcome);
        }
        // Without room it is posted in a pause: each failed attempt would run the whole log.
        if self.has_room && POSTED_TOGETHER <= self.log.len() {
            self.post_log();
        }
        self.session.checkpoint_if_long();
    }

    fn commit(&mut self, batch: &mut [QueuedGroup]) -> Vec<Result<(), StoreError>> {
        match self.log_charges(batch) {
            Ok(true) => vec![Ok(()); batch.len()],
            Ok(false) => self.post_log_and_batch(batch),
            Err(error) => vec![Err(error); batch.len()],
        }
    }

    /// Commits a batch as a row of the log. False, with nothing written, if it is not a batch of
    /// only charges that are certain to be posted, or if the log is long.
    fn log_charges(&mut self, batch: &mut [QueuedGroup]) -> Result<bool, StoreError> {
        let groups = self.log.len() + batch.len();
        if LOGGED_BATCH_MAX < batch.len() || UNPOSTED_GROUPS_MAX < groups {
            return Ok(false);
        }
        let Some(row) = encode_groups(batch.iter().map(|waiting| &waiting.group)) else {
            return Ok(false);
        };
        let log = &mut self.log;
        let added = self.session.transact(|connection, _| log.add_row(connection, batch, &row));
        match added {
            Ok(true) => {
                log.keep_batch(batch);
                self.session.count_logged_row(row.len());
            }
            Ok(false) => {}
            Err(_) => log.clear_admission(),
        }
        added
    }

    /// Posts the log and then the batch, all in one transaction.
    fn post_log_and_batch(&mut self, batch: &[QueuedGroup]) -> Vec<Result<(), StoreError>> {
        self.log.clear_admission();
        let log = &self.log;
        let together = self.session.transact(|connection, memory| {
            let mut posting = SqlitePosting::new(connection, memory)?;
            log.post_groups(connection, &mut posting)?;
            for waiting in batch {
                posting.add(&waiting.group)?;
            }
            posting.finish()
        });
        match together {
            Ok(()) => {
                self.finish_posting(batch);
                vec![Ok(()); batch.len()]
            }
            Err(StoreError::Full) => vec![Err(StoreError::Full); batch.len()],
            Err(error) if batch.len() == 1 && self.log.is_empty() => vec![Err(error)],
            Err(_) => self.post_with_savepoints(batch),
        }
    }

    /// Runs each group behind its own savepoint; those that fail are rolled back.
    fn post_with_savepoints(&mut self, batch: &[QueuedGroup]) -> Vec<Result<(), StoreError>> {
        let log = &self.log;
        let apart = self.session.transact(|connection, memory| {
            log.post_alone(connection, memory)?;
            let mut outcomes = Vec::with_capacity(batch.len());
            for waiting in batch {
                outcomes.push(post_with_savepoint(connection, memory, &waiting.group)?);
            }
            Ok(outcomes)
        });
        match apart {
            Ok(outcomes) => {
                self.finish_posting(batch);
                outcomes
            }
            Err(error) => vec![Err(error); batch.len()],
        }
    }

    /// Posts the log by itself. If the disk is full it stays, and is retried.
    fn post_log(&mut self) {
        if self.log.is_empty() {
            return;
        }
        let log = &self.log;
        match self.session.transact(|connection, memory| log.post_alone(connection, memory)) {
            Ok(()) => self.finish_posting(&[]),
            Err(error) => {
                if self.has_room {
                    tracing::warn!(%error, "charges stay in the charge log for now: {error}");
                }
                self.has_room = false;
            }
        }
    }

    fn finish_posting(&mut self, batch: &[QueuedGroup]) {
        let rows: usize = batch.iter().map(|waiting| waiting.group.writes.len()).sum();
        self.session.count_posted_rows(self.log.count_rows() + rows);
        self.log.finish_posting();
        self.has_room = true;
    }
}

/// The inner result is the group's own; the outer one is an error if the transaction cannot
/// continue.
fn post_with_savepoint(
    connection: &Connection,
    memory: &mut SqliteCaches,
    group: &WriteGroup,
) -> Result<Result<(), StoreError>, WriteError> {
    run_cached(connection, "SAVEPOINT one_group")?;
    let mut posting = SqlitePosting::new(connection, memory)?;
    let worked = posting.add(group).and_then(|()| posting.finish());
    let outcome = match worked {
        Ok(()) => Ok(()),
        Err(WriteError::Sqlite(error)) if connection.is_autocommit() || is_fatal(&error) => {
            return Err(WriteError::Sqlite(error));
        }
        Err(error) => {
            memory.forget();
            run_cached(connection, "ROLLBACK TO one_group")?;
            Err(stop_or_refuse(error))
        }
    };
    run_cached(connection, "RELEASE one_group")?;
    Ok(outcome)
}
