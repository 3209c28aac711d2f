//! Amounts as Stripe has them: whole cents of US dollars.

use std::fmt;

use money::Nano;

const NANOS_PER_CENT: i64 = 10_000_000;

/// Whole cents of US dollars, zero or more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UsdCents {
    cents: u32,
}

impl UsdCents {
    pub const ZERO: UsdCents = UsdCents { cents: 0 };

    pub const fn from_cents(cents: u32) -> UsdCents {
        UsdCents { cents }
    }

    /// None unless the amount is zero or more, in whole cents, and below 42 million dollars.
    pub fn from_nano(amount: Nano) -> Option<UsdCents> {
        let is_whole = amount.nanos() % NANOS_PER_CENT == 0;
        let cents = u32::try_from(amount.nanos() / NANOS_PER_CENT).ok()?;
        (is_whole && !amount.is_negative()).then_some(UsdCents { cents })
    }

    pub const fn cents(self) -> u32 {
        self.cents
    }

    /// The exact amount of the ledger.
    pub fn to_nano(self) -> Nano {
        // The product of a u32 and 10⁷ always fits.
        Nano::from_nanos(i64::from(self.cents) * NANOS_PER_CENT)
    }

    pub const fn saturating_add(self, other: UsdCents) -> UsdCents {
        UsdCents { cents: self.cents.saturating_add(other.cents) }
    }

    pub const fn saturating_sub(self, other: UsdCents) -> UsdCents {
        UsdCents { cents: self.cents.saturating_sub(other.cents) }
    }
}

/// Dollars, such as `10.00`.
impl fmt::Display for UsdCents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.cents / 100, self.cents % 100)
    }
}
