//! Chooses the next job: owners take turns, and each has a limit of running jobs.

use std::collections::HashMap;

use ledger_core::OwnerId;
use store::job::QueuedJob;

/// Running jobs per owner, and the order of their turns.
#[derive(Debug, Default)]
pub(crate) struct OwnerTurns {
    under_way: HashMap<OwnerId, usize>,
    /// Number of the owner's last turn; later turns have larger numbers.
    last_turn: HashMap<OwnerId, u64>,
    turns: u64,
}

/// Above this number, owners without running jobs are removed.
const OWNERS_RECORDED_MAX: usize = 10_000;

impl OwnerTurns {
    /// Orders the oldest job of each owner: fewest running jobs first, then longest since the last
    /// turn, then oldest job. Owners at their limit are left out.
    pub(crate) fn order_jobs(&self, due: Vec<QueuedJob>, per_owner_max: usize) -> Vec<QueuedJob> {
        let mut due = due;
        due.retain(|job| self.running_count(job.owner) < per_owner_max);
        due.sort_by_key(|job| {
            let turn = self.last_turn.get(&job.owner).copied().unwrap_or(0);
            (self.running_count(job.owner), turn, job.queued, job.id)
        });
        due
    }

    pub(crate) fn begin_turn(&mut self, owner: OwnerId) {
        *self.under_way.entry(owner).or_default() += 1;
        self.turns += 1;
        self.last_turn.insert(owner, self.turns);
        if OWNERS_RECORDED_MAX < self.last_turn.len() {
            let under_way = &self.under_way;
            self.last_turn.retain(|owner, _| under_way.contains_key(owner));
        }
    }

    pub(crate) fn end_turn(&mut self, owner: OwnerId) {
        if let Some(count) = self.under_way.get_mut(&owner) {
            *count -= 1;
            if *count == 0 {
                self.under_way.remove(&owner);
            }
        }
    }

    fn running_count(&self, owner: OwnerId) -> usize {
        self.under_way.get(&owner).copied().unwrap_or(0)
    }
}
