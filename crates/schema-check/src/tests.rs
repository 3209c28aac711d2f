//! The checks of this crate, by what they are about.

mod coerce;
mod faults;
mod forms;
mod oracle;
mod parse;
mod schemas;
mod unions;
mod words;
