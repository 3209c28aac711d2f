//! A simulator: random commands, retries, midnights and crashes, checked after every step.
//!
//! A run is determined by its seed, so a failure is reproduced by its seed. The world applies
//! commands to a ledger and writes the groups to a disk that loses unsynced writes; the oracle
//! keeps its own books of the commands and acknowledgements, and compares.

mod disk;
mod oracle;
mod payments;
pub(crate) mod random;
mod script;
mod service;
mod tests;

use crate::mutant::LedgerMutant;

/// A bug to inject, in the ledger or around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InjectedBug {
    None,
    Ledger(LedgerMutant),
    /// A command is acknowledged before it is durable.
    AckBeforeSync,
    /// A crash can keep the first records of a group without the others.
    TornGroup,
}

/// A violated rule, with the seed and step that reproduce it.
#[derive(Debug)]
struct SimulationFailure {
    seed: u64,
    step: usize,
    words: String,
}

/// Counts of what a run did, to check that it covered enough.
#[derive(Debug, Default)]
struct SimulationStats {
    applied: usize,
    rejected: usize,
    duplicates: usize,
    crashes: usize,
    written_off: usize,
    refunds: usize,
    lapsed: usize,
    reloads: usize,
    key_limits: usize,
    debts: usize,
    collections: usize,
}

fn run_simulation(
    seed: u64,
    steps: usize,
    bug: InjectedBug,
) -> Result<SimulationStats, SimulationFailure> {
    let mut world = service::SimulatedService::new(seed, bug);
    for step in 0..steps {
        world.step().map_err(|words| SimulationFailure { seed, step, words })?;
    }
    world.finish().map_err(|words| SimulationFailure { seed, step: steps, words })
}
