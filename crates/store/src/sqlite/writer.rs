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
use crate::sqlite::charge_log::{ChargeLog, Leaving, encode};
use crate::sqlite::errors::is_fatal;
use crate::sqlite::posting::{Memory, Posting};
use crate::sqlite::queue::{Queue, Taken, Waiting};
use crate::sqlite::session::{Session, run_cached, stop_or_refuse};
use crate::write::Group;

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

pub(crate) struct Writer {
    session: Session,
    log: ChargeLog,
    quiet: Duration,
    has_room: bool,
    /// Groups in the log at which it is posted next.
    posted_at: usize,
    /// Groups that arrived during a posting and have to wait until it ends.
    held: Vec<Waiting>,
    commit_seconds: Histogram,
    batch_groups: Histogram,
}

/// Takes the groups that are in the queue now, if any.
type Arrivals<'a> = &'a mut dyn FnMut(&mut Vec<Waiting>);

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
struct AbandonOnExit(Arc<Queue>);

impl Drop for AbandonOnExit {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Writes until the queue is closed, then posts the log and checkpoints.
pub(crate) fn run(mut writer: Writer, queue: Arc<Queue>) {
    let _abandon = AbandonOnExit(Arc::clone(&queue));
    let mut batch = Vec::new();
    let mut arrivals = |batch: &mut Vec<Waiting>| queue.take_now(batch);
    loop {
        if !writer.held.is_empty() {
            std::mem::swap(&mut batch, &mut writer.held);
            writer.serve(&mut batch, &mut arrivals);
            continue;
        }
        match queue.take(&mut batch, writer.patience()) {
            Taken::Groups => writer.serve(&mut batch, &mut arrivals),
            Taken::Nothing => writer.post(&mut arrivals),
            Taken::End => break,
        }
    }
    writer.post(&mut arrivals);
    writer.session.checkpoint();
}

impl Writer {
    pub(crate) fn new(connection: Connection, log: ChargeLog, quiet: Duration) -> Writer {
        Writer {
            session: Session::new(connection),
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
    fn patience(&self) -> Option<Duration> {
        let pause = if self.has_room { self.quiet } else { NO_ROOM_PAUSE };
        (!self.log.is_empty()).then_some(pause)
    }

    fn serve(&mut self, batch: &mut Vec<Waiting>, arrivals: Arrivals<'_>) {
        let started = Instant::now();
        let outcomes = self.commit(batch);
        self.commit_seconds.record(started.elapsed().as_secs_f64());
        self.batch_groups.record(batch.len() as f64);
        complete(batch, outcomes);
        if self.posted_at <= self.log.len() {
            self.post(arrivals);
        }
        self.session.checkpoint_if_long();
    }

    fn commit(&mut self, batch: &mut [Waiting]) -> Vec<Result<(), StoreError>> {
        match self.log_charges(batch) {
            Ok(true) => vec![Ok(()); batch.len()],
            Ok(false) => self.post_with(batch),
            Err(error) => vec![Err(error); batch.len()],
        }
    }

    fn log_charges(&mut self, batch: &mut [Waiting]) -> Result<bool, StoreError> {
        let log = &mut self.log;
        self.session.look(|connection| log_charges(log, connection, batch))
    }

    /// Posts the log and then the batch, all in one transaction.
    fn post_with(&mut self, batch: &[Waiting]) -> Vec<Result<(), StoreError>> {
        self.log.forget_tables();
        let leaving = self.log.begin_posting();
        let together = self.session.transact(|connection, memory| {
            let mut posting = Posting::new(connection, memory)?;
            leaving.post(connection, &mut posting, &mut || Ok(()))?;
            for waiting in batch {
                posting.add(&waiting.group)?;
            }
            posting.finish()
        });
        match together {
            Ok(()) => {
                self.posted_with(&leaving, batch);
                vec![Ok(()); batch.len()]
            }
            Err(error) => {
                let is_alone = batch.len() == 1 && leaving.is_empty();
                if !is_alone && !matches!(error, StoreError::Full) {
                    return self.post_apart(leaving, batch);
                }
                self.log.take_back(leaving);
                vec![Err(error); batch.len()]
            }
        }
    }

    /// Runs each group behind its own savepoint; those that fail are rolled back.
    fn post_apart(&mut self, leaving: Leaving, batch: &[Waiting]) -> Vec<Result<(), StoreError>> {
        let apart = self.session.transact(|connection, memory| {
            leaving.post_alone(connection, memory, &mut || Ok(()))?;
            let mut outcomes = Vec::with_capacity(batch.len());
            for waiting in batch {
                outcomes.push(attempt(connection, memory, &waiting.group)?);
            }
            Ok(outcomes)
        });
        match apart {
            Ok(outcomes) => {
                self.posted_with(&leaving, batch);
                outcomes
            }
            Err(error) => {
                self.log.take_back(leaving);
                vec![Err(error); batch.len()]
            }
        }
    }

    /// Posts the log by itself. If the disk is full it stays, and is retried. Charges that arrive
    /// meanwhile are logged; any other group waits, and so do all after it.
    fn post(&mut self, arrivals: Arrivals<'_>) {
        if self.log.is_empty() {
            return;
        }
        let leaving = self.log.begin_posting();
        let Writer { session, log, held, batch_groups, .. } = self;
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
                    complete(held, outcomes);
                }
                Ok(())
            })
        });
        match posted {
            Ok(()) => self.posted_with(&leaving, &[]),
            Err(error) => {
                if self.has_room {
                    tracing::warn!(%error, "charges stay in the charge log for now: {error}");
                }
                self.has_room = false;
                self.log.take_back(leaving);
                // Not retried for every new charge: each failed attempt would run the whole log.
                self.posted_at = self.log.len() + POSTED_TOGETHER;
            }
        }
    }

    fn posted_with(&mut self, leaving: &Leaving, batch: &[Waiting]) {
        let rows: usize = batch.iter().map(|waiting| waiting.group.writes.len()).sum();
        self.session.posted(leaving.writes() + rows);
        self.log.posted(leaving);
        self.has_room = true;
        self.posted_at = POSTED_TOGETHER;
    }
}

/// Makes a batch durable in the log. False, with nothing written, if it is not a batch of only
/// charges that are certain to be posted, or if the log has no room.
fn log_charges(
    log: &mut ChargeLog,
    connection: &Connection,
    batch: &mut [Waiting],
) -> rusqlite::Result<bool> {
    let groups = log.len() + batch.len();
    if LOGGED_BATCH_MAX < batch.len() || UNPOSTED_GROUPS_MAX < groups {
        return Ok(false);
    }
    let Some(charges) = encode(batch.iter().map(|waiting| &waiting.group)) else {
        return Ok(false);
    };
    let is_sure = log.admits(connection, batch);
    let is_logged = matches!(is_sure, Ok(true)) && log.add(&charges, batch);
    if !is_logged {
        log.forget_tables();
    }
    is_sure.map(|_| is_logged)
}

fn complete(batch: &mut Vec<Waiting>, outcomes: Vec<Result<(), StoreError>>) {
    for (waiting, outcome) in batch.drain(..).zip(outcomes) {
        // A waiter that was dropped does not undo its group.
        let _ = waiting.done.send(outcome);
    }
}

/// The inner result is the group's own; the outer one is an error if the transaction cannot
/// continue.
fn attempt(
    connection: &Connection,
    memory: &mut Memory,
    group: &Group,
) -> Result<Result<(), StoreError>, WriteError> {
    run_cached(connection, "SAVEPOINT one_group")?;
    let mut posting = Posting::new(connection, memory)?;
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
