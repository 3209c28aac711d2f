//! The fees per unit of gas: of a first transaction, and of one that replaces a stuck one.

/// Multiple of the base fee that is offered. The base fee rises by at most an eighth per block, so
/// this covers 19 blocks.
const BASE_FEE_RISE_MAX: u128 = 10;

/// The fees that a transaction offers per unit of gas, in the chain's smallest unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GasFees {
    pub(super) tip: u128,
    /// The maximum price, tip included.
    pub(super) price_max: u128,
}

/// The current fees per unit of gas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GasMarket {
    pub(super) base_fee: u128,
    pub(super) tip: u128,
}

impl GasFees {
    /// The fees of a first transaction. The price paid is the block's base fee plus the tip; the
    /// margin above it keeps the transaction, and all with a later nonce, from being stuck while
    /// fees rise. None if gas already costs more than `most`.
    pub(super) fn initial(market: GasMarket, most: u128) -> Option<GasFees> {
        let is_affordable = market.base_fee.saturating_add(market.tip) <= most;
        is_affordable.then(|| GasFees {
            tip: market.tip,
            price_max: market.price_with_margin(market.tip).min(most),
        })
    }

    /// Fees high enough for nodes to accept a replacement of a transaction with these fees, and for
    /// the current market. None if that is more than `most`.
    pub(super) fn raise(self, market: GasMarket, most: u128) -> Option<GasFees> {
        let tip = raise_fee(self.tip).max(market.tip);
        let least = raise_fee(self.price_max).max(market.base_fee.saturating_add(tip));
        let is_affordable = least <= most;
        is_affordable
            .then(|| GasFees { tip, price_max: least.max(market.price_with_margin(tip)).min(most) })
    }
}

impl GasMarket {
    fn price_with_margin(self, tip: u128) -> u128 {
        self.base_fee.saturating_mul(BASE_FEE_RISE_MAX).saturating_add(tip)
    }
}

/// An eighth more. Nodes require a tenth more of both the tip and the price (default of geth, anvil
/// and reth), and never accept the same price again.
fn raise_fee(fee: u128) -> u128 {
    fee.saturating_add(fee.div_ceil(8).max(1))
}

#[cfg(test)]
mod tests;
