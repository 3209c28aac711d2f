//! Tests the selection of routes and the balance between them.

use moment::Timestamp;
use proptest::prelude::*;

use super::*;

const FIT: RouteCandidate = RouteCandidate {
    weight: 1,
    outstanding: 0,
    distance: 0.0,
    health: RouteHealth::Healthy,
    has_room: true,
    tries: 0,
    is_spent: false,
};

const OUT: RouteCandidate =
    RouteCandidate { health: RouteHealth::Out { until: Timestamp::MAX }, ..FIT };
const RESTING: RouteCandidate = RouteCandidate { health: RouteHealth::Resting, ..FIT };
const BUSY: RouteCandidate = RouteCandidate { outstanding: 100, ..FIT };

#[track_caller]
fn check(candidates: &[RouteCandidate], expected: Option<usize>) {
    for dice in 0..4 {
        assert_eq!(select_route(candidates, dice), expected);
    }
}

#[test]
fn the_least_busy_for_its_weight_is_asked() {
    check(
        &[RouteCandidate { outstanding: 3, ..FIT }, RouteCandidate { outstanding: 2, ..FIT }],
        Some(1),
    );
    let strong = RouteCandidate { weight: 4, outstanding: 6, ..FIT };
    check(&[strong, RouteCandidate { outstanding: 1, ..FIT }], Some(0));
    let fuller = RouteCandidate { outstanding: 8, ..strong };
    check(&[fuller, RouteCandidate { outstanding: 1, ..FIT }], Some(1));
}

#[test]
fn a_route_that_is_out_or_spent_is_never_asked() {
    check(&[OUT, BUSY], Some(1));
    check(&[OUT, RouteCandidate { is_spent: true, ..FIT }], None);
    check(&[], None);
}

#[test]
fn a_busy_route_comes_before_a_resting_one_and_a_resting_one_before_none() {
    check(&[RESTING, BUSY], Some(1));
    check(&[RESTING, OUT], Some(0));
}

#[test]
fn a_route_with_room_comes_before_one_with_a_queue() {
    check(&[RouteCandidate { has_room: false, ..FIT }, BUSY], Some(1));
}

#[test]
fn a_standby_is_asked_only_if_nobody_else_will_do() {
    let standby = RouteCandidate { weight: 0, ..FIT };
    check(&[standby, BUSY], Some(1));
    check(&[standby, RouteCandidate { has_room: false, ..FIT }], Some(0));
    check(&[standby, RESTING], Some(0));
    check(&[standby, OUT], Some(0));
}

#[test]
fn a_route_not_tried_yet_comes_first() {
    check(&[RouteCandidate { tries: 1, ..FIT }, RESTING], Some(1));
}

#[test]
fn among_equals_the_dice_decide() {
    let chosen: Vec<_> = (0..6).map(|dice| select_route(&[FIT, OUT, FIT, FIT], dice)).collect();
    assert_eq!(chosen, [Some(0), Some(2), Some(3), Some(0), Some(2), Some(3)]);
}

#[test]
fn the_nearest_route_is_asked_however_busy_it_is() {
    let near = RouteCandidate { distance: 0.1, ..BUSY };
    let far = RouteCandidate { distance: 0.2, ..FIT };
    check(&[near, far], Some(0));
    check(&[far, near], Some(1));
}

#[test]
fn a_near_route_that_is_full_resting_failed_or_a_standby_gives_way() {
    let far = RouteCandidate { distance: 0.2, ..BUSY };
    let unfit = [
        RouteCandidate { has_room: false, ..FIT },
        RESTING,
        RouteCandidate { tries: 1, ..FIT },
        RouteCandidate { weight: 0, ..FIT },
        OUT,
    ];
    for near in unfit {
        check(&[RouteCandidate { distance: 0.1, ..near }, far], Some(1));
    }
    let full = |distance| RouteCandidate { has_room: false, distance, ..FIT };
    check(&[full(0.2), full(0.1)], Some(1));
}

#[test]
fn of_two_failures_the_one_that_helps_the_caller_is_told() {
    let wait = EngineError::Overloaded { retry_after: None };
    let key = EngineError::Misconfigured { cause: "bad key".to_owned() };
    assert_eq!(more_useful_error(key.clone(), wait.clone()), wait);
    assert_eq!(more_useful_error(wait.clone(), key), wait);
}

proptest! {
    #[test]
    fn long_requests_are_shared_out_by_weight(weights in prop::collection::vec(1u32..10, 2..5)) {
        let mut candidates: Vec<RouteCandidate> =
            weights.iter().map(|weight| RouteCandidate { weight: *weight, ..FIT }).collect();
        let total: u32 = weights.iter().sum();
        for dice in 0..u64::from(total) * 10 {
            let chosen = select_route(&candidates, dice).unwrap();
            candidates[chosen].outstanding += 1;
        }
        for (candidate, weight) in candidates.iter().zip(&weights) {
            let share = candidate.outstanding.abs_diff(weight * 10);
            prop_assert!(share <= 1, "{candidates:?}");
        }
    }
}
