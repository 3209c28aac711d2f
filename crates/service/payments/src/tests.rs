//! The steps of a claim on a scripted chain, and the interpretation of the chains' answers.

mod claim_steps;
mod crash;
mod crashing_store;
mod facilitator_log;
mod nonsense;
mod recheck;
mod refusals;
mod script;
mod sightings;
mod stale;
mod stub;
mod stuck;
mod world;
