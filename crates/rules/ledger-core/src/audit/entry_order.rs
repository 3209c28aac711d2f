//! Checks that the transfers of an entry are complete: numbered from zero, with the same time.
//!
//! If one node writes the journal, the transfers of an entry are adjacent. If several do, those of
//! other entries may stand between them: such entries are recorded in `apart`, and read again on
//! their own.

use std::collections::BTreeSet;

use moment::Timestamp;

use crate::id::EntryId;
use crate::record::LedgerTransfer;
use crate::violation::{InvariantViolation, LedgerInvariant};

#[derive(Debug, Default)]
pub(super) struct EntryOrder {
    /// Entry, leg and time of the last transfer that was read.
    last: Option<(EntryId, u16, Timestamp)>,
    /// Entries whose transfers were not adjacent.
    apart: BTreeSet<EntryId>,
}

impl EntryOrder {
    pub(super) fn read(&mut self, transfer: &LedgerTransfer) {
        let (entry, leg, at) = (transfer.entry, transfer.leg, transfer.at);
        let before = self.last.replace((entry, leg, at));
        let is_next = match before {
            Some((last, last_leg, last_at)) if last == entry => {
                last_leg.checked_add(1) == Some(leg) && last_at == at
            }
            _ => leg == 0,
        };
        if !is_next {
            self.apart.insert(entry);
        }
    }

    /// Takes the entries that are to be read on their own.
    pub(super) fn take_split_entries(&mut self) -> BTreeSet<EntryId> {
        std::mem::take(&mut self.apart)
    }
}

/// Checks all transfers of one entry, in the order of their legs.
pub(super) fn check_entry_legs(
    entry: EntryId,
    transfers: &[&LedgerTransfer],
) -> Result<(), InvariantViolation> {
    let mut expected = 0_u16;
    for transfer in transfers {
        let is_at_once = transfers.first().is_some_and(|first| first.at == transfer.at);
        if transfer.leg != expected || !is_at_once {
            let words =
                format!("entry {} has leg {} where leg {expected} belongs", entry.0, transfer.leg);
            return Err(LedgerInvariant::Transfer.violation(words));
        }
        expected = expected.saturating_add(1);
    }
    Ok(())
}

pub(super) fn build_unread_violation(entry: EntryId) -> InvariantViolation {
    let words = format!("entry {} has transfers that do not stand side by side", entry.0);
    LedgerInvariant::Transfer.violation(words)
}
