//! Recent entries in memory: a repeated command gets the earlier outcome.

use std::collections::VecDeque;

use hashbrown::HashMap;
use moment::Timestamp;

use crate::account::{LedgerAccount, SystemKind};
use crate::charge::{PaymentLeg, SettledCharge};
use crate::id::EntryId;
use crate::outcome::{ChargeReceipt, CommandOutcome, CurrencyBalances};
use crate::record::{LedgerTransfer, TransferCode};
use crate::snapshot::RecentRow;

/// Charges kept in memory. Older ones are refunded by reading them from the journal. Each charge
/// evicts the oldest, so a number that exceeds the processor's cache would slow every charge.
pub const RECENT_CHARGES_MAX: usize = 1024;

/// Other entries kept in memory: top-ups, grants, refunds, jobs. They have their own bound, so that
/// a burst of charges does not evict them.
pub const RECENT_OTHERS_MAX: usize = 16_384;

#[derive(Debug, Clone, Default)]
pub(crate) struct RecentEntries {
    entries: HashMap<EntryId, RecentEntry>,
    charges: VecDeque<(Timestamp, EntryId)>,
    others: VecDeque<(Timestamp, EntryId)>,
}

#[derive(Debug, Clone)]
struct RecentEntry {
    /// The time at which the entry was last recorded. An entry that was forgotten and sent again is
    /// recorded twice in the journal, and only the later time counts.
    at: Timestamp,
    what: RecentEntryKind,
}

/// The kind of an entry. Its outcome is known only if it was applied here, not if it was replayed.
#[derive(Debug, Clone)]
enum RecentEntryKind {
    /// A charge; with the balances after it, it makes up the receipt.
    Charge {
        charge: SettledCharge,
        remaining: Option<CurrencyBalances>,
    },
    Other {
        outcome: Option<Box<CommandOutcome>>,
    },
}

impl RecentEntries {
    pub(crate) fn contains(&self, entry: EntryId) -> bool {
        self.entries.contains_key(&entry)
    }

    pub(crate) fn outcome(&self, entry: EntryId) -> Option<Box<CommandOutcome>> {
        match &self.entries.get(&entry)?.what {
            RecentEntryKind::Other { outcome } => outcome.clone(),
            RecentEntryKind::Charge { charge, remaining } => {
                let (legs, written_off) = (charge.legs.clone(), charge.written_off);
                let remaining = (*remaining)?;
                let receipt = ChargeReceipt { charge: entry, legs, written_off, remaining };
                Some(Box::new(CommandOutcome::Settled(receipt)))
            }
        }
    }

    pub(crate) fn charge(&self, entry: EntryId) -> Option<&SettledCharge> {
        match &self.entries.get(&entry)?.what {
            RecentEntryKind::Charge { charge, .. } => Some(charge),
            RecentEntryKind::Other { .. } => None,
        }
    }

    pub(crate) fn note_transfer(&mut self, transfer: &LedgerTransfer) {
        let leg = match (transfer.code, &transfer.debit) {
            // The period that an allowance was opened for is stored with the allowance.
            (TransferCode::Allowance, _) => return,
            (TransferCode::Charge, LedgerAccount::Lot(lot)) => Some(*lot),
            (TransferCode::Writeoff, LedgerAccount::System(system)) => {
                let is_charge = system.kind == SystemKind::Writeoff;
                if !is_charge {
                    return self.note_entry(transfer.entry, transfer.at);
                }
                None
            }
            _ => return self.note_entry(transfer.entry, transfer.at),
        };
        let Some(charge) = self.open_charge(transfer.entry, transfer.at) else { return };
        charge.key = charge.key.or(transfer.key);
        match leg {
            Some(lot) => {
                // Most charges have one leg, and there are thousands of charges.
                charge.legs.reserve_exact(1);
                charge.legs.push(PaymentLeg { lot, amount: transfer.amount });
            }
            None => charge.written_off = charge.written_off.saturating_add(transfer.amount),
        }
    }

    pub(crate) fn note_entry(&mut self, entry: EntryId, at: Timestamp) {
        let is_known = self.entries.get(&entry).is_some_and(|seen| at <= seen.at);
        if is_known {
            return;
        }
        self.entries
            .insert(entry, RecentEntry { at, what: RecentEntryKind::Other { outcome: None } });
        self.others.push_back((at, entry));
        if RECENT_OTHERS_MAX < self.others.len() {
            forget_oldest(&mut self.others, &mut self.entries);
        }
    }

    /// Adds the outcome to an entry that its records have added.
    pub(crate) fn set_outcome(&mut self, entry: EntryId, outcome: &CommandOutcome) {
        let Some(seen) = self.entries.get_mut(&entry) else { return };
        match (&mut seen.what, outcome) {
            (RecentEntryKind::Charge { remaining, .. }, CommandOutcome::Settled(receipt)) => {
                *remaining = Some(receipt.remaining);
            }
            (RecentEntryKind::Charge { .. }, _) => {}
            (RecentEntryKind::Other { outcome: known }, _) => {
                *known = Some(Box::new(outcome.clone()))
            }
        }
    }

    pub(crate) fn forget(&mut self, before: Timestamp) {
        for queue in [&mut self.charges, &mut self.others] {
            while queue.front().is_some_and(|(at, _)| *at < before) {
                forget_oldest(queue, &mut self.entries);
            }
        }
    }

    /// Restores one row of a snapshot.
    pub(crate) fn restore(&mut self, row: RecentRow) {
        let Some(charge) = row.charge else { return self.note_entry(row.entry, row.at) };
        if let Some(open) = self.open_charge(row.entry, row.at) {
            *open = charge;
        }
    }

    /// All entries, oldest first.
    pub(crate) fn rows(&self) -> Vec<RecentRow> {
        let queues = self.charges.iter().chain(&self.others);
        let mut rows: Vec<RecentRow> = queues
            .map(|(at, entry)| RecentRow {
                entry: *entry,
                at: *at,
                charge: self.charge(*entry).cloned(),
            })
            .collect();
        rows.sort_by_key(|row| (row.at, row.entry));
        rows
    }

    /// The charge of an entry, added if the entry is new; None if the entry is of another kind.
    fn open_charge(&mut self, entry: EntryId, at: Timestamp) -> Option<&mut SettledCharge> {
        if !self.entries.contains_key(&entry) {
            self.charges.push_back((at, entry));
            if RECENT_CHARGES_MAX < self.charges.len() {
                forget_oldest(&mut self.charges, &mut self.entries);
            }
        }
        let seen = self.entries.entry(entry).or_insert_with(|| RecentEntry {
            at,
            what: RecentEntryKind::Charge { charge: SettledCharge::default(), remaining: None },
        });
        match &mut seen.what {
            RecentEntryKind::Charge { charge, .. } => Some(charge),
            RecentEntryKind::Other { .. } => None,
        }
    }
}

fn forget_oldest(
    queue: &mut VecDeque<(Timestamp, EntryId)>,
    entries: &mut HashMap<EntryId, RecentEntry>,
) {
    let Some((at, entry)) = queue.pop_front() else { return };
    let was_noted_later = entries.get(&entry).is_some_and(|seen| at < seen.at);
    if !was_noted_later {
        entries.remove(&entry);
    }
}
