//! Tests a route's health over a sequence of events.

use super::*;

const START: Timestamp = Timestamp::from_ms(1_000_000);

/// A breaker with a manual clock.
struct BreakerScenario {
    breaker: CircuitBreaker,
    now: Timestamp,
}

impl BreakerScenario {
    fn begin() -> BreakerScenario {
        BreakerScenario { breaker: CircuitBreaker::default(), now: START }
    }

    fn fail_times(mut self, times: u32) -> BreakerScenario {
        for _ in 0..times {
            let is_probe = self.breaker.start_request(self.now);
            self.breaker.fail(self.now, is_probe);
        }
        self
    }

    fn succeed(mut self) -> BreakerScenario {
        let is_probe = self.breaker.start_request(self.now);
        self.breaker.succeed(is_probe);
        self
    }

    fn after_s(mut self, seconds: u64) -> BreakerScenario {
        self.now = self.now.plus(Duration::from_secs(seconds));
        self
    }

    #[track_caller]
    fn stands(self, expected: RouteHealth) -> BreakerScenario {
        assert_eq!(self.breaker.health(self.now), expected);
        self
    }

    #[track_caller]
    fn stays_out_s(self, seconds: u64) -> BreakerScenario {
        let until = self.now.plus(Duration::from_secs(seconds));
        self.stands(RouteHealth::Out { until })
    }
}

#[test]
fn a_few_failures_are_forgiven() {
    BreakerScenario::begin()
        .fail_times(4)
        .stands(RouteHealth::Healthy)
        .succeed()
        .fail_times(4)
        .stands(RouteHealth::Healthy);
}

#[test]
fn repeated_failures_put_a_route_out_for_a_while() {
    BreakerScenario::begin().fail_times(5).stays_out_s(5).after_s(4).stays_out_s(1);
}

#[test]
fn after_the_pause_one_request_may_try() {
    let mut story = BreakerScenario::begin().fail_times(5).after_s(5).stands(RouteHealth::Healthy);
    assert!(story.breaker.start_request(story.now), "the first is a probe");
    story.stays_out_s(5);
}

#[test]
fn a_probe_that_works_brings_the_route_back() {
    let story =
        BreakerScenario::begin().fail_times(5).after_s(5).succeed().stands(RouteHealth::Healthy);
    story.fail_times(4).stands(RouteHealth::Healthy).fail_times(1).stays_out_s(5);
}

#[test]
fn a_probe_that_fails_doubles_the_pause_up_to_a_bound() {
    let mut story = BreakerScenario::begin().fail_times(5);
    for pause_s in [5, 10, 20, 40, 80, 120, 120] {
        story = story.stays_out_s(pause_s).after_s(pause_s).fail_times(1);
    }
}

#[test]
fn a_probe_whose_caller_went_away_leaves_the_next_to_try() {
    let mut story = BreakerScenario::begin().fail_times(5).after_s(5);
    let is_probe = story.breaker.start_request(story.now);
    story.breaker.abandon(story.now, is_probe);
    story.stands(RouteHealth::Healthy);
}

#[test]
fn a_probe_that_never_ends_does_not_block_the_route_for_ever() {
    let mut story = BreakerScenario::begin().fail_times(5).after_s(5);
    story.breaker.start_request(story.now);
    story.stays_out_s(5).after_s(5).stands(RouteHealth::Healthy);
}

#[test]
fn requests_from_before_the_pause_tell_nothing() {
    let mut story = BreakerScenario::begin();
    let is_probe = story.breaker.start_request(story.now);
    let mut story = story.fail_times(5);
    story.breaker.succeed(is_probe);
    let mut story = story.stays_out_s(5);
    story.breaker.fail(story.now, is_probe);
    story.stays_out_s(5);
}

#[test]
fn a_rest_is_kept_but_bounded() {
    let mut story = BreakerScenario::begin();
    story.breaker.rest_for(story.now, Duration::from_secs(7));
    story.breaker.rest_for(story.now, Duration::from_secs(2));
    let mut story =
        story.after_s(6).stands(RouteHealth::Resting).after_s(1).stands(RouteHealth::Healthy);
    story.breaker.rest_for(story.now, Duration::from_secs(3600));
    story.after_s(59).stands(RouteHealth::Resting).after_s(1).stands(RouteHealth::Healthy);
}
