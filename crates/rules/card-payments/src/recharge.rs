//! Automatic recharges: when a kept card is charged, and when no more.
//!
//! An attempt is a row with its idempotency key before Stripe is asked. There is at most one open
//! attempt of an owner; its row, the month's sum and the check against the cap are one transaction.

use std::time::Duration;

use moment::Timestamp;
use money::Nano;

use crate::amount::UsdCents;
use crate::order::CardOrderId;
use crate::recharge_outcome::AttemptOutcome;
use crate::stripe_id::StripeId;

/// Failures in a row after which recharges are switched off.
pub const RECHARGE_FAILURES_MAX: u8 = 3;
/// The age up to which an attempt without an answer is sent again, in seconds. Stripe keeps its key
/// for 24 hours; after that, a repetition would be a second payment.
pub const ATTEMPT_RESEND_S_MAX: u64 = 20 * 3600;

/// The settings that an owner has agreed to. Without the consent there are no settings: recharges are off unless
/// they are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RechargeSettings {
    /// Recharges if less is available.
    pub below: Nano,
    pub amount: UsdCents,
    /// The most that is charged in a UTC month.
    pub monthly_max: UsdCents,
    pub consent: RechargeConsent,
    pub customer: StripeId,
    pub payment_method: StripeId,
}

/// The record of a consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RechargeConsent {
    pub at: Timestamp,
    /// The text that was agreed to.
    pub terms_version: String,
}

/// The columns of an owner's recharges that change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RechargeState {
    pub open: Option<RechargeAttempt>,
    pub pause: Option<RechargePause>,
    /// In a row.
    pub failures: u8,
    /// No attempt before this time, after a failure.
    pub retry_at: Option<Timestamp>,
    /// The UTC month that `month_sum` is of, counted from January 1970.
    pub month: i64,
    /// The attempts of the month that were paid or are open.
    pub month_sum: UsdCents,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RechargeAttempt {
    /// Its own order, from which the idempotency key follows.
    pub order: CardOrderId,
    pub amount: UsdCents,
    pub at: Timestamp,
}

/// The reason why recharges wait for the customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RechargePause {
    /// The issuer wants the holder to confirm: until a Checkout is paid.
    Confirmation,
    /// Too many failures: until the card or the settings change.
    Failures,
}

/// The other facts of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RechargeFacts {
    /// The owner's available balance in US dollars.
    pub available: Nano,
    pub is_frozen: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RechargeDecision {
    /// Store the state with its open attempt, then send it.
    Start(RechargeState),
    Rest(RechargeRest),
}

/// The reason why there is no attempt now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RechargeRest {
    Enough,
    Frozen,
    Paused(RechargePause),
    AttemptOpen,
    CoolingDown,
    MonthlyMaximum,
}

/// A mail to the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RechargeNotice {
    /// With a link to a Checkout.
    Confirm,
    SwitchedOff,
}

/// The next step of an open attempt without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptStep {
    /// Send it with its key, which makes one payment however often it is sent.
    Send,
    /// Look for its PaymentIntent among the customer's: see
    /// [`find_attempt_outcome`](crate::find_attempt_outcome).
    LookFor,
}

/// Decides about a new attempt, whose order gets the id `order`.
pub fn decide_recharge(
    settings: &RechargeSettings,
    state: &RechargeState,
    facts: RechargeFacts,
    order: CardOrderId,
    now: Timestamp,
) -> RechargeDecision {
    let month = now.unix_month();
    let spent = if state.month == month { state.month_sum } else { UsdCents::ZERO };
    let after = spent.saturating_add(settings.amount);
    let rest = if state.open.is_some() {
        Some(RechargeRest::AttemptOpen)
    } else if settings.below <= facts.available {
        Some(RechargeRest::Enough)
    } else if facts.is_frozen {
        Some(RechargeRest::Frozen)
    } else if let Some(pause) = state.pause {
        Some(RechargeRest::Paused(pause))
    } else if state.retry_at.is_some_and(|retry_at| now < retry_at) {
        Some(RechargeRest::CoolingDown)
    } else if settings.monthly_max < after || settings.amount == UsdCents::ZERO {
        Some(RechargeRest::MonthlyMaximum)
    } else {
        None
    };
    match rest {
        Some(rest) => RechargeDecision::Rest(rest),
        None => RechargeDecision::Start(RechargeState {
            open: Some(RechargeAttempt { order, amount: settings.amount, at: now }),
            month,
            month_sum: after,
            ..state.clone()
        }),
    }
}

pub fn decide_attempt_step(attempt: &RechargeAttempt, now: Timestamp) -> AttemptStep {
    let is_young = now.since(attempt.at) <= Duration::from_secs(ATTEMPT_RESEND_S_MAX);
    if is_young { AttemptStep::Send } else { AttemptStep::LookFor }
}

/// The state after an attempt's outcome. `retry_after` is the operator's wait after a failure, which
/// a failed attempt always keeps. A paid attempt stays open until [`RechargeState::note_credit`]: the
/// balance is still low before its credit, and must not start another one.
pub fn settle_attempt(
    state: &RechargeState,
    outcome: &AttemptOutcome,
    retry_after: Duration,
    now: Timestamp,
) -> (RechargeState, Option<RechargeNotice>) {
    let Some(attempt) = state.open else { return (state.clone(), None) };
    // An unpaid attempt does not count towards the cap of its month.
    let is_of_month = state.month == attempt.at.unix_month();
    let returned = if is_of_month { attempt.amount } else { UsdCents::ZERO };
    let unpaid = RechargeState {
        open: None,
        month_sum: state.month_sum.saturating_sub(returned),
        retry_at: Some(now.plus(retry_after)),
        ..state.clone()
    };
    match outcome {
        AttemptOutcome::Unknown | AttemptOutcome::Processing(_) | AttemptOutcome::Paid(_) => {
            (state.clone(), None)
        }
        AttemptOutcome::NeedsCustomer { .. } => {
            let pause = Some(RechargePause::Confirmation);
            (RechargeState { pause, ..unpaid }, Some(RechargeNotice::Confirm))
        }
        AttemptOutcome::Declined { .. } => {
            let failures = state.failures.saturating_add(1);
            let is_last = RECHARGE_FAILURES_MAX <= failures;
            let pause = if is_last { Some(RechargePause::Failures) } else { unpaid.pause };
            let notice = is_last.then_some(RechargeNotice::SwitchedOff);
            (RechargeState { failures, pause, ..unpaid }, notice)
        }
    }
}

impl RechargeState {
    /// The state in the transaction that credits an order: if it is that of the open attempt, the
    /// attempt is done.
    pub fn note_credit(&self, order: CardOrderId) -> RechargeState {
        if self.open.is_some_and(|attempt| attempt.order == order) {
            RechargeState { open: None, failures: 0, retry_at: None, ..self.clone() }
        } else {
            self.clone()
        }
    }

    /// The state after the customer has paid by a Checkout, or has changed the card or the settings:
    /// pauses end, and an open attempt stays.
    pub fn resume(&self) -> RechargeState {
        RechargeState { pause: None, failures: 0, retry_at: None, ..self.clone() }
    }
}
