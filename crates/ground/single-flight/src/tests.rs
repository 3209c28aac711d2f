//! Tests of leading, following and abandoning.

use super::*;

type Numbers = Arc<SingleFlight<&'static str, u32>>;

#[track_caller]
fn lead(single_flight: &Numbers, key: &'static str) -> FlightLeader<&'static str, u32> {
    match single_flight.join(key) {
        FlightRole::Lead(leader) => leader,
        FlightRole::Follow(_) => panic!("somebody leads {key}"),
    }
}

#[track_caller]
fn follow(single_flight: &Numbers, key: &'static str) -> FlightFollower<u32> {
    match single_flight.join(key) {
        FlightRole::Follow(follower) => follower,
        FlightRole::Lead(_) => panic!("nobody leads {key}"),
    }
}

#[tokio::test]
async fn one_leads_and_all_others_get_its_outcome() {
    let single_flight = Numbers::default();
    let leader = lead(&single_flight, "a");
    let (early, late) = (follow(&single_flight, "a"), follow(&single_flight, "a"));
    drop(lead(&single_flight, "b"));
    leader.finish(&7);
    assert_eq!((early.wait_for_outcome().await, late.wait_for_outcome().await), (Some(7), Some(7)));
    drop(lead(&single_flight, "a"));
    assert!(single_flight.lock().is_empty());
}

#[tokio::test]
async fn when_the_leader_gives_up_the_next_one_leads() {
    let single_flight = Numbers::default();
    let leader = lead(&single_flight, "a");
    let follower = follow(&single_flight, "a");
    drop(leader);
    assert_eq!(follower.wait_for_outcome().await, None);
    lead(&single_flight, "a").finish(&1);
}

#[tokio::test]
async fn who_comes_after_the_end_leads_even_while_the_outcome_is_told() {
    let single_flight = Numbers::default();
    let first = lead(&single_flight, "a");
    let follower = follow(&single_flight, "a");
    first.finish(&1);
    let second = lead(&single_flight, "a");
    let later = follow(&single_flight, "a");
    assert_eq!(follower.wait_for_outcome().await, Some(1));
    second.finish(&2);
    assert_eq!(later.wait_for_outcome().await, Some(2));
}

#[tokio::test]
async fn a_leader_can_wait_for_work_that_it_leaves_to_a_task() {
    let single_flight = Numbers::default();
    let leader = lead(&single_flight, "a");
    let (own, other) = (leader.add_follower(), follow(&single_flight, "a"));
    assert!(single_flight.is_under_way(&"a"));
    assert_eq!(single_flight.count(), 1);
    leader.finish(&3);
    assert_eq!((own.wait_for_outcome().await, other.wait_for_outcome().await), (Some(3), Some(3)));
    assert!(!single_flight.is_under_way(&"a"));
}
