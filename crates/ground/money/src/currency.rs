//! The currencies a balance can be in.

use std::fmt;

/// The unit of an amount. One unit of each buys one US dollar's worth of work, unless a model has
/// its own price in DIEM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BalanceCurrency {
    /// Prepaid dollars; they never expire.
    Usd,
    /// The daily allowance of a stake.
    Diem,
    /// The monthly allowance of a plan.
    Bundled,
    /// Single grants, with or without an expiry.
    Vcu,
}

impl BalanceCurrency {
    pub const ALL: [BalanceCurrency; 4] = [
        BalanceCurrency::Usd,
        BalanceCurrency::Diem,
        BalanceCurrency::Bundled,
        BalanceCurrency::Vcu,
    ];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            BalanceCurrency::Usd => "USD",
            BalanceCurrency::Diem => "DIEM",
            BalanceCurrency::Bundled => "BUNDLED_CREDITS",
            BalanceCurrency::Vcu => "VCU",
        }
    }

    pub fn from_name(name: &str) -> Option<BalanceCurrency> {
        BalanceCurrency::ALL.into_iter().find(|currency| currency.name() == name)
    }
}

impl fmt::Display for BalanceCurrency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
