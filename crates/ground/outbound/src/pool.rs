//! A pool of connections to servers without TLS.
//!
//! Such a connection uses only HTTP/1.1, so it serves one request at a time. Idle connections are
//! not read: a connection that the server closed is detected when it is next taken or swept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use http::Uri;
use tokio::runtime::Handle;

use crate::connect::OutboundConnector;
use crate::connection::{PlainConnection, SendError};
use crate::error::OutboundError;
use crate::outgoing_request::OutgoingRequest;
use crate::response::UpstreamResponse;
use crate::target::PlainTarget;

/// Idle connections that are kept per server; more are closed.
pub(crate) const IDLE_PER_SERVER_MAX: usize = 256;

/// The connections of one lane.
pub(crate) struct PlainPool {
    connector: OutboundConnector,
    idle_max: Duration,
    /// Locked only to take or return a connection, never while waiting.
    idle: Mutex<IdleConnections>,
}

#[derive(Default)]
struct IdleConnections {
    /// The most recently used are last.
    #[expect(clippy::vec_box, reason = "they go back and forth, and are long")]
    by_server: HashMap<Arc<str>, Vec<Box<PlainConnection>>>,
    /// Alive while a task closes connections that were idle too long.
    sweeper: Weak<()>,
}

/// A connection in use. On drop it returns to the pool if its response was read completely, and is
/// closed otherwise.
pub(crate) struct PooledConnection {
    /// `Some` until it returns to the pool.
    wire: Option<Box<PlainConnection>>,
    server: Arc<str>,
    pool: Arc<PlainPool>,
}

impl PlainPool {
    pub(crate) fn new(connector: OutboundConnector, idle_max: Duration) -> Arc<PlainPool> {
        Arc::new(PlainPool { connector, idle_max, idle: Mutex::default() })
    }

    /// Sends a request. It is retried only if an idle connection turned out to be closed before any
    /// byte of it was written.
    pub(crate) async fn send(
        self: &Arc<PlainPool>,
        target: &PlainTarget,
        mut request: OutgoingRequest,
    ) -> Result<UpstreamResponse, OutboundError> {
        while let Some(wire) = self.take_idle(&target.server) {
            match self.send_over(wire, target, request).await {
                Ok(answer) => return Ok(answer),
                Err(SendError::Unsent(unsent, _)) => request = unsent,
                Err(SendError::Broken(error)) => return Err(error),
            }
        }
        let wire = self.open(&target.address).await?;
        match self.send_over(wire, target, request).await {
            Ok(answer) => Ok(answer),
            Err(SendError::Unsent(_, error)) => Err(OutboundError::of_sending(&error)),
            Err(SendError::Broken(error)) => Err(error),
        }
    }

    async fn send_over(
        self: &Arc<PlainPool>,
        wire: Box<PlainConnection>,
        target: &PlainTarget,
        request: OutgoingRequest,
    ) -> Result<UpstreamResponse, SendError> {
        let server = Arc::clone(&target.server);
        let mut connection = PooledConnection { wire: Some(wire), server, pool: Arc::clone(self) };
        let head = connection.connection().send(request).await?;
        Ok(UpstreamResponse::from_pool(connection, head))
    }

    /// The most recently used idle connection that is still usable.
    fn take_idle(&self, server: &str) -> Option<Box<PlainConnection>> {
        let now = Instant::now();
        loop {
            let wire = self.lock().by_server.get_mut(server)?.pop()?;
            if self.is_fresh(&wire, now) && wire.is_still_open() {
                return Some(wire);
            }
        }
    }

    async fn open(&self, address: &Uri) -> Result<Box<PlainConnection>, OutboundError> {
        let connected = self.connector.connect_plain(address).await;
        let socket = connected.map_err(|error| OutboundError::of_connecting(error.as_ref()))?;
        Ok(Box::new(PlainConnection::new(socket)))
    }

    fn return_connection(self: &Arc<PlainPool>, server: &Arc<str>, mut wire: Box<PlainConnection>) {
        wire.idle_since = Instant::now();
        let mut idle = self.lock();
        if idle.sweeper.strong_count() == 0 {
            // Without a runtime the process is about to end.
            let Ok(runtime) = Handle::try_current() else { return };
            let alive = Arc::new(());
            idle.sweeper = Arc::downgrade(&alive);
            runtime.spawn(run_sweeper(Arc::downgrade(self), self.idle_max, alive));
        }
        let wires = idle.by_server.entry_ref(server).or_default();
        if wires.len() < IDLE_PER_SERVER_MAX {
            wires.push(wire);
        }
    }

    /// Closes connections that were idle too long or that the server closed. Returns false if none
    /// is left, so that no sweep is needed until there is one.
    fn sweep_idle(&self, now: Instant) -> bool {
        let mut idle = self.lock();
        for wires in idle.by_server.values_mut() {
            wires.retain(|wire| self.is_fresh(wire, now) && wire.is_still_open());
        }
        idle.by_server.retain(|_, wires| !wires.is_empty());
        let is_any_left = !idle.by_server.is_empty();
        if !is_any_left {
            idle.sweeper = Weak::new();
        }
        is_any_left
    }

    fn is_fresh(&self, wire: &PlainConnection, now: Instant) -> bool {
        now.duration_since(wire.idle_since) < self.idle_max
    }

    fn lock(&self) -> MutexGuard<'_, IdleConnections> {
        // A panic cannot leave the table in a broken state, so a poisoned lock is used as it is.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs while there are idle connections; `_alive` shows that it runs.
async fn run_sweeper(plain: Weak<PlainPool>, idle_max: Duration, _alive: Arc<()>) {
    loop {
        tokio::time::sleep(idle_max).await;
        let is_any_left = plain.upgrade().is_some_and(|plain| plain.sweep_idle(Instant::now()));
        if !is_any_left {
            return;
        }
    }
}

impl PooledConnection {
    pub(crate) fn connection(&mut self) -> &mut PlainConnection {
        self.wire.as_mut().expect("a connection is there until it is dropped")
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let Some(mut wire) = self.wire.take() else { return };
        if wire.is_free() || wire.is_free_without_rest() {
            self.pool.return_connection(&self.server, wire);
        }
    }
}
