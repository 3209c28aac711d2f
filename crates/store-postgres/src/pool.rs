//! A few connections that read, so that queries never wait for the writer.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use store::error::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::connector::{Connector, Purpose};
use crate::error::PgError;
use crate::session::Session;

pub(crate) struct Pool {
    connector: Connector,
    idle: Mutex<Vec<Session>>,
    free: Arc<Semaphore>,
}

/// A connection that is lent. It goes back when this is dropped, unless it is in the middle of a
/// transaction, which then ends with it.
pub(crate) struct Reader {
    session: Option<Session>,
    pool: Arc<Pool>,
    _permit: OwnedSemaphorePermit,
}

impl Pool {
    pub(crate) fn new(connector: Connector, size: usize) -> Pool {
        Pool { connector, idle: Mutex::default(), free: Arc::new(Semaphore::new(size.max(1))) }
    }

    pub(crate) async fn reader(self: &Arc<Pool>) -> Result<Reader, PgError> {
        let permit = Arc::clone(&self.free).acquire_owned().await;
        let permit = permit.map_err(|_| PgError::Refused(StoreError::Closed))?;
        let session = match self.idle() {
            Some(session) => session,
            None => self.connector.connect(Purpose::Read).await?,
        };
        Ok(Reader { session: Some(session), pool: Arc::clone(self), _permit: permit })
    }

    /// A connection that is not lent but given.
    pub(crate) async fn connect(&self, purpose: Purpose) -> Result<Session, PgError> {
        self.connector.connect(purpose).await
    }

    /// From now on nobody gets a connection.
    pub(crate) fn close(&self) {
        self.free.close();
        self.lock().clear();
    }

    /// The newest one that is still good; those that are not are let go.
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
