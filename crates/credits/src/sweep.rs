//! Sweeps: expired balances are moved out of their lots.

use moment::Timestamp;
use money::Nano;

use crate::account::{LotKey, SystemKind};
use crate::charge::Leg;
use crate::group::Group;
use crate::id::EntryId;
use crate::ledger::Ledger;
use crate::outcome::{Applied, Balances, Outcome, Swept};
use crate::purse::Lot;
use crate::record::{Record, TransferCode};
use crate::rejection::Rejection;

/// Lots per sweep, so that midnight takes many small groups and not a single large one.
pub const SWEEP_LOTS_MAX: usize = 256;

impl Ledger {
    pub(crate) fn sweep(&mut self, entry: EntryId, now: Timestamp) -> Result<Applied, Rejection> {
        self.refuse_duplicate(entry)?;
        let mut group = Group::new(entry, now);
        let mut swept = Swept { lots: 0, amounts: Balances::default(), more: false };
        for lot in self.lapsed(now) {
            // Money held before the expiry stays until that hold ends.
            let amount = lot.available();
            #[cfg(test)]
            let amount = self.mutant.swept(lot, amount);
            let is_waiting = amount == Nano::ZERO && lot.pending.is_positive();
            if is_waiting {
                continue;
            }
            if swept.lots == SWEEP_LOTS_MAX {
                swept.more = true;
                break;
            }
            swept.lots += 1;
            swept.amounts.add(lot.key.currency, amount);
            group.take(TransferCode::Expiry, Leg { lot: lot.key, amount }, SystemKind::Expired);
            if lot.pending == Nano::ZERO {
                group.push(Record::LotClosed { lot: lot.key });
            }
        }
        let records = self.commit(group.into_records());
        Ok(self.applied(entry, records, Outcome::Swept(swept)))
    }

    /// Lots that have expired, earliest first.
    fn lapsed(&self, now: Timestamp) -> impl Iterator<Item = &Lot> {
        let due = self.expiries.iter().take_while(move |(expires_at, _)| *expires_at <= now);
        due.filter_map(|(_, key): &(Timestamp, LotKey)| self.lot(key))
    }
}
