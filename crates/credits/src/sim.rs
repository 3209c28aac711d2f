//! A simulator: random commands, retries, midnights and crashes, checked after every step.
//!
//! A run is a function of its seed, so a failure is repeated by its seed. The world applies
//! commands to a ledger and writes the groups to a disk that loses what was not synced; the oracle
//! keeps its own books of what was asked and acknowledged, and compares.

mod disk;
mod oracle;
pub(crate) mod random;
mod script;
mod tests;
mod world;

use crate::mutant::Mutant;

/// A bug to plant, in the ledger or around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bug {
    None,
    Ledger(Mutant),
    /// The caller is told that a command is durable before it is.
    AckBeforeSync,
    /// A crash can leave the first records of a group without the others.
    TornGroup,
}

/// Something that must never happen did.
#[derive(Debug)]
struct Failure {
    seed: u64,
    step: usize,
    words: String,
}

/// What a run did, to see that it did enough.
#[derive(Debug, Default)]
struct Stats {
    applied: usize,
    rejected: usize,
    duplicates: usize,
    crashes: usize,
    written_off: usize,
    refunds: usize,
    lapsed: usize,
    reloads: usize,
    key_limits: usize,
}

fn run(seed: u64, steps: usize, bug: Bug) -> Result<Stats, Failure> {
    let mut world = world::World::new(seed, bug);
    for step in 0..steps {
        world.step().map_err(|words| Failure { seed, step, words })?;
    }
    world.finish().map_err(|words| Failure { seed, step: steps, words })
}
