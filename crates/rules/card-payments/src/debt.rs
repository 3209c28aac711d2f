//! The debt of an owner: credit that was spent before its payment was taken back.

use money::Nano;

/// An owner's paid credit. Neither amount is negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PaidFunds {
    /// Paid credit that is left and not held. Grants are no part of it: a payment that is taken back
    /// does not take them.
    pub left: Nano,
    /// The debt. Only payments repay it.
    pub shortfall: Nano,
}

/// Money that comes in, by card or wallet: the debt is repaid first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncomingSplit {
    pub repays: Nano,
    pub credits: Nano,
}

/// Splits money that comes in. `amount` is not negative.
pub fn split_incoming(amount: Nano, shortfall: Nano) -> IncomingSplit {
    let repays = amount.min(shortfall).max(Nano::ZERO);
    IncomingSplit { repays, credits: amount.saturating_sub(repays) }
}

/// The part of a debt that paid credit can repay now. A debt can stand beside credit if the credit was
/// held when the payment was taken back, and released later.
pub fn collect_debt(funds: PaidFunds) -> Nano {
    funds.left.min(funds.shortfall).max(Nano::ZERO)
}
