//! Tests of leading, following and giving up.

use super::*;

type Numbers = Arc<SingleFlight<&'static str, u32>>;

#[track_caller]
fn lead(single_flight: &Numbers, key: &'static str) -> Leader<&'static str, u32> {
    match single_flight.board(key) {
        Boarding::Lead(leader) => leader,
        Boarding::Follow(_) => panic!("somebody leads {key}"),
    }
}

#[track_caller]
fn follow(single_flight: &Numbers, key: &'static str) -> Follower<u32> {
    match single_flight.board(key) {
        Boarding::Follow(follower) => follower,
        Boarding::Lead(_) => panic!("nobody leads {key}"),
    }
}

#[tokio::test]
async fn one_leads_and_all_others_get_its_outcome() {
    let single_flight = Numbers::default();
    let leader = lead(&single_flight, "a");
    let (early, late) = (follow(&single_flight, "a"), follow(&single_flight, "a"));
    drop(lead(&single_flight, "b"));
    leader.land(&7);
    assert_eq!((early.landed().await, late.landed().await), (Some(7), Some(7)));
    drop(lead(&single_flight, "a"));
    assert!(single_flight.lock().is_empty());
}

#[tokio::test]
async fn when_the_leader_gives_up_the_next_one_leads() {
    let single_flight = Numbers::default();
    let leader = lead(&single_flight, "a");
    let follower = follow(&single_flight, "a");
    drop(leader);
    assert_eq!(follower.landed().await, None);
    lead(&single_flight, "a").land(&1);
}

#[tokio::test]
async fn who_comes_after_the_landing_leads_even_while_the_outcome_is_told() {
    let single_flight = Numbers::default();
    let first = lead(&single_flight, "a");
    let follower = follow(&single_flight, "a");
    first.land(&1);
    let second = lead(&single_flight, "a");
    let later = follow(&single_flight, "a");
    assert_eq!(follower.landed().await, Some(1));
    second.land(&2);
    assert_eq!(later.landed().await, Some(2));
}
