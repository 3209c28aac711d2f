//! Checks JSON against the very schema the service publishes, and reports every fault.
//!
//! Serde stops at the first problem, and the specification wants one entry per offending field.
//! So a body is walked against its schema first, all faults are collected, and only a body
//! without faults is handed to serde. ADR 0002 says why the walker is ours.

mod branch;
mod coerce;
mod compile;
mod fault;
mod faults;
mod format;
mod node;
mod number;
mod rules;
mod shape;
mod source;
mod tidy;
mod union;
mod walk;

pub use compile::NULL_TEXT;
pub use fault::{Fault, Measured, TextRule};
pub use faults::{FAULTS_MAX, Faults, FaultsAt, PathStep};
pub use shape::{ParseError, SchemaError, Shape, parse};

#[cfg(test)]
mod tests;
