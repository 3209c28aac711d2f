//! What a unit of gas may cost: at first, and when a transaction is stuck.

/// The base fee rises by an eighth a block at most, so this is what it can come to in 19 blocks.
const BASE_FEE_RISE_MAX: u128 = 10;

/// What a transaction offers for a unit of gas, in the chain's smallest unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fees {
    pub(super) tip: u128,
    /// The most, tip included.
    pub(super) price_max: u128,
}

/// What a unit of gas costs at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Market {
    pub(super) base_fee: u128,
    pub(super) tip: u128,
}

impl Fees {
    /// What is paid is the base fee of the block and the tip; the rest only keeps the transaction, and
    /// all that are numbered after it, from being stuck while fees rise. None if gas costs more than
    /// `most` already.
    pub(super) fn first(market: Market, most: u128) -> Option<Fees> {
        let is_affordable = market.base_fee.saturating_add(market.tip) <= most;
        is_affordable
            .then(|| Fees { tip: market.tip, price_max: market.roomy(market.tip).min(most) })
    }

    /// Enough more than these for nodes to take a transaction in the place of one that offers these,
    /// and what the market asks for. None if that is more than `most`.
    pub(super) fn raised(self, market: Market, most: u128) -> Option<Fees> {
        let tip = dearer(self.tip).max(market.tip);
        let least = dearer(self.price_max).max(market.base_fee.saturating_add(tip));
        let is_affordable = least <= most;
        is_affordable.then(|| Fees { tip, price_max: least.max(market.roomy(tip)).min(most) })
    }
}

impl Market {
    fn roomy(self, tip: u128) -> u128 {
        self.base_fee.saturating_mul(BASE_FEE_RISE_MAX).saturating_add(tip)
    }
}

/// An eighth more. Nodes ask for a tenth more of both the tip and the price (geth's and anvil's
/// default; reth's too) and never take the same once more.
fn dearer(fee: u128) -> u128 {
    fee.saturating_add(fee.div_ceil(8).max(1))
}

#[cfg(test)]
mod tests;
