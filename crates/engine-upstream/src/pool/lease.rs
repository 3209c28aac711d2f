//! One request on one route: counted while it runs; its outcome is reported to the circuit breaker
//! exactly once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{EngineError, Served};
use futures_util::stream::{self, BoxStream, StreamExt};
use moment::{Clock, Timestamp};

use super::RouteReport;
use super::breaker::{Breaker, RouteHealth};
use super::gate::ProviderSlot;

/// State of a route that outlives requests.
pub(super) struct Track {
    served: Served,
    weight: u32,
    outstanding: AtomicU32,
    /// Locked only briefly, never across an await.
    breaker: Mutex<Breaker>,
}

impl Track {
    pub(super) fn new(served: Served, weight: u32) -> Track {
        Track { served, weight, outstanding: AtomicU32::new(0), breaker: Mutex::default() }
    }

    pub(super) fn served(&self) -> &Served {
        &self.served
    }

    pub(super) fn weight(&self) -> u32 {
        self.weight
    }

    pub(super) fn outstanding(&self) -> u32 {
        self.outstanding.load(Ordering::Relaxed)
    }

    pub(super) fn health(&self, now: Timestamp) -> RouteHealth {
        self.breaker().health(now)
    }

    pub(super) fn report(&self, now: Timestamp) -> RouteReport {
        RouteReport {
            provider: Arc::clone(&self.served.provider),
            model: Arc::clone(&self.served.model),
            outstanding: self.outstanding(),
            health: self.health(now),
        }
    }

    /// Ignores poisoning: a panic cannot leave the breaker inconsistent.
    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream of an engine's results.
type Told<T> = BoxStream<'static, Result<T, EngineError>>;

pub(super) struct Lease {
    track: Arc<Track>,
    clock: Arc<dyn Clock>,
    is_probe: bool,
    place: Option<ProviderSlot>,
    /// The outcome to report to the breaker when the lease is dropped.
    outcome: Outcome,
}

#[derive(Clone, Copy)]
enum Outcome {
    Unknown,
    Works,
    Told,
}

impl Lease {
    pub(super) fn take(track: &Arc<Track>, clock: &Arc<dyn Clock>) -> Lease {
        track.outstanding.fetch_add(1, Ordering::Relaxed);
        let is_probe = track.breaker().set_out(clock.now());
        let (track, clock) = (Arc::clone(track), Arc::clone(clock));
        Lease { track, clock, is_probe, place: None, outcome: Outcome::Unknown }
    }

    pub(super) fn with_place(mut self, place: ProviderSlot) -> Lease {
        self.place = Some(place);
        self
    }

    /// Reports a complete answer; returns the provider that served it.
    pub(super) fn succeed(mut self) -> Served {
        self.outcome = Outcome::Works;
        self.track.served.clone()
    }

    pub(super) fn fail(mut self, error: &EngineError) {
        self.note(error);
    }

    pub(super) fn served(&self) -> &Served {
        &self.track.served
    }

    /// Keeps the lease while the stream lives. Its first item has arrived, so a caller who
    /// disconnects now counts as a success of the route.
    pub(super) fn over<T: Send + 'static>(mut self, stream: Told<T>) -> Told<T> {
        self.outcome = Outcome::Works;
        Box::pin(stream::unfold((stream, self), |(mut stream, mut lease)| async move {
            let item = stream.next().await?;
            if let Err(error) = &item {
                lease.note(error);
            }
            Some((item, (stream, lease)))
        }))
    }

    fn note(&mut self, error: &EngineError) {
        let now = self.clock.now();
        let mut breaker = self.track.breaker();
        match error {
            EngineError::Overloaded { retry_after: Some(wait) } => {
                breaker.rest(now, *wait);
                breaker.succeed(self.is_probe);
            }
            // The engine answered, and the fault is the request's.
            error if !error.may_fail_over() => breaker.succeed(self.is_probe),
            _ => breaker.fail(now, self.is_probe),
        }
        self.outcome = Outcome::Told;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.track.outstanding.fetch_sub(1, Ordering::Relaxed);
        match self.outcome {
            Outcome::Works => self.track.breaker().succeed(self.is_probe),
            Outcome::Unknown => self.track.breaker().abandon(self.clock.now(), self.is_probe),
            Outcome::Told => {}
        }
    }
}
