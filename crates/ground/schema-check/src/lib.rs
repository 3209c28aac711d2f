//! Checks JSON against the published schema, and reports every fault.
//!
//! Serde stops at the first error, but the specification requires one entry per invalid field. So a
//! body is first checked against its schema, all faults are collected, and only a body without
//! faults is passed to serde. ADR 0002 says why this checker is our own.

mod adapt;
mod branch;
mod coerce;
mod compile;
mod fault;
mod faults;
mod format;
mod keyword;
mod node;
mod number;
mod rules;
mod schema;
mod union;
mod walk;

pub use compile::NULL_TEXT;
pub use fault::{BoundedQuantity, TextRule, ValidationFault};
pub use faults::{FAULTS_MAX, FaultsAt, PathStep, ValidationFaults};
pub use schema::{CompiledSchema, ParseError, SchemaError, check_and_parse};

#[cfg(test)]
mod tests;
