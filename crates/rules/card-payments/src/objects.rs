//! Stripe's objects, as far as we use them.

mod charge;
mod checkout_session;
mod dispute;
mod event;
mod fraud_warning;
mod payment_intent;
mod refund;
mod stripe_error;
mod stripe_list;

pub use charge::StripeCharge;
pub use checkout_session::{CheckoutSession, SessionPayment};
pub use dispute::{DisputeStatus, StripeDispute};
pub use event::{EventTarget, StripeEvent};
pub use fraud_warning::EarlyFraudWarning;
pub use payment_intent::{IntentStatus, PaymentIntent};
pub use refund::{RefundStatus, StripeRefund};
pub use stripe_error::StripeError;
pub use stripe_list::StripeList;

/// The largest answer that is parsed: a page of 100 objects.
pub const STRIPE_ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
