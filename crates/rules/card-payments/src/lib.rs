//! Payments by card through Stripe: pure functions of bytes, rows and the time.
//!
//! - Stripe's API: [`StripeCall`] builds the requests, [`CheckoutSession`], [`PaymentIntent`] and others
//!   read the answers. [`verify_webhook`] checks a delivery, whose [`StripeEvent`] only says what to
//!   look at: nothing else in it is believed.
//! - Books: [`judge_payment`] says what an order is worth, given everything that Stripe says now
//!   ([`PaymentFacts`]); [`decide_movement`] brings the books there, and [`decide_freezes`] the account.
//!   They compare a whole state with a whole state, so the order, repetition and loss of deliveries
//!   do not matter. Read the row before Stripe is asked, and write with its revision.
//! - Refunds of ours: [`decide_refund`]. Automatic recharges: [`decide_recharge`] and
//!   [`settle_attempt`]. Vouchers: [`VoucherSecret`] and [`decide_redemption`].
//!
//! There is no clock, randomness, float or I/O in here.

#![deny(clippy::float_arithmetic)]

mod amount;
mod books;
mod calls;
mod entry;
mod facts;
mod form;
mod freeze;
mod lenient;
mod objects;
mod order;
mod recharge;
mod recharge_outcome;
mod refund_request;
mod return_url;
mod standing;
mod stripe_id;
mod voucher;
mod webhook;

#[cfg(test)]
mod tests;

pub use amount::UsdCents;
pub use books::{CardMovement, MovementKind, PaymentBooks, decide_movement};
pub use calls::{
    CheckoutOptions, CheckoutOrder, EVENTS_KEPT_S, OffSessionCharge, PAGE_ITEMS_MAX,
    STRIPE_VERSION, StripeCall, StripeMethod,
};
pub use facts::{FACTS_ITEMS_MAX, FactsFault, PaymentFacts};
pub use freeze::{FreezeRow, FreezeState, FreezeStep, decide_freezes};
pub use lenient::StripeFault;
pub use objects::PaymentIntent;
pub use objects::{
    CheckoutSession, DisputeStatus, EarlyFraudWarning, EventTarget, IntentStatus, RefundStatus,
    STRIPE_ANSWER_BYTES_MAX, SessionPayment, StripeCharge, StripeDispute, StripeError, StripeEvent,
    StripeList, StripeRefund,
};
pub use order::{CardOrder, CardOrderId, StripeMode};
pub use recharge::{
    ATTEMPT_RESEND_S_MAX, AttemptStep, RECHARGE_FAILURES_MAX, RechargeAttempt, RechargeConsent,
    RechargeDecision, RechargeFacts, RechargeNotice, RechargePause, RechargeRest, RechargeSettings,
    RechargeState, decide_attempt_step, decide_recharge, settle_attempt,
};
pub use recharge_outcome::{AttemptOutcome, find_attempt_outcome, judge_attempt_answer};
pub use refund_request::{OpenRefund, RefundRefusal, RefundRequestId, decide_refund, find_refund};
pub use return_url::{ReturnUrl, ReturnUrlFault};
pub use standing::{
    OrderMismatch, PaidStanding, PaymentDispute, PaymentStanding, find_session_mismatch,
    judge_payment,
};
pub use stripe_id::StripeId;
pub use voucher::{
    RedemptionDecision, RedemptionRefusal, VOUCHER_ENTROPY_BYTES, VoucherRedemption, VoucherRow,
    VoucherSecret, decide_redemption, mint_voucher_code, normalize_voucher_code,
};
pub use webhook::{
    WEBHOOK_BYTES_MAX, WEBHOOK_SKEW_S, WebhookRefusal, WebhookSecret, verify_webhook,
};
