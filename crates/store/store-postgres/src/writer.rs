//! The only task that writes: it takes the waiting groups, commits them in one transaction, and
//! only then completes their futures.
//!
//! The cost of a commit is its fsync and its network round trip, so the more groups wait, the
//! cheaper each becomes. If a batch is refused it is split until the bad group is alone and fails
//! alone. If the connection is lost, the same batch runs again on another one: it writes its number
//! to the table `batch`, so a batch that was committed after all is recognised.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use metrics::Histogram;
use store::error::StoreError;
use tokio_util::sync::CancellationToken;

use crate::batch::{BatchFailure, WriteBatch};
use crate::connector::{ConnectionPurpose, PostgresConnector};
use crate::error::PgError;
use crate::identity::CurrentIdentity;
use crate::node::NodeIdentity;
use crate::posting::WriterCache;
use crate::pulse::DatabasePulse;
use crate::queue::{QueueReceiver, WaitingGroup};
use crate::session::PostgresSession;

/// Groups of one transaction: usually a few thousand statements at most.
const BATCH_GROUPS_MAX: usize = 4096;

/// Retries of a batch after conflicts with other transactions.
const COLLISIONS_MAX: u32 = 8;

/// Time to retry while the database is unreachable, before groups fail that are definitely not
/// written, also those behind a batch whose outcome is unknown: work was done for them, and their
/// callers wait.
const UNREACHABLE_MAX: Duration = Duration::from_secs(12);

/// The same while the store is being closed, also for groups whose outcome is unknown.
const CLOSING_MAX: Duration = Duration::from_secs(5);

const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(1);

type GroupOutcome = Result<(), StoreError>;

/// Set while the writer cannot reach its database. No paid work is begun then.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriterReach(Arc<AtomicBool>);

impl WriterReach {
    pub(crate) fn is_lost(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set_lost(&self, is_lost: bool) {
        self.0.store(is_lost, Ordering::Relaxed);
    }
}

pub(crate) struct PostgresWriter {
    connector: PostgresConnector,
    session: Option<PostgresSession>,
    seat: Arc<CurrentIdentity>,
    /// The identity that `memory` and `settled` belong to.
    written_as: NodeIdentity,
    memory: WriterCache,
    /// The number of the newest batch.
    number: i64,
    /// Batches whose outcome is known, and whose rows in the table `batch` may still exist.
    settled: Vec<i64>,
    /// Cancelled when the store is being closed.
    closing: CancellationToken,
    /// The result of the last attempt to reach the database.
    reach: WriterReach,
    pulse: Arc<DatabasePulse>,
    commit_seconds: Histogram,
    batch_groups: Histogram,
}

/// The state that the writer shares with the rest of the store.
pub(crate) struct WriterLinks {
    pub(crate) seat: Arc<CurrentIdentity>,
    pub(crate) closing: CancellationToken,
    pub(crate) reach: WriterReach,
    pub(crate) pulse: Arc<DatabasePulse>,
}

impl PostgresWriter {
    pub(crate) fn new(
        connector: PostgresConnector,
        session: PostgresSession,
        links: WriterLinks,
    ) -> PostgresWriter {
        let WriterLinks { seat, closing, reach, pulse } = links;
        PostgresWriter {
            connector,
            session: Some(session),
            written_as: seat.identity(),
            seat,
            memory: WriterCache::default(),
            number: 0,
            settled: Vec::new(),
            closing,
            reach,
            pulse,
            commit_seconds: metrics::histogram!("store_commit_seconds"),
            batch_groups: metrics::histogram!("store_batch_groups"),
        }
    }

    /// Writes until the queue has ended.
    pub(crate) async fn run(mut self, mut arrivals: QueueReceiver) {
        loop {
            let taken = self.take(&mut arrivals).await;
            let Some(waiting) = taken else { continue };
            if waiting.is_empty() {
                return;
            }
            let started = Instant::now();
            let outcomes = self.write(&waiting, &mut arrivals).await;
            self.commit_seconds.record(started.elapsed().as_secs_f64());
            self.batch_groups.record(waiting.len() as f64);
            for (waiting, outcome) in waiting.into_iter().zip(outcomes) {
                // A waiter that was dropped does not undo its group.
                let _ = waiting.done.send(outcome);
            }
        }
    }

    /// The waiting groups; None if the database was unreachable and a reconnect was tried instead.
    /// No paid work is handed in until it is back.
    async fn take(&mut self, arrivals: &mut QueueReceiver) -> Option<Vec<WaitingGroup>> {
        let taken = arrivals.take(BATCH_GROUPS_MAX);
        if !self.reach.is_lost() {
            return Some(taken.await);
        }
        let taken = tokio::time::timeout(PAUSE_MAX, taken).await;
        if taken.is_err()
            && let Ok(session) = self.connector.connect(ConnectionPurpose::Write).await
        {
            self.session = Some(session);
            self.reach.set_lost(false);
        }
        taken.ok()
    }

    /// Commits the groups in order, in as few transactions as possible. Returns their outcomes.
    async fn write(
        &mut self,
        waiting: &[WaitingGroup],
        arrivals: &mut QueueReceiver,
    ) -> Vec<GroupOutcome> {
        let mut outcomes: Vec<GroupOutcome> = Vec::with_capacity(waiting.len());
        let whole = 0..waiting.len();
        let mut parts = vec![whole];
        while let Some(part) = parts.pop() {
            match self.commit(&waiting[part.clone()], arrivals).await {
                Ok(()) => outcomes.extend(part.map(|_| Ok(()))),
                Err(WriteRefusal::At { group, .. }) if 1 < part.len() => {
                    // The last one is taken first.
                    parts.extend(split_batch(part, group).into_iter().rev());
                }
                Err(WriteRefusal::At { error, .. }) => outcomes.push(Err(error)),
                Err(WriteRefusal::Of(error)) => outcomes.extend(part.map(|_| Err(error.clone()))),
            }
        }
        outcomes
    }

    /// Runs one transaction until its outcome is known. It keeps its identity: under another one, a
    /// batch that was committed would not be recognised.
    async fn commit(
        &mut self,
        waiting: &[WaitingGroup],
        arrivals: &mut QueueReceiver,
    ) -> Result<(), WriteRefusal> {
        let identity = self.seat.identity();
        if identity != self.written_as {
            (self.written_as, self.memory) = (identity, WriterCache::default());
            self.settled.clear();
        }
        self.number += 1;
        let number = self.number;
        let (mut collisions, mut is_unknown, mut unreachable) =
            (0, false, ReconnectBackoff::default());
        loop {
            let undone = match self.attempt(number, waiting).await {
                Ok(()) => {
                    self.pulse.note_answer();
                    self.settled.clear();
                    self.settled.push(number);
                    return Ok(());
                }
                Err(undone) => undone,
            };
            match undone {
                BatchFailure::Refused { group, error } => {
                    return Err(WriteRefusal::At { group, error });
                }
                BatchFailure::All(error) => return Err(WriteRefusal::Of(error)),
                // The batch was committed before.
                BatchFailure::DoneBefore => return Ok(()),
                BatchFailure::Collided(cause) => {
                    collisions += 1;
                    if COLLISIONS_MAX < collisions {
                        return Err(WriteRefusal::Of(StoreError::Failed(cause)));
                    }
                }
                BatchFailure::Lost { is_unknown: now_unknown, cause } => {
                    self.session = None;
                    self.reach.set_lost(true);
                    is_unknown |= now_unknown;
                    tracing::warn!("the connection that writes to the database is lost: {cause}");
                    let patience = match (self.closing.is_cancelled(), is_unknown) {
                        (true, _) => Some(CLOSING_MAX),
                        (false, true) => None,
                        (false, false) => Some(UNREACHABLE_MAX),
                    };
                    let text = format!("the database cannot be reached: {cause}");
                    let error = StoreError::Failed(text);
                    arrivals.fail_overdue(UNREACHABLE_MAX, &error);
                    if !unreachable.wait_before_retry(patience).await {
                        return Err(WriteRefusal::Of(error));
                    }
                }
            }
        }
    }

    async fn attempt(&mut self, number: i64, waiting: &[WaitingGroup]) -> Result<(), BatchFailure> {
        let session = match self.session.take() {
            Some(session) => session,
            None => self.connector.connect(ConnectionPurpose::Write).await.map_err(not_reached)?,
        };
        let groups = waiting.iter().map(|waiting| &waiting.group);
        let batch = WriteBatch::new(self.written_as, number, &self.settled, groups, &self.memory);
        let ran = match batch {
            Ok(batch) => batch.run(&session, &self.pulse).await,
            Err(undone) => Err(undone),
        };
        if session.is_reusable() {
            self.session = Some(session);
        }
        let is_answered = !matches!(ran, Err(BatchFailure::Lost { .. }));
        if is_answered {
            self.reach.set_lost(false);
        }
        self.memory.apply_updates(ran?);
        Ok(())
    }
}

/// The reason why a transaction was not committed.
enum WriteRefusal {
    /// Some group is at fault: `group` if known.
    At { group: Option<usize>, error: StoreError },
    /// All groups fail with this.
    Of(StoreError),
}

/// Splits a batch into parts, in order: up to the group that seems to be at fault, that one alone,
/// and the rest; or halves if none is known.
fn split_batch(part: Range<usize>, at: Option<usize>) -> Vec<Range<usize>> {
    let parts = match at {
        Some(at) => {
            let at = part.start + at;
            vec![part.start..at, at..at + 1, at + 1..part.end]
        }
        None => {
            let middle = part.start + part.len() / 2;
            vec![part.start..middle, middle..part.end]
        }
    };
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

fn not_reached(error: PgError) -> BatchFailure {
    BatchFailure::Lost { is_unknown: false, cause: StoreError::from(error).to_string() }
}

/// The time since which the database is unreachable, and the next pause.
#[derive(Default)]
struct ReconnectBackoff {
    since: Option<Instant>,
    pause: Option<Duration>,
}

impl ReconnectBackoff {
    /// Waits before the next attempt; false if `patience` is over.
    async fn wait_before_retry(&mut self, patience: Option<Duration>) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        if patience.is_some_and(|patience| patience < since.elapsed()) {
            return false;
        }
        let pause = self.pause.unwrap_or(PAUSE_MIN);
        tokio::time::sleep(pause).await;
        self.pause = Some((pause * 2).min(PAUSE_MAX));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_split_around_the_group_at_fault_or_in_the_middle() {
        assert_eq!(split_batch(10..20, Some(3)), [10..13, 13..14, 14..20]);
        assert_eq!(split_batch(10..20, Some(0)), [10..11, 11..20]);
        assert_eq!(split_batch(10..20, Some(9)), [10..19, 19..20]);
        assert_eq!(split_batch(10..13, None), [10..11, 11..13]);
    }
}
