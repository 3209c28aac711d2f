//! The journal as a store would keep it: groups, unique entries, and a tail that a crash can lose.

use hashbrown::HashMap;
use moment::Timestamp;

use crate::id::EntryId;
use crate::ledger::{CreditLedger, LedgerRules};
use crate::record::{JournalRecord, LedgerTransfer};
use crate::sim::random::SplitMixRandom;
use crate::snapshot::LedgerSnapshot;

#[derive(Debug, Default)]
pub(crate) struct SimulatedDisk {
    groups: Vec<Vec<JournalRecord>>,
    synced: usize,
    /// Every `(entry, leg)` and job hold, with the time it was written.
    unique: HashMap<(EntryId, u16), Timestamp>,
    /// A checkpoint: the number of groups it includes, and the rows after them.
    base: Option<(usize, LedgerSnapshot)>,
}

impl SimulatedDisk {
    /// Adds a group. The error is the time at which one of its entries was written before.
    pub(crate) fn append(&mut self, group: &[JournalRecord]) -> Result<(), Timestamp> {
        for key in group.iter().filter_map(unique_key) {
            if let Some(at) = self.unique.get(&key) {
                return Err(*at);
            }
        }
        for record in group {
            if let (Some(key), Some(at)) = (unique_key(record), written_at(record)) {
                self.unique.insert(key, at);
            }
        }
        self.groups.push(group.to_vec());
        Ok(())
    }

    pub(crate) fn sync(&mut self) {
        self.synced = self.groups.len();
    }

    pub(crate) fn synced_count(&self) -> usize {
        self.synced
    }

    pub(crate) fn groups(&self) -> &[Vec<JournalRecord>] {
        &self.groups
    }

    /// Syncs, and stores the rows to recover from.
    pub(crate) fn checkpoint(&mut self, ledger: &CreditLedger) {
        self.sync();
        self.base = Some((self.groups.len(), ledger.to_snapshot()));
    }

    /// Loses some of the unsynced groups. Only whole groups, unless `can_tear`.
    pub(crate) fn lose_unsynced(&mut self, random: &mut SplitMixRandom, can_tear: bool) {
        let kept = self.synced + random.below(self.groups.len() - self.synced + 1);
        let mut lost = self.groups.split_off(kept);
        if can_tear && let Some(torn) = lost.first_mut() {
            torn.truncate(random.below(torn.len() + 1));
            self.groups.push(torn.clone());
        }
        self.unique.clear();
        for record in self.groups.iter().flatten() {
            if let (Some(key), Some(at)) = (unique_key(record), written_at(record)) {
                self.unique.insert(key, at);
            }
        }
        self.sync();
    }

    /// Recovers from the last checkpoint and the groups after it.
    pub(crate) fn recover(&self, rules: LedgerRules) -> Result<CreditLedger, String> {
        let (from, mut ledger) = match &self.base {
            Some((count, snapshot)) => {
                let ledger = CreditLedger::from_snapshot(rules, snapshot.clone());
                (*count, ledger.map_err(|violation| violation.to_string())?)
            }
            None => (0, CreditLedger::new(rules)),
        };
        replay_groups(&mut ledger, &self.groups[from..])?;
        Ok(ledger)
    }

    /// Recovers from the journal alone.
    pub(crate) fn replay_all(&self, rules: LedgerRules) -> Result<CreditLedger, String> {
        let mut ledger = CreditLedger::new(rules);
        replay_groups(&mut ledger, &self.groups)?;
        Ok(ledger)
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &JournalRecord> {
        self.groups.iter().flatten()
    }

    pub(crate) fn transfers(&self) -> impl Iterator<Item = &LedgerTransfer> {
        self.groups.iter().flatten().filter_map(|record| match record {
            JournalRecord::Transfer(transfer) => Some(transfer),
            _ => None,
        })
    }
}

fn replay_groups(ledger: &mut CreditLedger, groups: &[Vec<JournalRecord>]) -> Result<(), String> {
    for record in groups.iter().flatten() {
        ledger.replay_record(record).map_err(|violation| format!("recovery: {violation}"))?;
    }
    Ok(())
}

fn unique_key(record: &JournalRecord) -> Option<(EntryId, u16)> {
    match record {
        JournalRecord::Transfer(transfer) => Some((transfer.entry, transfer.leg)),
        JournalRecord::JobHeld(job) => Some((EntryId(job.hold.0), 0)),
        // In a table of its own, so it does not collide with the transfers of the same entry.
        JournalRecord::AllowanceSet { entry, .. } => Some((*entry, u16::MAX)),
        _ => None,
    }
}

fn written_at(record: &JournalRecord) -> Option<Timestamp> {
    match record {
        JournalRecord::Transfer(transfer) => Some(transfer.at),
        JournalRecord::JobHeld(job) => Some(job.made_at),
        JournalRecord::AllowanceSet { at, .. } => Some(*at),
        _ => None,
    }
}
