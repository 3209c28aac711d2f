//! A pool of connections to servers without TLS.
//!
//! Such a connection uses only HTTP/1.1, so it serves one request at a time. Idle connections are
//! not read: a connection that the server closed is detected when it is next taken or swept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use http::Uri;
use tokio::runtime::Handle;

use crate::answer::Answer;
use crate::connect::Connector;
use crate::error::OutboundError;
use crate::outgoing::Outgoing;
use crate::target::PlainTarget;
use crate::wire::{Unanswered, Wire};

/// Idle connections that are kept per server; more are closed.
pub(crate) const IDLE_PER_SERVER_MAX: usize = 256;

/// The connections of one lane.
pub(crate) struct Plain {
    connector: Connector,
    idle_max: Duration,
    /// Locked only to take or return a connection, never while waiting.
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    /// The most recently used are last.
    #[expect(clippy::vec_box, reason = "they go back and forth, and are long")]
    by_server: HashMap<Arc<str>, Vec<Box<Wire>>>,
    /// Alive while a task closes connections that were idle too long.
    sweeper: Weak<()>,
}

/// A connection in use. On drop it returns to the pool if its response was read completely, and is
/// closed otherwise.
pub(crate) struct PooledConnection {
    /// `Some` until it returns to the pool.
    wire: Option<Box<Wire>>,
    server: Arc<str>,
    pool: Arc<Plain>,
}

impl Plain {
    pub(crate) fn new(connector: Connector, idle_max: Duration) -> Arc<Plain> {
        Arc::new(Plain { connector, idle_max, idle: Mutex::default() })
    }

    /// Sends a request. It is retried only if an idle connection turned out to be closed before any
    /// byte of it was written.
    pub(crate) async fn send(
        self: &Arc<Plain>,
        target: &PlainTarget,
        mut request: Outgoing,
    ) -> Result<Answer, OutboundError> {
        while let Some(wire) = self.take(&target.server) {
            match self.send_over(wire, target, request).await {
                Ok(answer) => return Ok(answer),
                Err(Unanswered::Unsent(unsent, _)) => request = unsent,
                Err(Unanswered::Broken(error)) => return Err(error),
            }
        }
        let wire = self.open(&target.address).await?;
        match self.send_over(wire, target, request).await {
            Ok(answer) => Ok(answer),
            Err(Unanswered::Unsent(_, error)) => Err(OutboundError::of_sending(&error)),
            Err(Unanswered::Broken(error)) => Err(error),
        }
    }

    async fn send_over(
        self: &Arc<Plain>,
        wire: Box<Wire>,
        target: &PlainTarget,
        request: Outgoing,
    ) -> Result<Answer, Unanswered> {
        let server = Arc::clone(&target.server);
        let mut connection = PooledConnection { wire: Some(wire), server, pool: Arc::clone(self) };
        let head = connection.wire().send(request).await?;
        Ok(Answer::over(connection, head))
    }

    /// The most recently used idle connection that is still usable.
    fn take(&self, server: &str) -> Option<Box<Wire>> {
        let now = Instant::now();
        loop {
            let wire = self.lock().by_server.get_mut(server)?.pop()?;
            if self.is_fresh(&wire, now) && wire.is_still_open() {
                return Some(wire);
            }
        }
    }

    async fn open(&self, address: &Uri) -> Result<Box<Wire>, OutboundError> {
        let connected = self.connector.plain(address).await;
        let socket = connected.map_err(|error| OutboundError::of_connecting(error.as_ref()))?;
        Ok(Box::new(Wire::new(socket)))
    }

    fn put(self: &Arc<Plain>, server: &Arc<str>, mut wire: Box<Wire>) {
        wire.idle_since = Instant::now();
        let mut idle = self.lock();
        if idle.sweeper.strong_count() == 0 {
            // Without a runtime the process is about to end.
            let Ok(runtime) = Handle::try_current() else { return };
            let alive = Arc::new(());
            idle.sweeper = Arc::downgrade(&alive);
            runtime.spawn(sweep(Arc::downgrade(self), self.idle_max, alive));
        }
        let wires = idle.by_server.entry_ref(server).or_default();
        if wires.len() < IDLE_PER_SERVER_MAX {
            wires.push(wire);
        }
    }

    /// Closes connections that were idle too long or that the server closed. Returns false if none
    /// is left, so that no sweep is needed until there is one.
    fn sweep(&self, now: Instant) -> bool {
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

    fn is_fresh(&self, wire: &Wire, now: Instant) -> bool {
        now.duration_since(wire.idle_since) < self.idle_max
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        // A panic cannot leave the table in a broken state, so a poisoned lock is used as it is.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs while there are idle connections; `_alive` shows that it runs.
async fn sweep(plain: Weak<Plain>, idle_max: Duration, _alive: Arc<()>) {
    loop {
        tokio::time::sleep(idle_max).await;
        let is_any_left = plain.upgrade().is_some_and(|plain| plain.sweep(Instant::now()));
        if !is_any_left {
            return;
        }
    }
}

impl PooledConnection {
    pub(crate) fn wire(&mut self) -> &mut Wire {
        self.wire.as_mut().expect("a connection is there until it is dropped")
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let Some(mut wire) = self.wire.take() else { return };
        if wire.is_free() || wire.is_free_without_rest() {
            self.pool.put(&self.server, wire);
        }
    }
}
