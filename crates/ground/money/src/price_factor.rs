//! A factor on prices, such as a half for work that may wait.

use crate::cost::{CurrencyFunds, UnitRate, WorkCost};
use crate::decimal::{self, AmountError};
use crate::nano::Nano;
use crate::price::Price;

const DECIMALS: u32 = 6;
const ONE: u32 = 1_000_000;

/// A factor above zero, at most one, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceFactor {
    millionths: u32,
}

impl Default for PriceFactor {
    fn default() -> PriceFactor {
        PriceFactor::ONE
    }
}

impl PriceFactor {
    pub const ONE: PriceFactor = PriceFactor { millionths: ONE };

    /// Parses a plain decimal. None if it is zero or above one.
    pub fn parse(text: &str) -> Result<Option<PriceFactor>, AmountError> {
        let millionths = u32::try_from(decimal::parse_decimal(text, DECIMALS)?).unwrap_or(u32::MAX);
        let is_factor = 0 < millionths && millionths <= ONE;
        Ok(is_factor.then_some(PriceFactor { millionths }))
    }

    /// The price times the factor, rounded half to even to a pico.
    pub fn scale_price(self, price: Price) -> Price {
        let (product, one) =
            (i128::from(price.picos()) * i128::from(self.millionths), i128::from(ONE));
        let (whole, rest) = (product / one, product % one * 2);
        let rounds_up = one < rest || (rest == one && whole % 2 == 1);
        let picos = i64::try_from(whole + i128::from(rounds_up)).unwrap_or(i64::MAX);
        Price::from_picos(picos).unwrap_or(price)
    }

    pub fn scale_rate(self, rate: UnitRate) -> UnitRate {
        UnitRate { usd: self.scale_price(rate.usd), diem: self.scale_price(rate.diem) }
    }

    /// The cost times the factor, rounded up to a nano.
    pub fn scale_cost(self, cost: WorkCost) -> WorkCost {
        let scale = |amount: Nano| {
            let product = i128::from(amount.nanos()) * i128::from(self.millionths);
            let one = i128::from(ONE);
            to_nano(product / one + i128::from(product % one != 0))
        };
        WorkCost { usd: scale(cost.usd), diem: scale(cost.diem) }
    }

    /// The unscaled cost that these funds can pay for, rounded down to a nano.
    pub fn unscale_funds(self, funds: CurrencyFunds) -> CurrencyFunds {
        let unscale = |amount: Nano| {
            let product = i128::from(amount.nanos()) * i128::from(ONE);
            to_nano(product / i128::from(self.millionths.max(1)))
        };
        CurrencyFunds { usd: unscale(funds.usd), diem: unscale(funds.diem) }
    }
}

impl std::fmt::Display for PriceFactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        decimal::write_shortest(f, i128::from(self.millionths), DECIMALS)
    }
}

fn to_nano(nanos: i128) -> Nano {
    i64::try_from(nanos).map_or(Nano::MAX, Nano::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(text: &str) -> PriceFactor {
        PriceFactor::parse(text).unwrap().unwrap()
    }

    #[test]
    fn a_factor_is_above_zero_and_at_most_one() {
        for text in ["0.5", "1", "0.000001", "1.0"] {
            assert!(matches!(PriceFactor::parse(text), Ok(Some(_))), "{text}");
        }
        for text in ["0", "1.000001", "2", "9999999"] {
            assert_eq!(PriceFactor::parse(text), Ok(None), "{text}");
        }
        for text in ["-1", "x", "0.0000001", ""] {
            assert!(PriceFactor::parse(text).is_err(), "{text}");
        }
        assert_eq!(factor("0.50").to_string(), "0.5");
    }

    #[test]
    fn prices_are_rounded_to_the_even_pico_and_costs_up() {
        let price = |picos| Price::from_picos(picos).unwrap();
        let half = factor("0.5");
        for (before, after) in [(150_000, 75_000), (1, 0), (3, 2), (5, 2), (0, 0)] {
            assert_eq!(half.scale_price(price(before)), price(after), "{before}");
        }
        assert_eq!(factor("0.333333").scale_price(price(3_000_000)), price(999_999));
        assert_eq!(PriceFactor::ONE.scale_price(price(7)), price(7));
        let largest = price(i64::MAX);
        assert_eq!(PriceFactor::ONE.scale_price(largest), largest);
        let cost =
            |usd, diem| WorkCost { usd: Nano::from_nanos(usd), diem: Nano::from_nanos(diem) };
        assert_eq!(half.scale_cost(cost(3, 4)), cost(2, 2));
    }

    #[test]
    fn funds_for_a_scaled_cost_pay_for_the_unscaled_one() {
        for text in ["0.5", "0.3", "0.000007", "1"] {
            let factor = factor(text);
            for nanos in [0, 1, 2, 999, 1_000_003] {
                let cost = WorkCost::at_par(Nano::from_nanos(nanos));
                let held = factor.scale_cost(cost);
                let funds = CurrencyFunds { usd: held.usd, diem: held.diem };
                let back = factor.unscale_funds(funds);
                assert!(cost.usd <= back.usd && cost.diem <= back.diem, "{text} {nanos}");
            }
        }
    }
}
