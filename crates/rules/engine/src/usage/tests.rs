//! Tests for accepted and rejected reports and for inconsistent details.

use proptest::prelude::*;

use super::*;

fn report(prompt: f64, completion: f64) -> UsageReport {
    UsageReport { prompt, completion, ..UsageReport::default() }
}

#[track_caller]
fn check(report: UsageReport, expected: Result<[u64; 5], &'static str>) {
    let found = EngineUsage::from_report(report)
        .map(|it| [it.prompt, it.completion, it.cached, it.cache_creation, it.reasoning]);
    assert_eq!(found, expected.map_err(|what| ImplausibleUsage { what }));
}

#[test]
fn an_explicit_zero_is_a_zero() {
    check(report(7.0, 0.0), Ok([7, 0, 0, 0, 0]));
}

#[test]
fn a_negative_number_is_not_believed() {
    check(report(-1.0, 5.0), Err("prompt"));
    check(UsageReport { cached: -9.0, ..report(1.0, 1.0) }, Err("cached"));
}

#[test]
fn an_absurd_or_fractional_number_is_not_believed() {
    check(report(1.0, 1e15), Err("completion"));
    check(report(1.5, 1.0), Err("prompt"));
    check(report(f64::NAN, 1.0), Err("prompt"));
    check(UsageReport { total: Some(f64::INFINITY), ..report(1.0, 1.0) }, Err("total"));
}

#[test]
fn a_detail_is_cut_down_to_its_whole() {
    let details =
        UsageReport { cached: 8.0, cache_creation: 9.0, reasoning: 50.0, ..report(10.0, 5.0) };
    check(details, Ok([10, 5, 8, 2, 5]));
}

#[test]
fn reasoning_that_only_the_total_counts_is_part_of_the_completion() {
    let grok = UsageReport { total: Some(60.0), reasoning: 45.0, ..report(10.0, 5.0) };
    check(grok, Ok([10, 50, 0, 0, 45]));
    let too_small_a_total = UsageReport { total: Some(3.0), ..report(10.0, 5.0) };
    check(too_small_a_total, Ok([10, 5, 0, 0, 0]));
}

#[test]
fn answers_beside_each_other_share_one_prompt() {
    let first = EngineUsage { cached: 4, reasoning: 1, ..EngineUsage::from_counts(10, 5) };
    let second = EngineUsage { reasoning: 2, ..EngineUsage::from_counts(9, 6) };
    assert_eq!(
        first.plus_choice(second),
        EngineUsage { cached: 4, reasoning: 3, ..EngineUsage::from_counts(10, 11) }
    );
    assert_eq!(first.plus_choice(second), second.plus_choice(first));
    assert_eq!(first.plus_request(second).prompt(), 19);
}

proptest! {
    #[test]
    fn whatever_is_believed_nests(numbers in prop::array::uniform6(-10.0..200_000_000.0f64)) {
        let [prompt, completion, total, cached, cache_creation, reasoning] =
            numbers.map(f64::trunc);
        let (total, cache_creation_1h) = (Some(total), cached);
        let report = UsageReport {
            prompt,
            completion,
            total,
            cached,
            cache_creation,
            cache_creation_1h,
            reasoning,
        };
        if let Ok(usage) = EngineUsage::from_report(report) {
            prop_assert!(usage.cache_creation_1h() <= usage.cache_creation());
            prop_assert!(usage.cached() + usage.cache_creation() <= usage.prompt());
            prop_assert!(usage.reasoning() <= usage.completion());
            prop_assert!(usage.total() <= 2 * TOKENS_MAX);
        }
    }
}
