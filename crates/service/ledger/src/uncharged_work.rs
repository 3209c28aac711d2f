//! Work that was done and could not be charged: a loss for the operator, counted and logged.

use std::fmt::Display;

use money::Nano;

use crate::charge::WorkCharge;

/// The amount that a caller would have paid for work that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnchargedWork {
    request_id: String,
    amount: Nano,
}

impl UnchargedWork {
    /// None for work that costs nothing.
    pub(crate) fn from_charge(charge: &WorkCharge) -> Option<UnchargedWork> {
        let amount = charge.total().map_or(Nano::MAX, |cost| cost.usd);
        let request_id = charge.details.request_id.clone();
        amount.is_positive().then_some(UnchargedWork { request_id, amount })
    }

    /// Counts the amount, and writes it to the log with the id of the request.
    pub(crate) fn record_loss(&self, cause: &dyn Display) {
        let UnchargedWork { request_id, amount } = self;
        metrics::gauge!(UNCHARGED_USD_TOTAL).increment(amount.as_f64());
        tracing::warn!(
            request_id,
            uncharged.usd = %amount,
            "work of {amount} USD was done for the request {request_id} and not charged: {cause}"
        );
    }
}

/// The metric of all that could not be charged since the start, in US dollars.
pub const UNCHARGED_USD_TOTAL: &str = "ledger_uncharged_usd_total";
