//! Queries of several statements that must see one snapshot of the database.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use store::error::StoreError;

use crate::error::PgError;
use crate::session::PostgresSession;

/// Writers hold this lock shared from before they draw a sequence number until they have committed.
/// A reader that holds it exclusively therefore sees the row of every number that was drawn and not
/// rolled back.
pub(crate) const DRAWING_LOCK: i64 = 0x546F_6C6C_0001;

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// Attempts to take the lock. During each, writers wait until the transactions in progress have
/// ended, two seconds at most.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// Begins a transaction whose statements all see one snapshot, until [`end_snapshot`].
pub(crate) async fn begin_snapshot(session: &PostgresSession) -> Result<(), PgError> {
    session.begin_transaction(BEGIN).await
}

/// Like [`begin_snapshot`], and no row that is committed later has a sequence number below one that
/// is visible here.
///
/// Numbers are drawn before they are committed, so with several nodes a higher one may be visible
/// first; a reader that continues from there would never see the lower one. So writers are locked
/// out for the moment in which the snapshot is taken. All statements are sent at once, and the
/// database times out if this process hangs in between.
pub(crate) async fn begin_settled_snapshot(session: &PostgresSession) -> Result<(), PgError> {
    let lock = format!(
        "SET idle_session_timeout = '5s'; SET idle_in_transaction_session_timeout = '5s'; \
         SET lock_timeout = '2s'; SELECT pg_advisory_lock({DRAWING_LOCK})"
    );
    let begin = format!("{BEGIN}; SELECT 1");
    let unlock = format!(
        "SELECT pg_advisory_unlock({DRAWING_LOCK}); RESET idle_session_timeout; \
         RESET idle_in_transaction_session_timeout; RESET lock_timeout"
    );
    for _ in 0..TRIES {
        session.note_transaction();
        match session.run_all(&[&lock, &begin, &unlock]).await {
            Ok(()) => return Ok(()),
            Err(PgError::Collided(_)) => session.end_transaction("ROLLBACK").await?,
            Err(error) => return Err(error),
        }
        tokio::time::sleep(PAUSE).await;
    }
    let stuck = "a transaction of some node has not ended for seconds";
    Err(PgError::Refused(StoreError::Failed(stuck.to_owned())))
}

pub(crate) async fn end_snapshot(session: &PostgresSession) -> Result<(), PgError> {
    session.end_transaction("COMMIT").await
}

/// The sequence number up to which a table is known to be complete. Pages below it need no lock.
#[derive(Debug, Default)]
pub(crate) struct SettledSequence(AtomicI64);

impl SettledSequence {
    pub(crate) fn covers(&self, seq: i64) -> bool {
        seq <= self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn raise_to(&self, seq: i64) {
        self.0.fetch_max(seq, Ordering::SeqCst);
    }
}
