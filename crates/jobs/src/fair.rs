//! Whose job is next: owners take turns, and none has more under way than its share.

use std::collections::HashMap;

use credits::OwnerId;
use store::job::QueuedJob;

/// Who has how much under way, and whose turn was when.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    under_way: HashMap<OwnerId, usize>,
    /// A number that grows with each turn.
    last_turn: HashMap<OwnerId, u64>,
    turns: u64,
}

/// Turns of owners that have nothing under way are forgotten beyond this.
const REMEMBERED_MAX: usize = 10_000;

impl Turns {
    /// Orders the oldest job of each owner: who has the least under way first, then who waited the
    /// longest for a turn, then whose job is older. Owners at their bound are left out.
    pub(crate) fn order(&self, due: Vec<QueuedJob>, per_owner_max: usize) -> Vec<QueuedJob> {
        let mut due = due;
        due.retain(|job| self.under_way(job.owner) < per_owner_max);
        due.sort_by_key(|job| {
            let turn = self.last_turn.get(&job.owner).copied().unwrap_or(0);
            (self.under_way(job.owner), turn, job.queued, job.id)
        });
        due
    }

    pub(crate) fn begin(&mut self, owner: OwnerId) {
        *self.under_way.entry(owner).or_default() += 1;
        self.turns += 1;
        self.last_turn.insert(owner, self.turns);
        if REMEMBERED_MAX < self.last_turn.len() {
            let under_way = &self.under_way;
            self.last_turn.retain(|owner, _| under_way.contains_key(owner));
        }
    }

    pub(crate) fn end(&mut self, owner: OwnerId) {
        if let Some(count) = self.under_way.get_mut(&owner) {
            *count -= 1;
            if *count == 0 {
                self.under_way.remove(&owner);
            }
        }
    }

    fn under_way(&self, owner: OwnerId) -> usize {
        self.under_way.get(&owner).copied().unwrap_or(0)
    }
}
