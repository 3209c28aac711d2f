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
    leader.land(7);
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
    lead(&flights, "a").land(1);
}
