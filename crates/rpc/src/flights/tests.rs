//! Tests of leading, following and giving up.

use super::*;

type Numbers = Arc<Flights<&'static str, u32>>;

#[track_caller]
fn lead(flights: &Numbers, key: &'static str) -> Leader<&'static str, u32> {
    match flights.board(key) {
        Boarding::Lead(leader) => leader,
        Boarding::Follow(_) => panic!("somebody leads {key}"),
    }
}

#[track_caller]
fn follow(flights: &Numbers, key: &'static str) -> Follower<u32> {
    match flights.board(key) {
        Boarding::Follow(follower) => follower,
        Boarding::Lead(_) => panic!("nobody leads {key}"),
    }
}

#[tokio::test]
async fn one_leads_and_all_others_get_its_outcome() {
    let flights = Numbers::default();
    let leader = lead(&flights, "a");
    let (early, late) = (follow(&flights, "a"), follow(&flights, "a"));
    drop(lead(&flights, "b"));
    leader.land(&7);
    assert_eq!((early.landed().await, late.landed().await), (Some(7), Some(7)));
    drop(lead(&flights, "a"));
    assert!(flights.lock().is_empty());
}

#[tokio::test]
async fn when_the_leader_gives_up_the_next_one_leads() {
    let flights = Numbers::default();
    let leader = lead(&flights, "a");
    let follower = follow(&flights, "a");
    drop(leader);
    assert_eq!(follower.landed().await, None);
    lead(&flights, "a").land(&1);
}

#[tokio::test]
async fn who_comes_after_the_landing_leads_even_while_the_outcome_is_told() {
    let flights = Numbers::default();
    let first = lead(&flights, "a");
    let follower = follow(&flights, "a");
    first.land(&1);
    let second = lead(&flights, "a");
    let later = follow(&flights, "a");
    assert_eq!(follower.landed().await, Some(1));
    second.land(&2);
    assert_eq!(later.landed().await, Some(2));
}
