//! The price of calls: credits by chain and tier, and money by credit.

use money::Nano;

use crate::batch::CallBatch;
use crate::methods::RpcMethod;
use crate::networks::RpcNetwork;

/// The credits of a call that ended in an error: it still took a node's time. Set by the
/// specification.
pub const ERROR_CREDITS: u32 = 5;

/// The outcome of one call, as far as its price depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// A node answered with a result.
    Result,
    /// A node answered with an error, refused the request (HTTP 4xx), answered without the id of
    /// the call, or with more bytes than we read.
    Error,
    /// No node accepted the request (402, 429, 5xx), or none was reachable in time.
    Unavailable,
}

/// The credits of a call that succeeds.
pub fn full_credits(network: RpcNetwork, method: &RpcMethod) -> u32 {
    network.base_credits() * method.tier.multiplier()
}

/// The maximum credits of a batch, which are held before it is sent.
pub fn most_credits(batch: &CallBatch) -> u32 {
    batch.calls().iter().map(|it| full_credits(batch.network(), it.method)).sum()
}

/// The credits of a batch, given the outcome of each call in order; never more than
/// [`most_credits`].
pub fn charged_credits(batch: &CallBatch, outcomes: &[CallOutcome]) -> u32 {
    let calls = batch.calls().iter().zip(outcomes);
    calls
        .map(|(call, outcome)| {
            credits_of_outcome(full_credits(batch.network(), call.method), *outcome)
        })
        .sum()
}

fn credits_of_outcome(full_credits: u32, outcome: CallOutcome) -> u32 {
    match outcome {
        CallOutcome::Result => full_credits,
        CallOutcome::Error => ERROR_CREDITS,
        CallOutcome::Unavailable => 0,
    }
}

/// The price of one credit, between zero and one US dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditPrice(Nano);

impl CreditPrice {
    const MAX: Nano = Nano::from_units(1);

    /// 6.25e-7 USD.
    pub const DEFAULT: CreditPrice = CreditPrice(Nano::from_nanos(625));

    pub fn new(nano_usd: Nano) -> Option<CreditPrice> {
        let is_in_range = Nano::ZERO <= nano_usd && nano_usd <= CreditPrice::MAX;
        is_in_range.then_some(CreditPrice(nano_usd))
    }

    /// The exact cost in USD. Cannot overflow: any `u32` times one dollar in nanos fits.
    pub fn cost(self, credits: u32) -> Nano {
        Nano::from_nanos(i64::from(credits) * self.0.nanos())
    }
}

#[cfg(test)]
mod tests;
