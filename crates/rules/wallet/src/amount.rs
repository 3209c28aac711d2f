//! Amounts of the dollar token in base units, as used on the chains.

use std::fmt;

use alloy_primitives::U256;
use money::Nano;

/// USDC has six decimals on every chain on which it is native.
pub const TOKEN_DECIMALS: u8 = 6;

/// One base unit of the token is a millionth of a dollar, a thousand nano-dollars.
const NANOS_PER_UNIT: i64 = 1_000;
const UNITS_MAX: u64 = (i64::MAX / NANOS_PER_UNIT).unsigned_abs();

/// An amount of the token, small enough that its worth in nano-dollars fits an `i64`. Displays in
/// base units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenAmount {
    units: u64,
}

impl TokenAmount {
    pub fn from_units(units: u64) -> Option<TokenAmount> {
        (units <= UNITS_MAX).then_some(TokenAmount { units })
    }

    /// The smallest amount worth at least `usd`: for a minimum. A negative amount counts as zero.
    pub fn at_least(usd: Nano) -> TokenAmount {
        let whole = TokenAmount::at_most(usd);
        let is_exact = usd <= whole.worth();
        if is_exact || whole.units == UNITS_MAX {
            return whole;
        }
        TokenAmount { units: whole.units + 1 }
    }

    /// The largest amount worth at most `usd`: for a maximum. A negative amount counts as zero.
    pub fn at_most(usd: Nano) -> TokenAmount {
        let units = usd.nanos().div_euclid(NANOS_PER_UNIT);
        TokenAmount { units: u64::try_from(units).unwrap_or(0) }
    }

    pub fn units(self) -> u64 {
        self.units
    }

    /// The worth in dollars: the token is redeemed one for one.
    pub fn worth(self) -> Nano {
        // Cannot overflow: the units are at most i64::MAX / NANOS_PER_UNIT.
        Nano::from_nanos(self.units.cast_signed() * NANOS_PER_UNIT)
    }

    /// None if the amount is above the largest that could be credited.
    pub(crate) fn from_word(word: U256) -> Option<TokenAmount> {
        u64::try_from(word).ok().and_then(TokenAmount::from_units)
    }
}

impl fmt::Display for TokenAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.units.fmt(f)
    }
}

/// Parses a 256-bit number in plain decimal: digits only, no sign, no leading zero, no overflow.
pub(crate) fn parse_word(text: &str) -> Option<U256> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let has_leading_zero = 1 < text.len() && text.starts_with('0');
    if !is_plain || has_leading_zero {
        return None;
    }
    U256::from_str_radix(text, 10).ok()
}
