//! Extends this node's lease, and reports whether it is held.

use std::time::Duration;

use store::error::StoreError;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::connector::{Connector, Purpose};
use crate::error::PgError;
use crate::node::{self, Identity, LEASE};
use crate::session::Session;

/// How often the lease is extended.
const EVERY: Duration = Duration::from_secs(3);
/// How much sooner than the database this node takes its lease for ended: clocks do not run at
/// quite the same speed, and an answer that was on its way should be out before.
const MARGIN: Duration = Duration::from_secs(3);
/// How soon it is tried again after it failed.
const PAUSE: Duration = Duration::from_millis(300);
/// How long one try may take.
const TRY_MAX: Duration = Duration::from_secs(4);

/// Whether this node may decide anything by what it has in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseState {
    Held,
    /// The database has not confirmed the lease in time. It may come back.
    Lapsed,
    /// The database has given this node's place away. The process has to start anew.
    Lost,
}

pub(crate) struct Keeper {
    connector: Connector,
    session: Option<Session>,
    identity: Identity,
    state: watch::Sender<LeaseState>,
    /// Measured by this process from the moment in which the statement was sent: the database has
    /// counted from later.
    held_until: Instant,
}

impl Keeper {
    /// `since` is before the node was registered.
    pub(crate) fn new(
        connector: Connector,
        session: Session,
        identity: Identity,
        since: Instant,
    ) -> (Keeper, watch::Receiver<LeaseState>) {
        let (state, watched) = watch::channel(LeaseState::Held);
        let held_until = since + (LEASE - MARGIN);
        (Keeper { connector, session: Some(session), identity, state, held_until }, watched)
    }

    /// Extends the lease until it is stopped or the lease is lost; gives it back in the end.
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
                    tracing::error!(
                        "another process has taken this node's place in the database, or found it \
                         dead; this one writes nothing any more"
                    );
                    self.report(LeaseState::Lost);
                    return;
                }
                Err(error) => {
                    tracing::warn!("the lease cannot be extended: {}", StoreError::from(error));
                    next = Instant::now() + PAUSE;
                }
            }
        }
        self.give_back().await;
        self.report(LeaseState::Lapsed);
    }

    /// One try. If the lease ends meanwhile, that is reported when it does. After a failure there
    /// is no session any more: the next statement is not sent behind one that nobody answers.
    async fn try_extending(&mut self, sent: Instant) -> Result<bool, PgError> {
        let (connector, session, identity) =
            (self.connector.clone(), self.session.take(), self.identity);
        let attempt = timeout_at(sent + TRY_MAX, extend(connector, session, identity));
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

    async fn give_back(&mut self) {
        let Some(session) = self.session.take() else { return };
        let given = node::give_back(&session, self.identity);
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
        self.state.send_if_modified(|known| std::mem::replace(known, state) != state);
    }
}

async fn extend(
    connector: Connector,
    session: Option<Session>,
    identity: Identity,
) -> Result<(Session, bool), PgError> {
    let session = match session {
        Some(session) if session.is_reusable() => session,
        _ => connector.connect(Purpose::Lease).await?,
    };
    let is_extended = node::extend(&session, identity).await?;
    Ok((session, is_extended))
}
