//! A double of Stripe: checkout sessions, payments, refunds, disputes, warnings and webhooks, in memory.
//!
//! [`StripeDouble`] is the state: [`StripeDouble::answer`] is the API, and its other methods are what
//! payers, banks and the dashboard do. It knows nothing of our own code, and `sdk_check.py` holds it
//! against Stripe's own SDK. [`DoubleServer`] serves it over HTTP with webhooks, for the service as a
//! process; the program `stripe-double` does only that.
//!
//! Map of the modules:
//! - `double`: the state, ids and events. `actions`: payers, banks and the dashboard.
//! - `api`: authentication, idempotency keys and routes; one file for each kind of object.
//! - `request`: requests and answers. `parameters`: the known parameters of each POST.
//! - `webhook`: signatures, and deliveries that are repeated, shuffled and lost. `random`: their seed.
//! - `server`, `control`, `http`: the server, its control routes, and HTTP/1.1.

mod actions;
mod api;
mod control;
mod double;
mod http;
mod parameters;
mod random;
mod request;
mod server;
mod webhook;

#[cfg(test)]
mod tests;

pub use actions::{ActionFault, DisputeEnd, PaymentMethodKind};
pub use double::{DoubleKind, DoubleSettings, StripeDouble};
pub use random::DoubleRandom;
pub use request::{DoubleAnswer, DoubleRequest, FormFields};
pub use server::{DoubleServer, UnixClock};
pub use webhook::{DeliveryPlan, WebhookDelivery, sign_webhook};

/// The version of Stripe's API that is answered in.
pub const API_VERSION: &str = "2026-10-28.endive";
