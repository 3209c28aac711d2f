//! Tests of this crate, by topic.

mod coerce;
mod faults;
mod forms;
mod oracle;
mod parse;
mod schemas;
mod unions;
mod words;
