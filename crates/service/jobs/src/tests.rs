//! Tests of the queue with a scripted engine, a real store, and simulated crashes.

mod chaos;
mod fixture;
mod order;
mod outcomes;
mod rules;
