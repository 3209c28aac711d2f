//! A few connections for one purpose, so that queries never wait for the writer, nor for requests
//! that wait for an owner's lease.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use store::error::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use crate::connector::{ConnectionPurpose, PostgresConnector};
use crate::error::PgError;
use crate::pulse::DatabasePulse;
use crate::session::PostgresSession;

pub(crate) struct SessionPool {
    connector: PostgresConnector,
    purpose: ConnectionPurpose,
    idle: Mutex<Vec<PostgresSession>>,
    free: Arc<Semaphore>,
}

/// A borrowed connection. Dropping it returns the connection to the pool, unless it is in a
/// transaction, which then ends with it.
pub(crate) struct PooledSession {
    session: Option<PostgresSession>,
    pool: Arc<SessionPool>,
    _permit: OwnedSemaphorePermit,
}

impl SessionPool {
    pub(crate) fn new(
        connector: PostgresConnector,
        purpose: ConnectionPurpose,
        size: usize,
    ) -> SessionPool {
        let free = Arc::new(Semaphore::new(size.max(1)));
        SessionPool { connector, purpose, idle: Mutex::default(), free }
    }

    pub(crate) async fn acquire_session(self: &Arc<SessionPool>) -> Result<PooledSession, PgError> {
        let permit = Arc::clone(&self.free).acquire_owned().await;
        let permit = permit.map_err(|_| PgError::Refused(StoreError::Closed))?;
        let session = match self.take_idle() {
            Some(session) => session,
            None => self.connector.connect(self.purpose).await?,
        };
        Ok(PooledSession { session: Some(session), pool: Arc::clone(self), _permit: permit })
    }

    /// Runs a query on a connection of the pool. Cancelled when the database is known to be down or
    /// the limit has passed; the connection is not reused then.
    pub(crate) async fn run_query<T, E, F>(
        self: &Arc<SessionPool>,
        pulse: &DatabasePulse,
        limit: Option<Duration>,
        query: impl FnOnce(Arc<PooledSession>) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, E>>,
        E: Into<StoreError>,
    {
        let until = limit.map(|limit| Instant::now() + limit);
        let lent = await_until(pulse, until, self.acquire_session())
            .await
            .ok_or_else(build_timeout_error)?;
        let reader = Arc::new(lent?);
        let answer = await_until(pulse, until, query(Arc::clone(&reader))).await;
        let Some(answer) = answer else {
            reader.mark_unusable();
            self.drop_idle();
            return Err(build_timeout_error());
        };
        answer.map_err(Into::into)
    }

    /// Opens a connection outside of the pool.
    pub(crate) async fn connect(
        &self,
        purpose: ConnectionPurpose,
    ) -> Result<PostgresSession, PgError> {
        self.connector.connect(purpose).await
    }

    /// Closes the idle connections, because another one did not answer.
    pub(crate) fn drop_idle(&self) {
        self.lock().clear();
    }

    /// Closes the pool: no more connections are handed out.
    pub(crate) fn close(&self) {
        self.free.close();
        self.lock().clear();
    }

    /// The newest idle connection that is reusable; others are closed.
    fn take_idle(&self) -> Option<PostgresSession> {
        let mut idle = self.lock();
        while let Some(session) = idle.pop() {
            if session.is_reusable() {
                return Some(session);
            }
        }
        None
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<PostgresSession>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer; None if the time is over, or the database is down.
async fn await_until<T>(
    pulse: &DatabasePulse,
    until: Option<Instant>,
    answer: impl Future<Output = T>,
) -> Option<T> {
    let is_over = async {
        match until {
            Some(until) => sleep_until(until).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        answer = answer => Some(answer),
        () = pulse.wait_until_lost() => None,
        () = is_over => None,
    }
}

fn build_timeout_error() -> StoreError {
    StoreError::Failed("the database did not answer in time".to_owned())
}

impl Deref for PooledSession {
    type Target = PostgresSession;

    fn deref(&self) -> &PostgresSession {
        self.session.as_ref().expect("the session is there until the reader is dropped")
    }
}

impl Drop for PooledSession {
    fn drop(&mut self) {
        if let Some(session) = self.session.take().filter(PostgresSession::is_reusable)
            && !self.pool.free.is_closed()
        {
            self.pool.lock().push(session);
        }
    }
}
