//! Amounts as JSON numbers: a whole amount is written without a fraction.

use serde::Serializer;

/// Beyond this, not every integer has a double of its own.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// `5` and not `5.0`, wherever amounts come from.
pub(crate) fn amount<S: Serializer>(amount: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if amount.fract() == 0.0 && amount.abs() <= EXACT_MAX {
        return serializer.serialize_i64(*amount as i64);
    }
    serializer.serialize_f64(*amount)
}
