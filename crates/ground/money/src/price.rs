//! The price of a single unit of work.

use std::fmt;

use crate::decimal::{self, AmountError};
use crate::float;

/// Digits after the point that a pico-unit can carry.
const DECIMALS: u32 = 12;

/// The price of one token, character, second or call, in pico-units (10⁻¹²); zero or more.
///
/// A pico is fine enough for a price of `0.000001` per million units to be a whole number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price {
    picos: i64,
}

/// The number of units that a written price is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PriceUnits {
    One,
    Thousand,
    Million,
}

impl PriceUnits {
    /// The decimal exponent of the number of units.
    const fn decimal_exponent(self) -> u32 {
        match self {
            PriceUnits::One => 0,
            PriceUnits::Thousand => 3,
            PriceUnits::Million => 6,
        }
    }
}

impl Price {
    pub const FREE: Price = Price { picos: 0 };

    /// None if `picos` is below zero: a price is never negative.
    pub fn from_picos(picos: i64) -> Option<Price> {
        let is_price = 0 <= picos;
        is_price.then_some(Price { picos })
    }

    /// A price given in whole nano-units for one unit, such as 625 for a JSON-RPC credit.
    pub fn from_nanos(nanos: i64) -> Option<Price> {
        nanos.checked_mul(1000).and_then(Price::from_picos)
    }

    /// Twice the price, saturating at the largest price.
    pub fn doubled(self) -> Price {
        Price { picos: self.picos.saturating_mul(2) }
    }

    pub const fn picos(self) -> i64 {
        self.picos
    }

    /// Parses a plain decimal that is the price of `per` units, such as `0.70` per million.
    pub fn parse(text: &str, per: PriceUnits) -> Result<Price, AmountError> {
        let picos = decimal::parse_decimal(text, DECIMALS - per.decimal_exponent())?;
        Ok(Price { picos })
    }

    /// The exact price of `per` units, without trailing zeros.
    pub fn to_text(self, per: PriceUnits) -> String {
        struct PriceText(Price, PriceUnits);
        impl fmt::Display for PriceText {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let PriceText(price, per) = self;
                decimal::write_shortest(
                    f,
                    i128::from(price.picos),
                    DECIMALS - per.decimal_exponent(),
                )
            }
        }
        PriceText(self, per).to_string()
    }

    /// The price of `per` units as a JSON number, exact in its shortest form for every price of at
    /// most 15 digits.
    pub fn as_f64(self, per: PriceUnits) -> f64 {
        float::scaled_down(self.picos, DECIMALS - per.decimal_exponent())
    }
}
