//! Requests to Stripe's API. Each POST has an idempotency key that is derived from an id of ours, so
//! sending it again, after a crash too, has no second effect.

mod lookups;
mod payments;

pub use lookups::{EVENTS_KEPT_S, PAGE_ITEMS_MAX};
pub use payments::{CheckoutOptions, CheckoutOrder, OffSessionCharge};

/// The version of the API that answers are read in: the value of the header `Stripe-Version`.
pub const STRIPE_VERSION: &str = "2026-10-28.endive";

/// A request. Send it to the API's address with `Authorization: Bearer <secret key>`,
/// `Stripe-Version`, and the idempotency key as `Idempotency-Key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeCall {
    pub method: StripeMethod,
    /// With the query of a GET.
    pub path: String,
    /// The form of a POST (`application/x-www-form-urlencoded`).
    pub form: Option<String>,
    pub idempotency_key: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StripeMethod {
    Get,
    Post,
    Delete,
}
