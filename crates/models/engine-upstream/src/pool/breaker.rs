//! The circuit breaker of a route: opens after repeated failures, then lets one probe request
//! through.

use std::time::Duration;

use moment::Timestamp;

const FAILURES_MAX: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(120);
/// Upper limit of the rest that an engine requests.
const REQUESTED_PAUSE_MAX: Duration = Duration::from_secs(60);

/// Availability of a route for the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteHealth {
    Healthy,
    /// Asked for a pause (`Retry-After`): used only if no healthy route is available.
    Resting,
    /// Failed repeatedly: not used until then.
    Out {
        until: Timestamp,
    },
}

#[derive(Debug, Default)]
pub(super) struct CircuitBreaker {
    state: BreakerState,
    rests_until: Timestamp,
}

#[derive(Debug)]
enum BreakerState {
    Closed {
        failures: u32,
    },
    Open {
        until: Timestamp,
        trips: u32,
    },
    /// One request is testing the route. After the duration of a pause, another may test it too.
    Probing {
        since: Timestamp,
        trips: u32,
    },
}

impl Default for BreakerState {
    fn default() -> BreakerState {
        BreakerState::Closed { failures: 0 }
    }
}

impl CircuitBreaker {
    pub(super) fn health(&self, now: Timestamp) -> RouteHealth {
        let until = match self.state {
            BreakerState::Closed { .. } => now,
            BreakerState::Open { until, .. } => until,
            BreakerState::Probing { since, trips } => since.plus(open_duration(trips)),
        };
        if now < until {
            return RouteHealth::Out { until };
        }
        if now < self.rests_until { RouteHealth::Resting } else { RouteHealth::Healthy }
    }

    /// Records the start of a request. True if the request is a probe.
    pub(super) fn start_request(&mut self, now: Timestamp) -> bool {
        match self.state {
            BreakerState::Closed { .. } => false,
            BreakerState::Open { trips, .. } | BreakerState::Probing { trips, .. } => {
                self.state = BreakerState::Probing { since: now, trips };
                true
            }
        }
    }

    /// A success of a request that started before the circuit opened does not close it.
    pub(super) fn succeed(&mut self, is_probe: bool) {
        let counts = is_probe || matches!(self.state, BreakerState::Closed { .. });
        if counts {
            self.state = BreakerState::default();
        }
    }

    pub(super) fn fail(&mut self, now: Timestamp, is_probe: bool) {
        match self.state {
            BreakerState::Closed { failures } if failures + 1 < FAILURES_MAX => {
                self.state = BreakerState::Closed { failures: failures + 1 };
            }
            BreakerState::Closed { .. } => {
                self.state = BreakerState::Open { until: now.plus(open_duration(1)), trips: 1 };
            }
            BreakerState::Probing { trips, .. } if is_probe => {
                let trips = trips + 1;
                self.state = BreakerState::Open { until: now.plus(open_duration(trips)), trips };
            }
            BreakerState::Open { .. } | BreakerState::Probing { .. } => {}
        }
    }

    /// The caller disconnected before the probe had a result: the next request is a probe again.
    pub(super) fn abandon(&mut self, now: Timestamp, is_probe: bool) {
        if let BreakerState::Probing { trips, .. } = self.state
            && is_probe
        {
            self.state = BreakerState::Open { until: now, trips };
        }
    }

    pub(super) fn rest_for(&mut self, now: Timestamp, wait: Duration) {
        self.rests_until = self.rests_until.max(now.plus(wait.min(REQUESTED_PAUSE_MAX)));
    }
}

/// Doubles with each consecutive failed probe.
fn open_duration(trips: u32) -> Duration {
    let doublings = trips.saturating_sub(1).min(16);
    FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests;
