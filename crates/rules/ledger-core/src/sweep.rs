//! Sweeps: expired balances are moved out of their lots.

use moment::Timestamp;
use money::Nano;

use crate::account::{LotKey, SystemKind};
use crate::charge::PaymentLeg;
use crate::group::RecordGroup;
use crate::id::EntryId;
use crate::ledger::CreditLedger;
use crate::outcome::{AppliedCommand, CommandOutcome, CurrencyBalances, SweepReport};
use crate::owner_lots::CreditLot;
use crate::record::{JournalRecord, TransferCode};
use crate::rejection::CommandRejection;

/// Lots per sweep, so that midnight takes many small groups and not a single large one.
pub const SWEEP_LOTS_MAX: usize = 256;

impl CreditLedger {
    pub(crate) fn sweep_expired(
        &mut self,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        self.refuse_duplicate(entry)?;
        let mut group = RecordGroup::new(entry, now);
        let mut swept = SweepReport { lots: 0, amounts: CurrencyBalances::default(), more: false };
        for lot in self.expired_lots(now) {
            // Money held before the expiry stays until that hold ends.
            let amount = lot.available();
            #[cfg(test)]
            let amount = self.mutant.alter_swept(lot, amount);
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
            group.debit_lot(
                TransferCode::Expiry,
                PaymentLeg { lot: lot.key, amount },
                SystemKind::Expired,
            );
            if lot.pending == Nano::ZERO {
                group.push(JournalRecord::LotClosed { lot: lot.key });
            }
        }
        let records = self.apply_records(group.into_records());
        Ok(self.finish_entry(entry, records, CommandOutcome::Swept(swept)))
    }

    /// Lots that have expired, earliest first.
    fn expired_lots(&self, now: Timestamp) -> impl Iterator<Item = &CreditLot> {
        let due = self.expiries.iter().take_while(move |(expires_at, _)| *expires_at <= now);
        due.filter_map(|(_, key): &(Timestamp, LotKey)| self.lot(key))
    }
}
