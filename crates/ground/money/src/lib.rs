//! Exact amounts and prices: integers with a unit, and division that says its rounding.
//!
//! - [`Nano`] is an amount: whole nano-units (10⁻⁹) of some [`BalanceCurrency`].
//! - [`Price`] is the price of a single unit of work, in whole pico-units (10⁻¹²).
//! - [`Bill`] multiplies units by prices, adds them up exactly and rounds once.
//! - [`WorkCost`] is a bill's total in dollars and in DIEM, whose prices ([`UnitRate`]) may differ.
//! - [`spread`] distributes the lines of a bill over the lots that paid for it.
//!
//! The only float arithmetic is the division in `float`, for writing JSON numbers.

#![deny(clippy::float_arithmetic)]

mod bill;
mod cost;
mod currency;
mod decimal;
mod float;
mod nano;
mod price;
mod price_factor;
mod spread;

pub use bill::{Bill, BillLine, BillTooLarge};
pub use cost::{CurrencyFunds, UnitRate, WorkCost};
pub use currency::BalanceCurrency;
pub use decimal::{AmountError, FixedDecimal};
pub use nano::Nano;
pub use price::{Price, PriceUnits};
pub use price_factor::PriceFactor;
pub use spread::{BillShare, distribute_amounts};

#[cfg(test)]
mod tests;
