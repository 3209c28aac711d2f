//! Plain decimals: parses them exactly, and prints them exactly or to a number of digits.

use std::fmt;

/// The reason why a text is not an amount. The message says what to write instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountError {
    NotDecimal,
    Negative,
    Zero,
    TooManyDecimals { most: u32 },
    TooLarge,
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AmountError::NotDecimal => {
                f.write_str("write the amount as a plain decimal, such as 10 or 10.50")
            }
            AmountError::Negative => f.write_str("write an amount without a sign, zero or more"),
            AmountError::Zero => f.write_str("write an amount above zero"),
            AmountError::TooManyDecimals { most } => {
                write!(f, "write at most {most} digits after the point")
            }
            AmountError::TooLarge => f.write_str("the amount is too large"),
        }
    }
}

impl std::error::Error for AmountError {}

/// Reads `text` as a decimal of zero or more and returns it times ten to the power of `decimals`.
pub(crate) fn parse_decimal(text: &str, decimals: u32) -> Result<i64, AmountError> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) if is_digits(fraction) => (whole, fraction),
        Some(_) => return Err(AmountError::NotDecimal),
        None => (unsigned, ""),
    };
    if !is_digits(whole) {
        return Err(AmountError::NotDecimal);
    }
    if unsigned.len() < text.len() {
        return Err(AmountError::Negative);
    }
    let missing = usize::try_from(decimals).unwrap_or(usize::MAX).checked_sub(fraction.len());
    let Some(missing) = missing else {
        return Err(AmountError::TooManyDecimals { most: decimals });
    };
    let zeros = std::iter::repeat_n(b'0', missing);
    let mut value = 0_i64;
    for digit in whole.bytes().chain(fraction.bytes()).chain(zeros) {
        let shifted = value.checked_mul(10).ok_or(AmountError::TooLarge)?;
        value = shifted.checked_add(i64::from(digit - b'0')).ok_or(AmountError::TooLarge)?;
    }
    Ok(value)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A decimal that prints with a fixed number of digits after the point, rounded half to even.
#[derive(Debug, Clone, Copy)]
pub struct FixedDecimal {
    value: i64,
    decimals: u32,
    shown: u32,
}

impl FixedDecimal {
    pub(crate) const fn new(value: i64, decimals: u32, shown: u32) -> FixedDecimal {
        FixedDecimal { value, decimals, shown }
    }
}

impl fmt::Display for FixedDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = self.decimals.saturating_sub(self.shown);
        let rounded = divide_half_even(i128::from(self.value), 10_i128.pow(hidden));
        let kept = self.decimals.min(self.shown);
        f.write_str(write_digits(&mut [0; TEXT_BYTES_MAX], rounded, kept))?;
        if kept == 0 && 0 < self.shown {
            f.write_str(".")?;
        }
        (kept..self.shown).try_for_each(|_| f.write_str("0"))
    }
}

/// Prints `value` divided by ten to the power of `decimals`, without trailing zeros.
pub(crate) fn write_shortest(
    f: &mut fmt::Formatter<'_>,
    value: i128,
    decimals: u32,
) -> fmt::Result {
    let mut text = [0; TEXT_BYTES_MAX];
    let text = write_digits(&mut text, value, decimals);
    if decimals == 0 {
        return f.write_str(text);
    }
    f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
}

/// Bytes for the digits of any `i128`, a point and a sign.
const TEXT_BYTES_MAX: usize = 48;

/// Writes all `decimals` digits after the point, and no point if there are none. Every response has
/// amounts, and the standard library takes several times as long to format an `i128`.
fn write_digits(text: &mut [u8; TEXT_BYTES_MAX], value: i128, decimals: u32) -> &str {
    assert!(decimals < 39, "no amount is divided so finely");
    let mut rest = value.unsigned_abs();
    // Last digit first, the order in which division yields them.
    let mut places = text.iter_mut().rev();
    let mut put = |byte| {
        if let Some(place) = places.next() {
            *place = byte;
        }
    };
    for _ in 0..decimals {
        put(b'0' + take_digit(&mut rest));
    }
    if 0 < decimals {
        put(b'.');
    }
    put(b'0' + take_digit(&mut rest));
    while 0 < rest {
        put(b'0' + take_digit(&mut rest));
    }
    if value < 0 {
        put(b'-');
    }
    let start = places.len();
    str::from_utf8(&text[start..]).unwrap_or_default()
}

/// Removes and returns the last digit. Divides in 64 bits where possible: 128-bit division is a
/// function call.
fn take_digit(number: &mut u128) -> u8 {
    let (left, digit) = match u64::try_from(*number) {
        Ok(small) => (u128::from(small / 10), (small % 10) as u8),
        Err(_) => (*number / 10, (*number % 10) as u8),
    };
    *number = left;
    digit
}

/// `numerator / denominator`, rounded to the nearest whole number, half to even.
pub(crate) fn divide_half_even(numerator: i128, denominator: i128) -> i128 {
    assert!(0 < denominator, "a scale is above zero");
    let floor = numerator.div_euclid(denominator);
    let rest = numerator.rem_euclid(denominator);
    let above_half = denominator - rest < rest;
    let at_half = denominator - rest == rest;
    let is_odd = floor.rem_euclid(2) == 1;
    let rounds_up = above_half || (at_half && is_odd);
    floor + i128::from(rounds_up)
}
