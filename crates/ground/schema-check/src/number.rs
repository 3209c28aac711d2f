//! Compares JSON numbers by value: `1`, `1.0` and `1e0` are equal.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Above this a float has no exact `i128`; no bound of ours is that large.
const EXACT_MAX: f64 = 1e38;
/// Tolerance for quotients that count as whole: decimal steps such as 0.1 have no exact binary
/// form.
const QUOTIENT_TOLERANCE: f64 = 1e-9;

pub(crate) fn is_whole(number: &Number) -> bool {
    to_exact(number).is_some() || number.as_f64().is_some_and(|it| it.fract() == 0.0)
}

pub(crate) fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    if let (Some(left), Some(right)) = (to_exact(left), to_exact(right)) {
        return left.cmp(&right);
    }
    to_approximate(left).total_cmp(&to_approximate(right))
}

pub(crate) fn is_multiple(number: &Number, step: &Number) -> bool {
    if let (Some(number), Some(step)) = (to_exact(number), to_exact(step)) {
        return step != 0 && number % step == 0;
    }
    let quotient = to_approximate(number) / to_approximate(step);
    let distance = (quotient - quotient.round()).abs();
    quotient.is_finite() && distance <= QUOTIENT_TOLERANCE * quotient.abs().max(1.0)
}

/// Converts `1.0` to `1`, so that serde accepts it as an integer; `None` for other numbers.
pub(crate) fn as_integer(number: &Number) -> Option<Number> {
    let exact = to_exact(number)?;
    let unsigned = u64::try_from(exact).map(Number::from);
    unsigned.or_else(|_| i64::try_from(exact).map(Number::from)).ok()
}

/// Equality in JSON Schema: numbers by value, objects in any order.
pub(crate) fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            compare_numbers(left, right) == Ordering::Equal
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| is_same(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            let is_in_right = |(name, value): (&String, &Value)| {
                right.get(name).is_some_and(|other| is_same(value, other))
            };
            left.len() == right.len() && left.iter().all(is_in_right)
        }
        _ => left == right,
    }
}

fn to_exact(number: &Number) -> Option<i128> {
    if let Some(unsigned) = number.as_u64() {
        return Some(i128::from(unsigned));
    }
    if let Some(signed) = number.as_i64() {
        return Some(i128::from(signed));
    }
    let float = number.as_f64()?;
    let is_exact = float.fract() == 0.0 && float.abs() < EXACT_MAX;
    is_exact.then_some(float as i128)
}

fn to_approximate(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}
