//! An amount of money in whole nano-units.

use std::fmt;

use crate::decimal::{self, AmountError, FixedDecimal};
use crate::float;

/// Digits after the point that a nano-unit can carry.
pub(crate) const DECIMALS: u32 = 9;

/// An amount in nano-units (10⁻⁹) of a currency that the context names. Never a fraction.
///
/// Amounts may be negative, because a difference is an amount too; input is read by
/// [`Nano::parse`], which refuses a sign.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nano {
    nanos: i64,
}

impl Nano {
    pub const ZERO: Nano = Nano { nanos: 0 };
    pub const MAX: Nano = Nano { nanos: i64::MAX };

    pub const fn from_nanos(nanos: i64) -> Nano {
        Nano { nanos }
    }

    /// Whole units, such as dollars.
    pub const fn from_units(units: i32) -> Nano {
        // The product of an i32 and 10⁹ always fits.
        Nano { nanos: units as i64 * 1_000_000_000 }
    }

    pub const fn nanos(self) -> i64 {
        self.nanos
    }

    /// Parses a plain decimal of zero or more, such as `10`, `10.00` or `0.000000001`.
    pub fn parse(text: &str) -> Result<Nano, AmountError> {
        decimal::parse_decimal(text, DECIMALS).map(Nano::from_nanos)
    }

    /// Parses a plain decimal above zero.
    pub fn parse_positive(text: &str) -> Result<Nano, AmountError> {
        let amount = Nano::parse(text)?;
        if amount == Nano::ZERO {
            return Err(AmountError::Zero);
        }
        Ok(amount)
    }

    pub const fn is_negative(self) -> bool {
        self.nanos < 0
    }

    pub const fn is_positive(self) -> bool {
        0 < self.nanos
    }

    pub fn checked_add(self, other: Nano) -> Option<Nano> {
        self.nanos.checked_add(other.nanos).map(Nano::from_nanos)
    }

    pub fn checked_sub(self, other: Nano) -> Option<Nano> {
        self.nanos.checked_sub(other.nanos).map(Nano::from_nanos)
    }

    pub fn checked_neg(self) -> Option<Nano> {
        self.nanos.checked_neg().map(Nano::from_nanos)
    }

    /// The sum, or the largest amount instead of an overflow: for comparing with a limit.
    pub const fn saturating_add(self, other: Nano) -> Nano {
        Nano { nanos: self.nanos.saturating_add(other.nanos) }
    }

    pub const fn saturating_sub(self, other: Nano) -> Nano {
        Nano { nanos: self.nanos.saturating_sub(other.nanos) }
    }

    /// The sum of all amounts; None if it overflows.
    pub fn sum(amounts: impl IntoIterator<Item = Nano>) -> Option<Nano> {
        let mut total = 0_i128;
        for amount in amounts {
            total = total.checked_add(i128::from(amount.nanos))?;
        }
        i64::try_from(total).ok().map(Nano::from_nanos)
    }

    /// The amount with exactly `decimals` digits after the point, rounded half to even. For display
    /// only: the ledger keeps every digit.
    pub const fn to_fixed(self, decimals: u32) -> FixedDecimal {
        FixedDecimal::new(self.nanos, DECIMALS, decimals)
    }

    /// The amount as a JSON number. Its shortest form shows every digit exactly while it is below
    /// 2²³ (8,388,608) units; above that, doubles are more than a nano apart.
    pub fn as_f64(self) -> f64 {
        float::scaled_down(self.nanos, DECIMALS)
    }
}

/// The shortest exact decimal, such as `10`, `0.7` or `-0.000000001`.
impl fmt::Display for Nano {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal::write_shortest(f, i128::from(self.nanos), DECIMALS)
    }
}
