//! The queue with a scripted engine, a real store, and processes that die.

mod chaos;
mod fixture;
mod order;
mod outcomes;
mod rules;
