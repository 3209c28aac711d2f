//! Tests of the rolling day at its edges, and against a plain list of charges.

use proptest::prelude::*;

use super::*;

const HOUR_MS: i64 = 60 * 60 * 1000;
const CAP: u64 = 1_000;

fn at(hours: f64) -> Timestamp {
    Timestamp::from_ms((hours * HOUR_MS as f64) as i64)
}

#[track_caller]
fn spend(window: &mut CreditWindow, credits: u32, now: Timestamp) {
    let reservation = window.reserve(credits, CAP, now).expect("there is room");
    window.settle(reservation, credits, now);
}

#[track_caller]
fn check_refused(window: &mut CreditWindow, credits: u32, now: Timestamp, resets_at: Timestamp) {
    let refused = window.reserve(credits, CAP, now).expect_err("there is no room");
    assert_eq!(refused.resets_at, resets_at);
    assert!(window.clone().reserve(credits, CAP, resets_at).is_ok(), "room at the promised time");
}

#[test]
fn the_cap_can_be_spent_to_the_last_credit() {
    let mut window = CreditWindow::new(at(100.0));
    spend(&mut window, 600, at(100.0));
    spend(&mut window, 400, at(101.0));
    check_refused(&mut window, 1, at(101.1), at(124.0));
    assert_eq!(window.used_credits(), 1_000);
}

#[test]
fn a_charge_leaves_the_window_a_day_after_its_quarter_hour_began() {
    let mut window = CreditWindow::new(at(100.1));
    spend(&mut window, 700, at(100.1));
    spend(&mut window, 300, at(110.0));
    check_refused(&mut window, 100, at(123.9), at(124.0));
    check_refused(&mut window, 800, at(123.9), at(134.0));
    spend(&mut window, 700, at(124.0));
}

#[test]
fn calls_under_way_count_until_they_are_settled() {
    let mut window = CreditWindow::new(at(1.0));
    let first = window.reserve(900, CAP, at(1.0)).expect("there is room");
    assert!(window.reserve(200, CAP, at(1.0)).is_err());
    window.settle(first, 5, at(1.0));
    spend(&mut window, 200, at(1.0));
    assert_eq!(window.used_credits(), 205);
}

#[test]
fn more_than_the_whole_cap_is_never_allowed() {
    let mut window = CreditWindow::new(at(1.0));
    let refused = window.reserve(1_001, CAP, at(1.0)).expect_err("over the cap");
    assert_eq!(refused.remaining, 1_000);
}

#[test]
fn a_clock_set_back_forgets_nothing_even_when_it_goes_on_again() {
    let mut window = CreditWindow::new(at(100.0));
    spend(&mut window, 900, at(100.0));
    assert!(window.reserve(200, CAP, at(50.0)).is_err());
    assert!(window.reserve(200, CAP, at(100.0)).is_err());
}

#[test]
fn a_row_from_the_future_counts_from_now() {
    let mut rebuilt = CreditWindow::rebuild([(at(100.0), 900)], at(50.0));
    assert!(!rebuilt.is_idle(at(73.9)));
    assert!(rebuilt.is_idle(at(74.0)));
}

#[test]
fn a_window_with_nothing_in_it_may_be_dropped() {
    let mut window = CreditWindow::new(at(1.0));
    spend(&mut window, 10, at(1.0));
    assert!(!window.is_idle(at(24.9)));
    assert!(window.is_idle(at(25.0)));
}

#[test]
fn times_far_from_now_do_not_panic() {
    let (first, last) = (Timestamp::from_ms(i64::MIN), Timestamp::from_ms(i64::MAX));
    let mut window = CreditWindow::rebuild([(first, 1), (last, 1)], at(0.0));
    spend(&mut window, 1, last);
    spend(&mut window, 1, first);
    assert_eq!(CreditWindow::rebuild([(last, 2)], first).used_credits(), 2);
    assert_eq!(CreditWindow::rebuild([(first, 2)], last).used_credits(), 0);
}

proptest! {
    /// Checks that the live window, one rebuilt from its journal, and the sum of the journal agree.
    #[test]
    fn live_and_rebuilt_windows_agree(
        steps in proptest::collection::vec((0..3 * HOUR_MS, 0_u32..100), 1..200),
    ) {
        let mut now = Timestamp::from_ms(1_000_000_000_000);
        let mut window = CreditWindow::new(now);
        let mut journal = Vec::new();
        for (pause_ms, credits) in steps {
            now = now.plus(Duration::from_millis(pause_ms.unsigned_abs()));
            let reservation = window.reserve(credits, u64::MAX, now).expect("no cap");
            window.settle(reservation, credits, now);
            journal.push((now, u64::from(credits)));
            let is_recent = |at: Timestamp| to_quarter(now) - to_quarter(at) < 96;
            let sum: u64 = journal.iter().filter(|it| is_recent(it.0)).map(|it| it.1).sum();
            prop_assert_eq!(window.used_credits(), sum);
            prop_assert_eq!(CreditWindow::rebuild(journal.iter().copied(), now).used_credits(), sum);
        }
    }
}
