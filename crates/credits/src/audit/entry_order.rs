//! Whether the transfers of an entry are all there: numbered from zero, side by side, made at once.

use moment::Timestamp;

use crate::id::EntryId;
use crate::record::Transfer;
use crate::violation::{Invariant, Violation};

/// The last transfer that was read.
#[derive(Debug, Default)]
pub(super) struct EntryOrder {
    last: Option<(EntryId, u16, Timestamp)>,
}

impl EntryOrder {
    pub(super) fn read(&mut self, transfer: &Transfer) -> Result<(), Violation> {
        let (entry, leg, at) = (transfer.entry, transfer.leg, transfer.at);
        let before = self.last.replace((entry, leg, at));
        let (expected, is_at_once) = match before {
            Some((last, last_leg, last_at)) if last == entry => (last_leg + 1, last_at == at),
            _ => (0, true),
        };
        if leg == expected && is_at_once {
            return Ok(());
        }
        let words = format!("entry {} has leg {leg} where leg {expected} belongs", entry.0);
        Err(Invariant::Transfer.broken(words))
    }
}
