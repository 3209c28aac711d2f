//! The currencies a balance can be in.

use std::fmt;

/// The unit of an amount. One unit of each buys one US dollar's worth of work, unless a model has
/// its own price in DIEM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Currency {
    /// Prepaid dollars; they never expire.
    Usd,
    /// The daily allowance of a stake.
    Diem,
    /// The monthly allowance of a plan.
    Bundled,
    /// Single grants, with or without an expiry.
    Vcu,
}

impl Currency {
    pub const ALL: [Currency; 4] =
        [Currency::Usd, Currency::Diem, Currency::Bundled, Currency::Vcu];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Currency::Usd => "USD",
            Currency::Diem => "DIEM",
            Currency::Bundled => "BUNDLED_CREDITS",
            Currency::Vcu => "VCU",
        }
    }

    pub fn from_name(name: &str) -> Option<Currency> {
        Currency::ALL.into_iter().find(|currency| currency.name() == name)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
