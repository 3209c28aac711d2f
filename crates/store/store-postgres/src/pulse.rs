//! A health check of the database: its reachability and its clock.
//!
//! A task polls twice a second, and at once if a request needs to know. So a database behind a
//! network that drops everything is known to be down before any work is begun, and queries that
//! wait for it are cancelled.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moment::{Clock, SystemClock};
use store::error::StoreError;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::columns::read_column;
use crate::connector::{ConnectionPurpose, PostgresConnector};
use crate::error::PgError;
use crate::session::PostgresSession;

/// Interval at which the database is polled without requests.
const PULSE_EVERY: Duration = Duration::from_millis(500);
/// Timeout of a poll: with the interval before it, less than the three seconds within which a
/// request is refused.
const PULSE_ANSWER_MAX: Duration = Duration::from_millis(1_500);
/// Timeout while the database is known to be down: no request waits for it, and a new connection
/// takes longer than an answer.
const PULSE_RETURN_MAX: Duration = Duration::from_secs(4);
/// Time after an answer for which the database counts as reached.
const FRESH: Duration = Duration::from_millis(100);

/// The largest allowed difference between this machine's clock and the database's.
pub(crate) const CLOCK_SKEW_MAX: Duration = Duration::from_secs(60);

/// Reads the database's clock.
const ASK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// The state of the database by its last answer.
#[derive(Debug)]
pub(crate) struct DatabasePulse {
    is_lost: watch::Sender<bool>,
    answered: Mutex<Instant>,
    /// Milliseconds by which this machine's clock is at least ahead of the database's; negative if
    /// it is behind.
    skew_ms: AtomicI64,
    asks: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

/// The task that polls.
pub(crate) struct PulseTask {
    connector: PostgresConnector,
    session: Option<PostgresSession>,
    pulse: Arc<DatabasePulse>,
    asks: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
}

impl DatabasePulse {
    /// Ends when the database is known to be down; at once if it is.
    pub(crate) async fn wait_until_lost(&self) {
        // The sender is in `self`, so it exists as long as anything waits.
        let _ = self.is_lost.subscribe().wait_for(|is_lost| *is_lost).await;
    }

    pub(crate) fn is_lost(&self) -> bool {
        *self.is_lost.borrow()
    }

    /// Records that the database has just answered another statement.
    pub(crate) fn note_answer(&self) {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Ends once the database is known to have answered a moment ago.
    pub(crate) async fn confirm_reached(&self) -> Result<(), PgError> {
        let answered = *self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_lost() && answered.elapsed() < FRESH {
            return Ok(());
        }
        let (asked, answer) = oneshot::channel();
        if self.is_lost() || self.asks.send(asked).is_err() {
            return Err(build_lost_error());
        }
        answer.await.map_err(|_| build_lost_error())
    }

    /// The reason why this machine's clock disagrees with the database's, if it does.
    pub(crate) fn clock_fault(&self) -> Option<String> {
        let skew_ms = self.skew_ms.load(Ordering::Relaxed);
        if Duration::from_millis(skew_ms.unsigned_abs()) <= CLOCK_SKEW_MAX {
            return None;
        }
        let (seconds, side) =
            (skew_ms.unsigned_abs() / 1000, if 0 < skew_ms { "ahead of" } else { "behind" });
        Some(format!(
            "the clock of this node is {seconds} s {side} the database's, and {} s are allowed: set \
             it right. Until then this node takes no accounts and refuses requests",
            CLOCK_SKEW_MAX.as_secs()
        ))
    }

    fn note_beat(&self, skew_ms: i64) {
        let fault_before = self.clock_fault();
        self.skew_ms.store(skew_ms, Ordering::Relaxed);
        match (fault_before, self.clock_fault()) {
            (None, Some(fault)) => tracing::error!("{fault}"),
            (Some(_), None) => {
                tracing::info!("the clock of this node agrees with the database's again")
            }
            _ => {}
        }
        self.note_answer();
        if self.is_lost.send_replace(false) {
            tracing::info!("the database answers again");
        }
    }

    fn note_lost(&self, cause: &PgError) {
        if !self.is_lost.send_replace(true) {
            tracing::warn!("the database does not answer, so requests are refused: {cause:?}");
        }
    }
}

impl PulseTask {
    /// Creates the task, which must be run, and the state that it updates. The database must have
    /// just answered.
    pub(crate) fn new(connector: PostgresConnector) -> (PulseTask, Arc<DatabasePulse>) {
        let (asks, asked) = mpsc::unbounded_channel();
        let pulse = Arc::new(DatabasePulse {
            is_lost: watch::Sender::new(false),
            answered: Mutex::new(Instant::now()),
            skew_ms: AtomicI64::new(0),
            asks,
        });
        let task = PulseTask { connector, session: None, pulse: Arc::clone(&pulse), asks: asked };
        (task, pulse)
    }

    /// Polls until `stop`.
    pub(crate) async fn run(&mut self, stop: CancellationToken) {
        let mut next = Instant::now() + PULSE_EVERY;
        loop {
            let mut waiting = Vec::new();
            tokio::select! {
                () = stop.cancelled() => return,
                asked = self.asks.recv() => waiting.extend(asked),
                () = sleep_until(next) => {}
            }
            while let Ok(asked) = self.asks.try_recv() {
                waiting.push(asked);
            }
            let asked = tokio::select! {
                () = stop.cancelled() => return,
                asked = self.poll_database() => asked,
            };
            match asked {
                Ok(()) => {
                    for waiting in waiting {
                        // A request that was cancelled does not wait any more.
                        let _ = waiting.send(());
                    }
                }
                // Dropping the channels tells the requests that wait, and those that came
                // meanwhile.
                Err(error) => {
                    self.pulse.note_lost(&error);
                    while self.asks.try_recv().is_ok() {}
                }
            }
            next = Instant::now() + PULSE_EVERY;
        }
    }

    /// One poll. After a failure the session is dropped.
    pub(crate) async fn poll_database(&mut self) -> Result<(), PgError> {
        let limit = if self.pulse.is_lost() { PULSE_RETURN_MAX } else { PULSE_ANSWER_MAX };
        let session = self.session.take().filter(PostgresSession::is_reusable);
        let asking = measure_clock_skew(&self.connector, session);
        let (session, skew_ms) = timeout(limit, asking)
            .await
            .map_err(|_| PgError::Lost("no answer in time".to_owned()))??;
        self.session = Some(session);
        self.pulse.note_beat(skew_ms);
        Ok(())
    }
}

async fn measure_clock_skew(
    connector: &PostgresConnector,
    session: Option<PostgresSession>,
) -> Result<(PostgresSession, i64), PgError> {
    let session = match session {
        Some(session) => session,
        None => connector.connect(ConnectionPurpose::Pulse).await?,
    };
    session.prepare_cached(ASK).await?;
    let sent = wall_ms();
    let row = session.single_row(ASK, &[]).await?;
    let received = wall_ms();
    Ok((session, surely_ahead(sent, read_column(&row, 0)?, received)))
}

/// The least time by which a clock is ahead of the database's, if it was read before and after it.
fn surely_ahead(sent: i64, database: i64, received: i64) -> i64 {
    if database < sent {
        sent - database
    } else if received < database {
        received - database
    } else {
        0
    }
}

fn wall_ms() -> i64 {
    SystemClock.now().ms()
}

fn build_lost_error() -> PgError {
    PgError::Refused(StoreError::Failed("the database does not answer".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_is_not_a_wrong_clock() {
        assert_eq!(surely_ahead(1_000, 61_000, 121_000), 0);
        assert_eq!(surely_ahead(100_000, 39_000, 100_010), 61_000);
        assert_eq!(surely_ahead(1_000, 62_010, 1_010), -61_000);
    }
}
