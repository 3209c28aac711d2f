//! Tests of windows that several nodes count together.

use std::time::Duration;

use super::*;

const ALLOWED: MinuteLimits = MinuteLimits { requests: 200, tokens: None };

fn now() -> Timestamp {
    Timestamp::from_ms(1_800_000_000_000)
}

/// Sends one request to a node; `count` is the shared counter if it is available.
fn request(node: &WindowShares, count: Option<&mut u64>, nodes: u64, at: Timestamp) -> bool {
    match node.try_admit(LimitSubject::new("address", "class"), ALLOWED, at, nodes) {
        ShareDecision::Decided(decided) => decided.is_ok(),
        ShareDecision::Ask(ask) => {
            let total = count.map(|count| {
                *count += ask.many;
                *count
            });
            node.admit_with_total(&ask, total, ALLOWED, at, nodes).is_ok()
        }
    }
}

#[test]
fn all_nodes_together_let_in_the_limit_and_never_more() {
    for nodes in [1, 2, 3, 7] {
        let shares: Vec<WindowShares> = (0..nodes).map(|_| WindowShares::default()).collect();
        let (mut count, mut let_in) = (0, 0);
        for turn in 0..1000 {
            let node = &shares[(turn * 31) % shares.len()];
            let_in += u64::from(request(node, Some(&mut count), nodes as u64, now()));
        }
        assert!((190..=200).contains(&let_in), "{nodes} nodes let in {let_in}");
    }
}

#[test]
fn what_one_node_has_used_is_gone_at_the_others_but_for_a_twentieth() {
    let (one, two) = (WindowShares::default(), WindowShares::default());
    let mut count = 0;
    let first = (0..1000).filter(|_| request(&one, Some(&mut count), 2, now())).count();
    let second = (0..1000).filter(|_| request(&two, Some(&mut count), 2, now())).count();
    assert_eq!((first, second), (200, 0));
}

#[test]
fn without_a_common_count_each_node_lets_in_its_part() {
    let (one, two) = (WindowShares::default(), WindowShares::default());
    let let_in = |node: &WindowShares| (0..1000).filter(|_| request(node, None, 2, now())).count();
    assert_eq!((let_in(&one), let_in(&two)), (100, 100));
    // The counter is available again; the next share adds the requests admitted meanwhile.
    let mut count = 0;
    assert!(request(&one, Some(&mut count), 2, now()));
    assert_eq!(count, 100 + 5);
    while request(&one, Some(&mut count), 2, now()) {}
    assert!(!request(&two, Some(&mut count), 2, now()));
}

#[test]
fn an_answer_that_is_lost_now_and_then_costs_no_more_than_it_let_in() {
    let shares = [WindowShares::default(), WindowShares::default()];
    let (mut count, mut let_in, mut lost) = (0, 0, 0);
    for turn in 0..1000 {
        let is_lost = turn % 50 == 0;
        let answer = (!is_lost).then_some(&mut count);
        let is_in = request(&shares[turn % 2], answer, 2, now());
        let_in += u64::from(is_in);
        lost += u64::from(is_in && is_lost);
    }
    assert!((190..=200 + lost).contains(&let_in), "{let_in} were let in, {lost} of them uncounted");
}

#[test]
fn a_window_begins_anew_after_a_minute() {
    let node = WindowShares::default();
    let mut count = 0;
    while request(&node, Some(&mut count), 1, now()) {}
    let later = now().plus(Duration::from_secs(60));
    count = 0;
    assert!(request(&node, Some(&mut count), 1, later));
}

#[test]
fn callers_are_told_what_is_left_for_all_of_them() {
    let node = WindowShares::default();
    let subject = LimitSubject::new("address", "class");
    let ShareDecision::Ask(ask) = node.try_admit(subject, ALLOWED, now(), 2) else {
        panic!("no share yet")
    };
    assert_eq!(ask.many, 5);
    let standing = node.admit_with_total(&ask, Some(105), ALLOWED, now(), 2).unwrap();
    assert_eq!(standing.requests_left, 99);
}

#[test]
fn windows_that_have_ended_are_dropped() {
    let node = WindowShares::default();
    let fill = |at: Timestamp, salt: usize| {
        for number in 0..=WINDOWS_SWEPT {
            node.try_admit(LimitSubject::new(number, salt), ALLOWED, at, 1);
        }
    };
    fill(now(), 0);
    fill(now().plus(Duration::from_secs(180)), 1);
    assert!(node.lock().shares.len() <= 2 * WINDOWS_SWEPT);
}
