//! A few connections for one purpose, so that queries never wait for the writer, nor for requests
//! that wait for an owner's lease.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use store::error::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use crate::connector::{Connector, Purpose};
use crate::error::PgError;
use crate::pulse::DatabasePulse;
use crate::session::Session;

pub(crate) struct Pool {
    connector: Connector,
    purpose: Purpose,
    idle: Mutex<Vec<Session>>,
    free: Arc<Semaphore>,
}

/// A borrowed connection. Dropping it returns the connection to the pool, unless it is in a
/// transaction, which then ends with it.
pub(crate) struct Reader {
    session: Option<Session>,
    pool: Arc<Pool>,
    _permit: OwnedSemaphorePermit,
}

impl Pool {
    pub(crate) fn new(connector: Connector, purpose: Purpose, size: usize) -> Pool {
        let free = Arc::new(Semaphore::new(size.max(1)));
        Pool { connector, purpose, idle: Mutex::default(), free }
    }

    pub(crate) async fn reader(self: &Arc<Pool>) -> Result<Reader, PgError> {
        let permit = Arc::clone(&self.free).acquire_owned().await;
        let permit = permit.map_err(|_| PgError::Refused(StoreError::Closed))?;
        let session = match self.idle() {
            Some(session) => session,
            None => self.connector.connect(self.purpose).await?,
        };
        Ok(Reader { session: Some(session), pool: Arc::clone(self), _permit: permit })
    }

    /// Runs a query on a connection of the pool. Cancelled when the database is known to be down or
    /// the limit has passed; the connection is not reused then.
    pub(crate) async fn ask<T, E, F>(
        self: &Arc<Pool>,
        pulse: &DatabasePulse,
        limit: Option<Duration>,
        query: impl FnOnce(Arc<Reader>) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, E>>,
        E: Into<StoreError>,
    {
        let until = limit.map(|limit| Instant::now() + limit);
        let lent = bounded(pulse, until, self.reader()).await.ok_or_else(unanswered)?;
        let reader = Arc::new(lent?);
        let answer = bounded(pulse, until, query(Arc::clone(&reader))).await;
        let Some(answer) = answer else {
            reader.spoil();
            self.drop_idle();
            return Err(unanswered());
        };
        answer.map_err(Into::into)
    }

    /// Opens a connection outside of the pool.
    pub(crate) async fn connect(&self, purpose: Purpose) -> Result<Session, PgError> {
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
    fn idle(&self) -> Option<Session> {
        let mut idle = self.lock();
        while let Some(session) = idle.pop() {
            if session.is_reusable() {
                return Some(session);
            }
        }
        None
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer; None if the time is over, or the database is down.
async fn bounded<T>(
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
        () = pulse.lost() => None,
        () = is_over => None,
    }
}

fn unanswered() -> StoreError {
    StoreError::Failed("the database did not answer in time".to_owned())
}

impl Deref for Reader {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session.as_ref().expect("the session is there until the reader is dropped")
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(session) = self.session.take().filter(Session::is_reusable)
            && !self.pool.free.is_closed()
        {
            self.pool.lock().push(session);
        }
    }
}
