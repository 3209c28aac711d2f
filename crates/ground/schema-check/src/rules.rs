//! Rules for a single value: its type, its allowed values, its range.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Number, Value};

use crate::fault::{BoundedQuantity, ValidationFault};
use crate::node::{JsonTypeSet, NumberBounds, SchemaNode, describe_received, options_in_words};
use crate::number;

pub(crate) fn wrong_type(node: &SchemaNode, value: &Value) -> Option<ValidationFault> {
    let kinds = node.kinds?;
    if kinds.contains(JsonTypeSet::of(value)) {
        return None;
    }
    let expected = match &node.allowed {
        Some(allowed) => options_in_words(allowed),
        None => kinds.describe(),
    };
    Some(ValidationFault::WrongType { expected, received: describe_received(value, kinds) })
}

pub(crate) fn wrong_value(node: &SchemaNode, value: &Value) -> Option<ValidationFault> {
    wrong_option(node.allowed.as_ref()?, node.accepts, value)
}

pub(crate) fn wrong_option(
    options: &[Value],
    accepts: JsonTypeSet,
    value: &Value,
) -> Option<ValidationFault> {
    if options.iter().any(|it| number::is_same(it, value)) {
        return None;
    }
    if accepts.contains(JsonTypeSet::of(value)) {
        return Some(ValidationFault::not_one_of(options, value));
    }
    let expected = options_in_words(options);
    Some(ValidationFault::WrongType { expected, received: describe_received(value, accepts) })
}

pub(crate) fn out_of_range(range: &NumberBounds, number: &Number) -> Option<ValidationFault> {
    let measured = BoundedQuantity::Number;
    let representable = range.representable.as_ref();
    let least = representable.map(|(least, _)| least);
    let greatest = representable.map(|(_, greatest)| greatest);
    let is_below = |bound: &&Number| number::compare_numbers(number, bound) == Ordering::Less;
    let is_above = |bound: &&Number| number::compare_numbers(number, bound) == Ordering::Greater;
    if let Some(bound) = range.minimum.iter().chain(least).find(is_below) {
        return Some(ValidationFault::TooSmall {
            minimum: bound.clone(),
            inclusive: true,
            measured,
        });
    }
    if let Some(bound) = range.exclusive_minimum.as_ref().filter(|it| !is_above(it)) {
        return Some(ValidationFault::TooSmall {
            minimum: bound.clone(),
            inclusive: false,
            measured,
        });
    }
    if let Some(bound) = range.maximum.iter().chain(greatest).find(is_above) {
        return Some(ValidationFault::TooBig { maximum: bound.clone(), inclusive: true, measured });
    }
    if let Some(bound) = range.exclusive_maximum.as_ref().filter(|it| !is_below(it)) {
        return Some(ValidationFault::TooBig {
            maximum: bound.clone(),
            inclusive: false,
            measured,
        });
    }
    None
}

pub(crate) fn are_unique(items: &[Value]) -> bool {
    let mut seen = HashSet::new();
    items.iter().all(|item| {
        let mut sorted = item.clone();
        sorted.sort_all_objects();
        seen.insert(sorted.to_string())
    })
}
