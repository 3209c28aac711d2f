//! One request on one route: counted while it runs; its outcome is reported to the circuit breaker
//! exactly once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{EngineError, ServingProvider, SessionId};
use futures_util::stream::{self, BoxStream, StreamExt};
use moment::{Clock, Timestamp};

use super::RouteReport;
use super::affinity::RouteDigest;
use super::breaker::{CircuitBreaker, RouteHealth};
use super::provider_queue::ProviderSlot;
use crate::failure::OwnHost;

/// State of a route that outlives requests.
pub(super) struct RouteState {
    served: ServingProvider,
    weight: u32,
    host: OwnHost,
    digest: RouteDigest,
    outstanding: AtomicU32,
    /// Locked only briefly, never across an await.
    breaker: Mutex<CircuitBreaker>,
}

impl RouteState {
    pub(super) fn new(served: ServingProvider, weight: u32, host: OwnHost) -> RouteState {
        let digest = RouteDigest::new(&served.provider, &served.model);
        let (outstanding, breaker) = (AtomicU32::new(0), Mutex::default());
        RouteState { served, weight, host, digest, outstanding, breaker }
    }

    pub(super) fn serving_provider(&self) -> &ServingProvider {
        &self.served
    }

    pub(super) fn weight(&self) -> u32 {
        self.weight
    }

    /// Distance of a session; 0 without one.
    pub(super) fn distance_from(&self, session: Option<SessionId>) -> f64 {
        session.map_or(0.0, |session| self.digest.distance_from(session, self.weight))
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
    fn breaker(&self) -> MutexGuard<'_, CircuitBreaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream of an engine's results.
type ResultStream<T> = BoxStream<'static, Result<T, EngineError>>;

pub(super) struct RouteLease {
    track: Arc<RouteState>,
    clock: Arc<dyn Clock>,
    is_probe: bool,
    place: Option<ProviderSlot>,
    /// The outcome to report to the breaker when the lease is dropped.
    outcome: RouteOutcome,
}

#[derive(Clone, Copy)]
enum RouteOutcome {
    Unknown,
    Works,
    Told,
}

impl RouteLease {
    pub(super) fn take(track: &Arc<RouteState>, clock: &Arc<dyn Clock>) -> RouteLease {
        track.outstanding.fetch_add(1, Ordering::Relaxed);
        let is_probe = track.breaker().start_request(clock.now());
        let (track, clock) = (Arc::clone(track), Arc::clone(clock));
        RouteLease { track, clock, is_probe, place: None, outcome: RouteOutcome::Unknown }
    }

    pub(super) fn with_slot(mut self, place: ProviderSlot) -> RouteLease {
        self.place = Some(place);
        self
    }

    /// Reports a complete answer; returns the provider that served it.
    pub(super) fn succeed(mut self) -> ServingProvider {
        self.outcome = RouteOutcome::Works;
        self.track.served.clone()
    }

    /// Reports a failure; returns it for the caller, without the provider's host.
    pub(super) fn fail(mut self, error: EngineError) -> EngineError {
        self.record_error(&error);
        self.track.host.remove_from_error(error)
    }

    pub(super) fn serving_provider(&self) -> &ServingProvider {
        &self.track.served
    }

    /// Keeps the lease while the stream lives. Its first item has arrived, so a caller who
    /// disconnects now counts as a success of the route.
    pub(super) fn wrap_stream<T: Send + 'static>(
        mut self,
        stream: ResultStream<T>,
    ) -> ResultStream<T> {
        self.outcome = RouteOutcome::Works;
        Box::pin(stream::unfold((stream, self), |(mut stream, mut lease)| async move {
            let item = stream.next().await?;
            let item = item.map_err(|error| {
                lease.record_error(&error);
                lease.track.host.remove_from_error(error)
            });
            Some((item, (stream, lease)))
        }))
    }

    fn record_error(&mut self, error: &EngineError) {
        let now = self.clock.now();
        let mut breaker = self.track.breaker();
        match error {
            EngineError::Overloaded { retry_after: Some(wait) }
            | EngineError::ServiceOverloaded { retry_after: Some(wait) } => {
                breaker.rest_for(now, *wait);
                breaker.succeed(self.is_probe);
            }
            // The engine answered, and the fault is the request's.
            error if !error.may_fail_over() => breaker.succeed(self.is_probe),
            _ => breaker.fail(now, self.is_probe),
        }
        self.outcome = RouteOutcome::Told;
    }
}

impl Drop for RouteLease {
    fn drop(&mut self) {
        self.track.outstanding.fetch_sub(1, Ordering::Relaxed);
        match self.outcome {
            RouteOutcome::Works => self.track.breaker().succeed(self.is_probe),
            RouteOutcome::Unknown => self.track.breaker().abandon(self.clock.now(), self.is_probe),
            RouteOutcome::Told => {}
        }
    }
}
