//! The course of a claim on a chain that does what a test says, and what chains are understood to say.

mod claim_steps;
mod crash;
mod crashing_store;
mod nonsense;
mod recheck;
mod refusals;
mod script;
mod sightings;
mod stale;
mod stub;
mod stuck;
mod world;
