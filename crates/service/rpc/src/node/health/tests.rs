//! Tests of the order in which nodes are tried.

use super::*;

const QUICK: Duration = Duration::from_millis(10);
const SLOW: Duration = Duration::from_millis(150);

fn at(seconds: u64) -> Timestamp {
    Timestamp::default().plus(Duration::from_secs(1_000_000 + seconds))
}

#[track_caller]
fn check(nodes: &[NodeHealth], now: Timestamp, expected: &[usize]) {
    assert_eq!(order_nodes(nodes, now), expected);
}

#[test]
fn a_failed_node_is_tried_last_until_it_has_rested() {
    let mut nodes = [NodeHealth::default(); 3];
    check(&nodes, at(0), &[0, 1, 2]);
    nodes[0].record_failure(at(0));
    check(&nodes, at(0), &[1, 2, 0]);
    check(&nodes, at(1), &[0, 1, 2]);
}

#[test]
fn each_failure_in_a_row_doubles_the_rest_up_to_a_minute() {
    let mut nodes = [NodeHealth::default(); 2];
    for rest_s in [1, 2, 4, 8, 16, 32, 60, 60] {
        nodes[0].record_failure(at(0));
        check(&nodes, at(rest_s - 1), &[1, 0]);
        check(&nodes, at(rest_s), &[0, 1]);
    }
    nodes[0].record_success(QUICK, at(0));
    nodes[0].record_failure(at(0));
    check(&nodes, at(1), &[0, 1]);
}

#[test]
fn one_request_tries_a_rested_node_while_the_others_keep_away() {
    let mut nodes = [NodeHealth::default(); 2];
    nodes[0].record_failure(at(0));
    nodes[0].record_start(|| at(1));
    check(&nodes, at(2), &[1, 0]);
    nodes[0].record_success(QUICK, at(2));
    check(&nodes, at(2), &[0, 1]);
}

#[test]
fn when_all_are_bad_the_first_to_wake_is_tried_first() {
    let mut nodes = [NodeHealth::default(); 2];
    nodes[0].record_failure(at(0));
    nodes[0].record_failure(at(0));
    nodes[1].record_failure(at(0));
    check(&nodes, at(0), &[1, 0]);
}

#[test]
fn a_node_that_failed_without_end_does_not_overflow() {
    let mut node = NodeHealth { failures_in_a_row: u32::MAX, ..NodeHealth::default() };
    node.record_failure(Timestamp::from_ms(i64::MAX));
    assert_eq!(node.failures_in_a_row, u32::MAX);
}

#[test]
fn a_slow_node_is_tried_after_a_quick_one_until_that_is_old_news() {
    let mut nodes = [NodeHealth::default(); 3];
    nodes[0].record_success(SLOW, at(0));
    check(&nodes, at(0), &[0, 1, 2]);
    nodes[1].record_success(QUICK, at(0));
    check(&nodes, at(0), &[1, 2, 0]);
    check(&nodes, at(60), &[0, 1, 2]);
}

#[test]
fn a_small_difference_does_not_change_the_order() {
    let mut nodes = [NodeHealth::default(); 2];
    nodes[0].record_success(QUICK * 10, at(0));
    nodes[1].record_success(QUICK, at(0));
    check(&nodes, at(0), &[0, 1]);
}

#[test]
fn one_slow_answer_does_not_make_a_node_slow() {
    let mut nodes = [NodeHealth::default(); 2];
    nodes[1].record_success(QUICK, at(0));
    nodes[0].record_success(QUICK, at(0));
    nodes[0].record_success(SLOW, at(0));
    check(&nodes, at(0), &[0, 1]);
    for _ in 0..9 {
        nodes[0].record_success(SLOW, at(0));
    }
    check(&nodes, at(0), &[1, 0]);
}

#[test]
fn a_node_of_another_chain_is_not_tried_until_it_serves_the_right_one() {
    let mut nodes = [NodeHealth::default(); 2];
    nodes[0].set_chain(ChainState::Another);
    check(&nodes, at(0), &[1]);
    nodes[0].record_success(QUICK, at(0));
    check(&nodes, at(0), &[1]);
    nodes[0].set_chain(ChainState::Right);
    check(&nodes, at(0), &[0, 1]);
}
