//! Chooses the next batches: owners take turns.

use std::collections::HashMap;

use ledger_core::OwnerId;
use store::batch::StoredBatch;

/// Above this number, the oldest turns are forgotten.
const REMEMBERED_MAX: usize = 10_000;

/// The order of the owners' turns.
#[derive(Debug, Default)]
pub(crate) struct OwnerTurns {
    /// Number of the owner's last turn; later turns have larger numbers.
    last_turn: HashMap<OwnerId, u64>,
    turns: u64,
}

impl OwnerTurns {
    /// Orders one batch per owner: longest since the owner's last turn first, then oldest batch.
    pub(crate) fn order_batches(&self, mut due: Vec<StoredBatch>) -> Vec<StoredBatch> {
        due.sort_by_key(|batch| (self.last_turn.get(&batch.owner).copied().unwrap_or(0), batch.id));
        due
    }

    pub(crate) fn begin_turn(&mut self, owner: OwnerId) {
        self.turns += 1;
        self.last_turn.insert(owner, self.turns);
        if REMEMBERED_MAX < self.last_turn.len() {
            let oldest = self.turns - REMEMBERED_MAX as u64 / 2;
            self.last_turn.retain(|_, turn| oldest < *turn);
        }
    }
}
