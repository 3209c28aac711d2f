//! The only thread that writes: it drains the queue, commits everything in one transaction, and
//! only then completes the futures of those groups.
//!
//! The cost of a commit is its fsync and the pages it changes, so the more groups wait, the cheaper
//! each becomes. A small batch of charges goes into the charge log, and into the tables later. The
//! log is posted many charges at a time; charges that arrive meanwhile are logged in between, so
//! that they do not wait for the posting. Everything else is posted to the tables at once, after
//! the charges in the log, so that the journal keeps the order in which groups were handed in.
//! Groups run without savepoints, and sums such as balances are written once per batch. Only if a
//! group of a batch fails does the batch run again, each group with its own savepoint, so that only
//! the bad one fails.

use std::sync::Arc;
use std::time::{Duration, Instant};

use metrics::Histogram;
use rusqlite::Connection;

use crate::error::StoreError;
use crate::sqlite::charge_log::{ChargeLog, PostingBatch, encode_groups};
use crate::sqlite::errors::is_fatal;
use crate::sqlite::posting::{SqliteCaches, SqlitePosting};
use crate::sqlite::queue::{QueueTake, QueuedGroup, SqliteQueue};
use crate::sqlite::session::{WriteSession, run_cached, stop_or_refuse};
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
    has_room: bool,
    /// Groups in the log at which it is posted next.
    posted_at: usize,
    /// Groups that arrived during a posting and have to wait until it ends.
    held: Vec<QueuedGroup>,
    commit_seconds: Histogram,
    batch_groups: Histogram,
}

/// Takes the groups that are in the queue now, if any.
type Arrivals<'a> = &'a mut dyn FnMut(&mut Vec<QueuedGroup>);

/// The error of a group or a batch.
#[derive(Debug)]
pub(crate) enum WriteError {
    Sqlite(rusqlite::Error),
    Refused(StoreError),
    /// An error of a query for groups that arrived during a posting: it says nothing about the log,
    /// but the transaction may already be rolled back.
    Meanwhile(rusqlite::Error),
    /// The tables refuse a charge that was acknowledged.
    Unpostable(StoreError),
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> WriteError {
        WriteError::Sqlite(error)
    }
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
    let mut arrivals = |batch: &mut Vec<QueuedGroup>| queue.take_now(batch);
    loop {
        if !writer.held.is_empty() {
            std::mem::swap(&mut batch, &mut writer.held);
            writer.commit_and_complete(&mut batch, &mut arrivals);
            continue;
        }
        match queue.take(&mut batch, writer.posting_delay()) {
            QueueTake::Groups => writer.commit_and_complete(&mut batch, &mut arrivals),
            QueueTake::Nothing => writer.post_log(&mut arrivals),
            QueueTake::End => break,
        }
    }
    writer.post_log(&mut arrivals);
    writer.session.checkpoint();
}

impl SqliteWriter {
    pub(crate) fn new(connection: Connection, log: ChargeLog, quiet: Duration) -> SqliteWriter {
        SqliteWriter {
            session: WriteSession::new(connection),
            log,
            quiet,
            has_room: true,
            posted_at: POSTED_TOGETHER,
            held: Vec::new(),
            commit_seconds: metrics::histogram!("store_commit_seconds"),
            batch_groups: metrics::histogram!("store_batch_groups"),
        }
    }

    /// Time to wait for groups before the log is posted; None, for ever, if the log is empty.
    fn posting_delay(&self) -> Option<Duration> {
        let pause = if self.has_room { self.quiet } else { NO_ROOM_PAUSE };
        (!self.log.is_empty()).then_some(pause)
    }

    fn commit_and_complete(&mut self, batch: &mut Vec<QueuedGroup>, arrivals: Arrivals<'_>) {
        let started = Instant::now();
        let outcomes = self.commit(batch);
        self.commit_seconds.record(started.elapsed().as_secs_f64());
        self.batch_groups.record(batch.len() as f64);
        complete_groups(batch, outcomes);
        if self.posted_at <= self.log.len() {
            self.post_log(arrivals);
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

    fn log_charges(&mut self, batch: &mut [QueuedGroup]) -> Result<bool, StoreError> {
        let log = &mut self.log;
        self.session.run_query(|connection| log_charges(log, connection, batch))
    }

    /// Posts the log and then the batch, all in one transaction.
    fn post_log_and_batch(&mut self, batch: &[QueuedGroup]) -> Vec<Result<(), StoreError>> {
        self.log.clear_admission();
        let leaving = self.log.begin_posting();
        let together = self.session.transact(|connection, memory| {
            let mut posting = SqlitePosting::new(connection, memory)?;
            leaving.post_groups(connection, &mut posting, &mut || Ok(()))?;
            for waiting in batch {
                posting.add(&waiting.group)?;
            }
            posting.finish()
        });
        match together {
            Ok(()) => {
                self.finish_posting(&leaving, batch);
                vec![Ok(()); batch.len()]
            }
            Err(error) => {
                let is_alone = batch.len() == 1 && leaving.is_empty();
                if !is_alone && !matches!(error, StoreError::Full) {
                    return self.post_with_savepoints(leaving, batch);
                }
                self.log.restore_groups(leaving);
                vec![Err(error); batch.len()]
            }
        }
    }

    /// Runs each group behind its own savepoint; those that fail are rolled back.
    fn post_with_savepoints(
        &mut self,
        leaving: PostingBatch,
        batch: &[QueuedGroup],
    ) -> Vec<Result<(), StoreError>> {
        let apart = self.session.transact(|connection, memory| {
            leaving.post_alone(connection, memory, &mut || Ok(()))?;
            let mut outcomes = Vec::with_capacity(batch.len());
            for waiting in batch {
                outcomes.push(post_with_savepoint(connection, memory, &waiting.group)?);
            }
            Ok(outcomes)
        });
        match apart {
            Ok(outcomes) => {
                self.finish_posting(&leaving, batch);
                outcomes
            }
            Err(error) => {
                self.log.restore_groups(leaving);
                vec![Err(error); batch.len()]
            }
        }
    }

    /// Posts the log by itself. If the disk is full it stays, and is retried. Charges that arrive
    /// meanwhile are logged; any other group waits, and so do all after it.
    fn post_log(&mut self, arrivals: Arrivals<'_>) {
        if self.log.is_empty() {
            return;
        }
        let leaving = self.log.begin_posting();
        let SqliteWriter { session, log, held, batch_groups, .. } = self;
        let posted = session.transact(|connection, memory| {
            leaving.post_alone(connection, memory, &mut || {
                if !leaving.can_go_on || !held.is_empty() {
                    return Ok(());
                }
                arrivals(held);
                if held.is_empty() {
                    return Ok(());
                }
                if log_charges(log, connection, held).map_err(WriteError::Meanwhile)? {
                    batch_groups.record(held.len() as f64);
                    let outcomes = vec![Ok(()); held.len()];
                    complete_groups(held, outcomes);
                }
                Ok(())
            })
        });
        match posted {
            Ok(()) => self.finish_posting(&leaving, &[]),
            Err(error) => {
                if self.has_room {
                    tracing::warn!(%error, "charges stay in the charge log for now: {error}");
                }
                self.has_room = false;
                self.log.restore_groups(leaving);
                // Not retried for every new charge: each failed attempt would run the whole log.
                self.posted_at = self.log.len() + POSTED_TOGETHER;
            }
        }
    }

    fn finish_posting(&mut self, leaving: &PostingBatch, batch: &[QueuedGroup]) {
        let rows: usize = batch.iter().map(|waiting| waiting.group.writes.len()).sum();
        self.session.count_posted_rows(leaving.count_rows() + rows);
        self.log.finish_posting(leaving);
        self.has_room = true;
        self.posted_at = POSTED_TOGETHER;
    }
}

/// Makes a batch durable in the log. False, with nothing written, if it is not a batch of only
/// charges that are certain to be posted, or if the log has no room.
fn log_charges(
    log: &mut ChargeLog,
    connection: &Connection,
    batch: &mut [QueuedGroup],
) -> rusqlite::Result<bool> {
    let groups = log.len() + batch.len();
    if LOGGED_BATCH_MAX < batch.len() || UNPOSTED_GROUPS_MAX < groups {
        return Ok(false);
    }
    let Some(charges) = encode_groups(batch.iter().map(|waiting| &waiting.group)) else {
        return Ok(false);
    };
    let is_sure = log.admit_batch(connection, batch);
    let is_logged = matches!(is_sure, Ok(true)) && log.append_batch(&charges, batch);
    if !is_logged {
        log.clear_admission();
    }
    is_sure.map(|_| is_logged)
}

fn complete_groups(batch: &mut Vec<QueuedGroup>, outcomes: Vec<Result<(), StoreError>>) {
    for (waiting, outcome) in batch.drain(..).zip(outcomes) {
        // A waiter that was dropped does not undo its group.
        let _ = waiting.done.send(outcome);
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
