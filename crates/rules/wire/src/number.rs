//! Serializes amounts as JSON numbers: integers are written without a fraction.

use serde::Serializer;

/// 2^53: above it, an `f64` cannot represent every integer.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Serializes whole amounts as integers (`5`, not `5.0`).
pub(crate) fn serialize_amount<S: Serializer>(
    amount: &f64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if amount.fract() == 0.0 && amount.abs() <= EXACT_MAX {
        return serializer.serialize_i64(*amount as i64);
    }
    serializer.serialize_f64(*amount)
}
