//! The course of a claim on a chain that does what a test says, and what chains are understood to say.

mod course;
mod crash;
mod crashing_store;
mod nonsense;
mod recheck;
mod script;
mod sightings;
mod stub;
mod stuck;
mod world;
