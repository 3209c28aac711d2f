//! Automatic recharges: bounded by consent, the month's cap, one attempt at a time and failures.

use std::time::Duration;

use moment::Timestamp;
use money::Nano;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::world::{StripePayment, cents, id, now, order_id, usd};
use crate::*;

const RETRY: Duration = Duration::from_secs(3600);

fn settings() -> RechargeSettings {
    RechargeSettings {
        below: usd(500),
        amount: cents(2500),
        monthly_max: cents(10_000),
        consent: RechargeConsent { at: now(), terms_version: "1".to_owned() },
        customer: id("cus_1"),
        payment_method: id("pm_1"),
    }
}

fn facts(available: i64) -> RechargeFacts {
    RechargeFacts { available: usd(available), is_frozen: false }
}

fn decide(state: &RechargeState, available: i64, at: Timestamp) -> RechargeDecision {
    decide_recharge(&settings(), state, facts(available), order_id(7), at)
}

#[track_caller]
fn started(state: &RechargeState, at: Timestamp) -> RechargeState {
    match decide(state, 0, at) {
        RechargeDecision::Start(state) => state,
        other @ RechargeDecision::Rest(_) => panic!("{other:?}"),
    }
}

fn rests(state: &RechargeState, at: Timestamp) -> Option<RechargeRest> {
    match decide(state, 0, at) {
        RechargeDecision::Start(_) => None,
        RechargeDecision::Rest(rest) => Some(rest),
    }
}

fn settle(
    state: &RechargeState,
    outcome: AttemptOutcome,
) -> (RechargeState, Option<RechargeNotice>) {
    settle_attempt(state, &outcome, RETRY, now())
}

fn declined() -> AttemptOutcome {
    AttemptOutcome::Declined { code: "card_declined".to_owned() }
}

#[test]
fn a_recharge_starts_below_the_threshold_and_one_is_open_at_a_time() {
    let idle = RechargeState::default();
    assert_eq!(decide(&idle, 500, now()), RechargeDecision::Rest(RechargeRest::Enough));
    let open = started(&idle, now());
    assert_eq!(
        open.open,
        Some(RechargeAttempt { order: order_id(7), amount: cents(2500), at: now() })
    );
    assert_eq!(rests(&open, now()), Some(RechargeRest::AttemptOpen));
    for outcome in [
        AttemptOutcome::Unknown,
        AttemptOutcome::Processing(id("pi_1")),
        AttemptOutcome::Paid(id("pi_1")),
    ] {
        let (state, notice) = settle(&open, outcome.clone());
        assert_eq!((state, notice), (open.clone(), None), "{outcome:?} leaves it open");
    }
    let other = open.note_credit(order_id(8));
    assert_eq!(other, open, "another order's credit");
    let done = open.note_credit(order_id(7));
    assert_eq!((done.open, done.month_sum), (None, cents(2500)));
}

#[test]
fn a_frozen_account_is_not_charged() {
    let frozen = RechargeFacts { is_frozen: true, ..facts(0) };
    let decision =
        decide_recharge(&settings(), &RechargeState::default(), frozen, order_id(7), now());
    assert_eq!(decision, RechargeDecision::Rest(RechargeRest::Frozen));
}

#[test]
fn three_failures_switch_recharges_off_and_the_wait_is_kept() {
    let mut state = RechargeState::default();
    let mut at = now();
    for number in 1..=RECHARGE_FAILURES_MAX {
        state = started(&state, at);
        let (next, notice) = settle_attempt(&state, &declined(), RETRY, at);
        state = next;
        assert_eq!((state.failures, state.month_sum), (number, cents(0)));
        let is_last = number == RECHARGE_FAILURES_MAX;
        assert_eq!(notice.is_some(), is_last);
        if !is_last {
            let early = at.plus(RETRY).minus(Duration::from_millis(1));
            assert_eq!(rests(&state, early), Some(RechargeRest::CoolingDown));
        }
        at = at.plus(RETRY);
    }
    let off = Some(RechargeRest::Paused(RechargePause::Failures));
    assert_eq!(rests(&state, at), off);
    assert_eq!(rests(&state, at.plus(Duration::from_secs(86_400 * 90))), off, "for good");
    let resumed = state.resume();
    assert_eq!(started(&resumed, at).failures, 0);
}

#[test]
fn a_success_between_failures_counts_them_anew() {
    let (failed, _) = settle(&started(&RechargeState::default(), now()), declined());
    let later = now().plus(RETRY);
    let paid = started(&failed, later).note_credit(order_id(7));
    assert_eq!((paid.failures, paid.retry_at), (0, None));
}

#[test]
fn confirmation_pauses_until_a_checkout_is_paid() {
    let open = started(&RechargeState::default(), now());
    let needs = AttemptOutcome::NeedsCustomer { intent: Some(id("pi_1")) };
    let (state, notice) = settle(&open, needs);
    assert_eq!(notice, Some(RechargeNotice::Confirm));
    let later = now().plus(RETRY);
    let paused = Some(RechargeRest::Paused(RechargePause::Confirmation));
    assert_eq!(rests(&state, later), paused);
    assert_eq!((state.month_sum, state.failures), (cents(0), 0));
    assert_eq!(rests(&state.resume(), later), None);
}

#[test]
fn the_months_maximum_counts_open_and_paid_attempts_in_their_month() {
    let mut state = RechargeState::default();
    for _ in 0..4 {
        state = started(&state, now()).note_credit(order_id(7));
    }
    assert_eq!(state.month_sum, cents(10_000));
    assert_eq!(rests(&state, now()), Some(RechargeRest::MonthlyMaximum));
    let next = Timestamp::start_of_month(now().unix_month() + 1);
    assert_eq!(
        rests(&state, next.minus(Duration::from_millis(1))),
        Some(RechargeRest::MonthlyMaximum)
    );
    assert_eq!(started(&state, next).month_sum, cents(2500));
    // An attempt of the last month that fails in this one takes nothing from this one's sum.
    let open = RechargeState {
        month: state.month + 1,
        month_sum: cents(5000),
        ..started(&RechargeState::default(), now())
    };
    let (failed, _) = settle(&open, declined());
    assert_eq!(failed.month_sum, cents(5000));
}

#[test]
fn answers_of_stripe_are_judged() {
    let with = |status: &str, failure: Option<&str>| {
        let mut intent = StripePayment::paid(2500).intent;
        intent["status"] = json!(status);
        intent["last_payment_error"] = json!({"code": failure});
        judge_attempt_answer(200, intent.to_string().as_bytes())
    };
    let intent = || id("pi_1");
    assert_eq!(with("succeeded", None), AttemptOutcome::Paid(intent()));
    assert_eq!(with("processing", None), AttemptOutcome::Processing(intent()));
    let needs = AttemptOutcome::NeedsCustomer { intent: Some(intent()) };
    assert_eq!(with("requires_action", None), needs);
    assert_eq!(with("requires_payment_method", Some("authentication_required")), needs);
    assert_eq!(with("requires_payment_method", Some("card_declined")), declined());
    assert_eq!(with("a_new_state", None), AttemptOutcome::Unknown);

    let error = |status, error: serde_json::Value| {
        judge_attempt_answer(status, json!({"error": error}).to_string().as_bytes())
    };
    let card = |code: &str, decline: &str| {
        error(
            402,
            json!({
                "type": "card_error", "code": code, "decline_code": decline,
                "payment_intent": {"id": "pi_1"},
            }),
        )
    };
    assert_eq!(card("authentication_required", "authentication_required"), needs);
    assert_eq!(card("card_declined", "authentication_required"), needs);
    let refused = AttemptOutcome::Declined { code: "insufficient_funds".to_owned() };
    assert_eq!(card("card_declined", "insufficient_funds"), refused);
    let gone = error(400, json!({"type": "invalid_request_error", "code": "resource_missing"}));
    assert_eq!(gone, AttemptOutcome::Declined { code: "resource_missing".to_owned() });
}

#[test]
fn an_answer_that_does_not_say_that_nothing_was_paid_is_unknown() {
    let body = |kind: &str| json!({"error": {"type": kind, "code": "x"}}).to_string();
    for (status, kind) in [
        (400, "idempotency_error"),
        (401, "invalid_request_error"),
        (403, "invalid_request_error"),
        (409, "idempotency_error"),
        (429, "invalid_request_error"),
        (500, "api_error"),
        (500, "invalid_request_error"),
        (503, "card_error"),
        (502, ""),
        (302, ""),
    ] {
        let outcome = judge_attempt_answer(status, body(kind).as_bytes());
        assert_eq!(outcome, AttemptOutcome::Unknown, "{status} {kind}");
    }
    for status in [200, 402, 400] {
        assert_eq!(judge_attempt_answer(status, b"<html>"), AttemptOutcome::Unknown, "{status}");
    }
}

#[test]
fn an_attempt_without_an_answer_is_sent_again_and_later_looked_for() {
    let attempt = RechargeAttempt { order: order_id(1), amount: cents(2500), at: now() };
    let after = |s| decide_attempt_step(&attempt, now().plus(Duration::from_secs(s)));
    assert_eq!(after(0), AttemptStep::Send);
    assert_eq!(after(ATTEMPT_RESEND_S_MAX), AttemptStep::Send);
    assert_eq!(after(ATTEMPT_RESEND_S_MAX + 1), AttemptStep::LookFor, "its key may be forgotten");
    let paid = StripePayment::paid(2500).facts().intent().clone();
    let found = find_attempt_outcome(order_id(1), std::slice::from_ref(&paid));
    assert_eq!(found, AttemptOutcome::Paid(id("pi_1")));
    let never = AttemptOutcome::Declined { code: "never_made".to_owned() };
    assert_eq!(find_attempt_outcome(order_id(2), &[paid]), never);
}

proptest! {
    #[test]
    fn no_month_is_charged_more_than_its_maximum(
        steps in vec((0_u64..200_000, 0_u8..6), 0..200),
    ) {
        let mut state = RechargeState::default();
        let mut at = now();
        let mut paid = std::collections::BTreeMap::<i64, u32>::new();
        let mut failures = 0;
        for (wait_s, outcome) in steps {
            at = at.plus(Duration::from_secs(wait_s));
            if let RechargeDecision::Start(next) = decide(&state, 0, at) {
                prop_assert!(state.open.is_none() && state.pause.is_none());
                state = next;
            }
            let Some(attempt) = state.open else { continue };
            let outcome = match outcome {
                0 => declined(),
                1 => AttemptOutcome::NeedsCustomer { intent: None },
                2 => AttemptOutcome::Unknown,
                3 => AttemptOutcome::Processing(id("pi_1")),
                _ => {
                    *paid.entry(attempt.at.unix_month()).or_default() += attempt.amount.cents();
                    state = state.note_credit(attempt.order);
                    failures = 0;
                    continue;
                }
            };
            if matches!(outcome, AttemptOutcome::Declined { .. }) {
                failures += 1;
            }
            state = settle_attempt(&state, &outcome, RETRY, at).0;
            prop_assert_eq!(state.pause == Some(RechargePause::Failures), failures == 3);
            if matches!(state.pause, Some(RechargePause::Confirmation)) {
                state = state.resume();
                failures = 0;
            }
        }
        prop_assert!(paid.values().all(|sum| *sum <= settings().monthly_max.cents()));
        prop_assert!(failures <= 3);
        prop_assert!(state.month_sum.to_nano() <= Nano::from_units(100));
    }
}
