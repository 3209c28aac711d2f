//! Extends this node's lease, and reports its state.

use std::sync::Arc;
use std::time::Duration;

use store::error::StoreError;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::connector::{ConnectionPurpose, PostgresConnector};
use crate::error::PgError;
use crate::identity::{CurrentIdentity, DatedIdentity};
use crate::node::{self, LEASE, NodeIdentity};
use crate::session::PostgresSession;

/// Interval at which the lease is extended.
const EVERY: Duration = Duration::from_secs(3);
/// Time by which this node considers its lease ended before the database does: clocks run at
/// slightly different speeds, and answers on their way should be out before.
const MARGIN: Duration = Duration::from_secs(3);
/// Pause after a failed attempt.
const PAUSE: Duration = Duration::from_millis(300);
/// Timeout of one attempt.
const TRY_MAX: Duration = Duration::from_secs(4);

/// The state of this node's lease. Only while it is held may the node decide by its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseState {
    Held,
    /// The database has not confirmed the lease in time. It may still be extended.
    Lapsed,
    /// The node was declared dead, and others have taken over its owners. It may register again.
    Retired,
    /// Another process has this node's place. This process has to be restarted.
    Lost,
}

/// The state that the keeper shares with the rest of the store.
pub(crate) struct KeeperLinks {
    pub(crate) seat: Arc<CurrentIdentity>,
    pub(crate) state: Arc<watch::Sender<LeaseState>>,
    pub(crate) name: String,
    /// False for a single node, which has all balances in memory: it must be restarted.
    pub(crate) may_return: bool,
}

pub(crate) struct LeaseKeeper {
    connector: PostgresConnector,
    session: Option<PostgresSession>,
    links: KeeperLinks,
    identity: NodeIdentity,
    /// Measured from the moment at which the statement was sent, which is before the database began
    /// to count.
    held_until: Instant,
}

impl LeaseKeeper {
    pub(crate) fn new(
        connector: PostgresConnector,
        session: PostgresSession,
        tenure: DatedIdentity,
        links: KeeperLinks,
    ) -> LeaseKeeper {
        let DatedIdentity { identity, since } = tenure;
        let held_until = since + (LEASE - MARGIN);
        LeaseKeeper { connector, session: Some(session), links, identity, held_until }
    }

    /// Extends the lease until `stop`, and then releases it. Ends early if the lease is lost. A
    /// node that was declared dead waits until it has registered again.
    pub(crate) async fn run(&mut self, stop: CancellationToken) {
        let mut next = Instant::now() + EVERY;
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.wait_noting_lapse(next) => {}
            }
            let sent = Instant::now();
            match self.try_extending(sent).await {
                Ok(true) => {
                    self.held_until = sent + (LEASE - MARGIN);
                    self.report(LeaseState::Held);
                    next = sent + EVERY;
                }
                Ok(false) => {
                    if !self.was_retired().await {
                        tracing::error!(
                            "another process has taken this node's place in the database; this one \
                             writes nothing any more"
                        );
                        self.report(LeaseState::Lost);
                        return;
                    }
                    if !self.wait_for_return(&stop).await {
                        return;
                    }
                    next = Instant::now() + EVERY;
                }
                Err(error) => {
                    tracing::warn!("the lease cannot be extended: {}", StoreError::from(error));
                    next = Instant::now() + PAUSE;
                }
            }
        }
        self.end_lease().await;
        self.report(LeaseState::Lapsed);
    }

    /// One attempt. If the lease ends meanwhile, that is reported at once. After a failure the
    /// session is dropped: the next statement must not queue behind one without an answer.
    async fn try_extending(&mut self, sent: Instant) -> Result<bool, PgError> {
        let (connector, session, identity) =
            (self.connector.clone(), self.session.take(), self.identity);
        let attempt = timeout_at(sent + TRY_MAX, connect_and_extend(connector, session, identity));
        tokio::pin!(attempt);
        let outcome = tokio::select! {
            biased;
            outcome = &mut attempt => outcome,
            () = sleep_until(self.held_until) => {
                self.report(LeaseState::Lapsed);
                attempt.await
            }
        };
        let (session, is_extended) =
            outcome.map_err(|_| PgError::Lost("no answer in time".to_owned()))??;
        self.session = Some(session);
        Ok(is_extended)
    }

    /// True if this node was declared dead, and no other process has its name.
    async fn was_retired(&mut self) -> bool {
        if !self.links.may_return {
            return false;
        }
        let Some(session) = &self.session else { return false };
        let taken = timeout_at(Instant::now() + TRY_MAX, node::is_taken(session, &self.links.name));
        // If this failed, registering again shows it.
        !matches!(taken.await, Ok(Ok(true)))
    }

    /// Waits until the node has registered again; false if it never will.
    async fn wait_for_return(&mut self, stop: &CancellationToken) -> bool {
        tracing::warn!(
            "this node did not extend its lease in time, and was found dead: it drops what it has in \
             memory, and registers again"
        );
        self.report(LeaseState::Retired);
        let mut states = self.links.state.subscribe();
        let returned = tokio::select! {
            () = stop.cancelled() => return false,
            _ = states.wait_for(|state| *state == LeaseState::Lost) => return false,
            returned = self.links.seat.next(self.identity) => returned,
        };
        (self.identity, self.held_until) = (returned.identity, returned.since + (LEASE - MARGIN));
        self.report(LeaseState::Held);
        tracing::info!("this node is registered again");
        true
    }

    async fn end_lease(&mut self) {
        let Some(session) = self.session.take() else { return };
        let given = node::end_lease(&session, self.identity);
        if !matches!(timeout_at(Instant::now() + TRY_MAX, given).await, Ok(Ok(()))) {
            tracing::warn!("the lease could not be given back, and will run out");
        }
    }

    /// Waits until a moment; if the lease ends sooner, that is reported when it does.
    async fn wait_noting_lapse(&self, until: Instant) {
        if self.held_until < until {
            sleep_until(self.held_until).await;
            self.report(LeaseState::Lapsed);
        }
        sleep_until(until).await;
    }

    fn report(&self, state: LeaseState) {
        self.links.state.send_if_modified(|known| std::mem::replace(known, state) != state);
    }
}

async fn connect_and_extend(
    connector: PostgresConnector,
    session: Option<PostgresSession>,
    identity: NodeIdentity,
) -> Result<(PostgresSession, bool), PgError> {
    let session = match session {
        Some(session) if session.is_reusable() => session,
        _ => connector.connect(ConnectionPurpose::Lease).await?,
    };
    let is_extended = node::extend_lease(&session, identity).await?;
    Ok((session, is_extended))
}
