//! The circuit breaker of a route: opens after repeated failures, then lets one probe request
//! through.

use std::time::Duration;

use moment::Timestamp;

const FAILURES_MAX: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(120);
/// Upper limit of the rest that an engine requests.
const LONGEST_REST: Duration = Duration::from_secs(60);

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
pub(super) struct Breaker {
    state: State,
    rests_until: Timestamp,
}

#[derive(Debug)]
enum State {
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

impl Default for State {
    fn default() -> State {
        State::Closed { failures: 0 }
    }
}

impl Breaker {
    pub(super) fn health(&self, now: Timestamp) -> RouteHealth {
        let until = match self.state {
            State::Closed { .. } => now,
            State::Open { until, .. } => until,
            State::Probing { since, trips } => since.plus(pause(trips)),
        };
        if now < until {
            return RouteHealth::Out { until };
        }
        if now < self.rests_until { RouteHealth::Resting } else { RouteHealth::Healthy }
    }

    /// Records the start of a request. True if the request is a probe.
    pub(super) fn set_out(&mut self, now: Timestamp) -> bool {
        match self.state {
            State::Closed { .. } => false,
            State::Open { trips, .. } | State::Probing { trips, .. } => {
                self.state = State::Probing { since: now, trips };
                true
            }
        }
    }

    /// A success of a request that started before the circuit opened does not close it.
    pub(super) fn succeed(&mut self, is_probe: bool) {
        let counts = is_probe || matches!(self.state, State::Closed { .. });
        if counts {
            self.state = State::default();
        }
    }

    pub(super) fn fail(&mut self, now: Timestamp, is_probe: bool) {
        match self.state {
            State::Closed { failures } if failures + 1 < FAILURES_MAX => {
                self.state = State::Closed { failures: failures + 1 };
            }
            State::Closed { .. } => {
                self.state = State::Open { until: now.plus(pause(1)), trips: 1 };
            }
            State::Probing { trips, .. } if is_probe => {
                let trips = trips + 1;
                self.state = State::Open { until: now.plus(pause(trips)), trips };
            }
            State::Open { .. } | State::Probing { .. } => {}
        }
    }

    /// The caller disconnected before the probe had a result: the next request is a probe again.
    pub(super) fn abandon(&mut self, now: Timestamp, is_probe: bool) {
        if let State::Probing { trips, .. } = self.state
            && is_probe
        {
            self.state = State::Open { until: now, trips };
        }
    }

    pub(super) fn rest(&mut self, now: Timestamp, wait: Duration) {
        self.rests_until = self.rests_until.max(now.plus(wait.min(LONGEST_REST)));
    }
}

/// Doubles with each consecutive failed probe.
fn pause(trips: u32) -> Duration {
    let doublings = trips.saturating_sub(1).min(16);
    FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests;
