//! Tests of the rules: lines, faults, bounds and retries.

mod lines;
mod room;
mod waiting;
