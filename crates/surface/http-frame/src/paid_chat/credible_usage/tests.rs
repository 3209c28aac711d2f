//! Tests of the billed tokens for various reports of an engine.

use MeteringFault::{BeyondBound, ZeroReported};

use super::*;

/// A prompt of about 100 tokens, two choices of at most 50, in a context of 1,000.
const QUOTE: ChatQuote = ChatQuote::from_numbers(100, 50, 2, 1_000);

#[track_caller]
fn check(report: EngineUsageReport, produced: u64, expected: Option<(u64, u64)>) {
    check_fault(report, produced, expected, None);
}

#[track_caller]
fn check_fault(
    report: EngineUsageReport,
    produced: u64,
    expected: Option<(u64, u64)>,
    fault: Option<MeteringFault>,
) {
    let used = MeasuredUsage { report, produced, answer_max: 100, is_bounded: true };
    let billed = bill_usage(&used, &QUOTE);
    let usage = billed.usage.map(|usage| (usage.prompt(), usage.completion()));
    assert_eq!((usage, billed.fault), (expected, fault));
}

#[test]
fn a_report_that_can_be_true_is_believed() {
    check(EngineUsageReport::Total(EngineUsage::from_counts(90, 70)), 64, Some((90, 70)));
    check(EngineUsageReport::Total(EngineUsage::from_counts(90, 100)), 64, Some((90, 100)));
    check(EngineUsageReport::Total(EngineUsage::from_counts(1_000, 70)), 64, Some((1_000, 70)));
}

#[test]
fn no_more_is_billed_than_was_asked_for_or_delivered() {
    let beyond = EngineUsageReport::Total(EngineUsage::from_counts(90, 1_500));
    check_fault(beyond, 64, Some((90, 100)), Some(BeyondBound));
    check_fault(beyond, 120, Some((90, 120)), Some(BeyondBound));
    check_fault(
        EngineUsageReport::OnTheWay(EngineUsage::from_counts(90, 150)),
        64,
        Some((90, 100)),
        Some(BeyondBound),
    );
    check(EngineUsageReport::Total(EngineUsage::from_counts(90, 118)), 120, Some((90, 118)));
    let unbounded =
        MeasuredUsage { report: beyond, produced: 64, answer_max: 100, is_bounded: false };
    let billed = bill_usage(&unbounded, &QUOTE);
    assert_eq!((billed.usage, billed.fault), (Some(EngineUsage::from_counts(90, 1_500)), None));
}

#[test]
fn zero_tokens_for_a_delivered_text_are_counted_here() {
    check_fault(
        EngineUsageReport::Total(EngineUsage::from_counts(90, 0)),
        64,
        Some((90, 64)),
        Some(ZeroReported),
    );
    check_fault(
        EngineUsageReport::Total(EngineUsage::from_counts(0, 0)),
        64,
        Some((100, 64)),
        Some(ZeroReported),
    );
    check_fault(
        EngineUsageReport::Total(EngineUsage::from_counts(0, 60)),
        64,
        Some((100, 64)),
        Some(ZeroReported),
    );
}

#[test]
fn a_report_that_cannot_be_true_gives_way_to_our_own_count() {
    check(EngineUsageReport::None, 64, Some((100, 64)));
    check_fault(
        EngineUsageReport::Total(EngineUsage::from_counts(1_001, 70)),
        64,
        Some((100, 64)),
        Some(BeyondBound),
    );
    check_fault(
        EngineUsageReport::Total(EngineUsage::from_counts(90, 2_001)),
        64,
        Some((100, 64)),
        Some(BeyondBound),
    );
}

#[test]
fn a_report_from_the_way_is_brought_up_to_what_has_come() {
    check(EngineUsageReport::OnTheWay(EngineUsage::from_counts(90, 1)), 64, Some((90, 64)));
    check(EngineUsageReport::OnTheWay(EngineUsage::from_counts(90, 80)), 64, Some((90, 80)));
}

#[test]
fn what_was_not_asked_for_is_not_billed_by_our_count() {
    check(EngineUsageReport::None, 500, Some((100, 100)));
}

#[test]
fn nothing_produced_is_nothing_billed() {
    check(EngineUsageReport::None, 0, None);
    check(EngineUsageReport::Total(EngineUsage::from_counts(90, 0)), 0, None);
    check(EngineUsageReport::Total(EngineUsage::from_counts(90, 5)), 0, Some((90, 5)));
}
