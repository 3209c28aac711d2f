//! The one place where an exact integer becomes a float, for JSON numbers.

/// `value` divided by ten to the power of `decimals`, rounded to the nearest double.
///
/// Both operands are exact as doubles while `value` is below 2⁵³ and `decimals` below 23, so the
/// division rounds only once.
#[expect(
    clippy::float_arithmetic,
    reason = "JSON has no other numbers, and the result is written, never calculated with"
)]
pub(crate) fn scaled_down(value: i64, decimals: u32) -> f64 {
    let scale = 10_i64.pow(decimals);
    value as f64 / scale as f64
}
