//! Which tokens are billed, whatever an engine says of them.

use super::*;

/// A prompt of about 100 tokens, two choices of at most 50, in a context of 1,000.
const QUOTE: Quote = Quote::plain(100, 50, 2, 1_000);

#[track_caller]
fn check(report: Report, produced: u64, expected: Option<(u64, u64)>) {
    let used = Used { report, produced, answer_max: 100 };
    let billed = billed(&used, &QUOTE).map(|usage| (usage.prompt(), usage.completion()));
    assert_eq!(billed, expected);
}

#[test]
fn a_report_that_can_be_true_is_believed() {
    check(Report::Total(Usage::of(90, 70)), 64, Some((90, 70)));
    check(Report::Total(Usage::of(90, 0)), 64, Some((90, 0)));
    check(Report::Total(Usage::of(1_000, 2_000)), 64, Some((1_000, 2_000)));
}

#[test]
fn a_report_that_cannot_be_true_gives_way_to_our_own_count() {
    check(Report::None, 64, Some((100, 64)));
    check(Report::Total(Usage::of(0, 0)), 64, Some((100, 64)));
    check(Report::Total(Usage::of(1_001, 70)), 64, Some((100, 64)));
    check(Report::Total(Usage::of(90, 2_001)), 64, Some((100, 64)));
}

#[test]
fn a_report_from_the_way_is_brought_up_to_what_has_come() {
    check(Report::OnTheWay(Usage::of(90, 1)), 64, Some((90, 64)));
    check(Report::OnTheWay(Usage::of(90, 80)), 64, Some((90, 80)));
}

#[test]
fn what_was_not_asked_for_is_not_billed_by_our_count() {
    check(Report::None, 500, Some((100, 100)));
}

#[test]
fn nothing_produced_is_nothing_billed() {
    check(Report::None, 0, None);
    check(Report::Total(Usage::of(90, 0)), 0, None);
    check(Report::Total(Usage::of(90, 5)), 0, Some((90, 5)));
}
