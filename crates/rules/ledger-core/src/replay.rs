//! Applies records: the only path by which durable state changes.

use moment::Timestamp;
use money::Nano;

use crate::account::{LedgerAccount, LotKey};
use crate::hold::OpenHold;
use crate::id::EntryId;
use crate::ledger::CreditLedger;
use crate::owner_lots::CreditLot;
use crate::record::{JobHold, JournalRecord, LedgerTransfer};
use crate::snapshot::AccountSums;
use crate::violation::{InvariantViolation, LedgerInvariant};

impl CreditLedger {
    /// Applies one record of the journal. A record that does not follow from those before it is a
    /// violation, and the ledger must not be used after it.
    pub fn replay_record(&mut self, record: &JournalRecord) -> Result<(), InvariantViolation> {
        match record {
            JournalRecord::LotOpened { lot, opened_at, expires_at } => {
                self.open_lot(*lot, *opened_at, *expires_at)
            }
            JournalRecord::LotClosed { lot } => self.close_lot(lot),
            JournalRecord::Transfer(transfer) => self.replay_transfer(transfer),
            JournalRecord::AllowanceSet { entry, owner, kind, amount, at } => {
                let purse = self.purses.entry(*owner).or_default();
                purse.allowance_mut(*kind).amount = *amount;
                self.recent.note_entry(*entry, *at);
                Ok(())
            }
            JournalRecord::AllowanceOpened { owner, kind, period } => {
                let purse = self.purses.entry(*owner).or_default();
                purse.allowance_mut(*kind).opened = Some(*period);
                Ok(())
            }
            JournalRecord::KeySpent { stamp, class, amount } => {
                let counters = self.keys.entry(stamp.key).or_default();
                counters.counter_mut(*class).add_spending(stamp, *amount);
                Ok(())
            }
            JournalRecord::JobHeld(job) => self.replay_job_hold(job),
            JournalRecord::JobHoldEnded { hold, .. } => match self.end_hold(*hold) {
                Some(_) => Ok(()),
                None => {
                    Err(LedgerInvariant::HoldEndsOnce.violation(format!("no open hold {}", hold.0)))
                }
            },
        }
    }

    fn open_lot(
        &mut self,
        key: LotKey,
        opened_at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<(), InvariantViolation> {
        if self.lot(&key).is_some() {
            return Err(LedgerInvariant::Columns.violation(format!("{key} is opened twice")));
        }
        self.insert_lot(CreditLot {
            key,
            rank: self.rules.order.rank(key.currency),
            opened_at,
            expires_at,
            granted: Nano::ZERO,
            columns: AccountSums::default(),
            pending: Nano::ZERO,
        });
        Ok(())
    }

    pub(crate) fn insert_lot(&mut self, lot: CreditLot) {
        if let Some(expires_at) = lot.expires_at {
            self.expiries.insert((expires_at, lot.key));
        }
        self.purses.entry(lot.key.owner).or_default().open(lot);
    }

    fn close_lot(&mut self, key: &LotKey) -> Result<(), InvariantViolation> {
        let Some(lot) = self.lot(key) else {
            return Err(
                LedgerInvariant::Columns.violation(format!("{key} is closed but was not open"))
            );
        };
        if lot.balance() != Nano::ZERO || lot.pending != Nano::ZERO {
            let (balance, pending) = (lot.balance(), lot.pending);
            let words = format!("{key} is closed with {balance} in it and {pending} pending");
            return Err(LedgerInvariant::Columns.violation(words));
        }
        if let Some(expires_at) = lot.expires_at {
            self.expiries.remove(&(expires_at, *key));
        }
        if let Some(purse) = self.purses.get_mut(&key.owner) {
            purse.close(key);
            if purse.is_blank() {
                self.purses.remove(&key.owner);
            }
        }
        Ok(())
    }

    fn replay_transfer(&mut self, transfer: &LedgerTransfer) -> Result<(), InvariantViolation> {
        transfer.check()?;
        let amount = transfer.amount;
        if let Some(columns) = self.columns_mut(&transfer.credit) {
            columns.credits += i128::from(amount.nanos());
        }
        if let Some(columns) = self.columns_mut(&transfer.debit) {
            columns.debits += i128::from(amount.nanos());
        }
        if let LedgerAccount::Lot(key) = &transfer.credit
            && transfer.code.counts_as_granted()
            && let Some(lot) = self.lot_mut(key)
        {
            lot.granted = lot.granted.saturating_add(amount);
        }
        if let LedgerAccount::Lot(key) = &transfer.debit
            && let Some(lot) = self.lot_mut(key)
        {
            if transfer.code.counts_as_taken_back() {
                lot.granted = lot.granted.saturating_sub(amount);
            }
            lot.check_amounts()?;
        }
        if let LedgerAccount::Lot(key) = &transfer.credit
            && let Some(lot) = self.lot(key)
        {
            lot.check_amounts()?;
        }
        self.recent.note_transfer(transfer);
        Ok(())
    }

    fn replay_job_hold(&mut self, job: &JobHold) -> Result<(), InvariantViolation> {
        for leg in &job.legs {
            let available = self.lot(&leg.lot).map_or(Nano::ZERO, CreditLot::available);
            if available < leg.amount {
                let words = format!(
                    "hold {} takes {} from {}, which has {available}",
                    job.hold.0, leg.amount, leg.lot
                );
                return Err(LedgerInvariant::NoOverdraft.violation(words));
            }
        }
        self.insert_hold(job.hold, OpenHold::from(job.clone()));
        self.recent.note_entry(EntryId(job.hold.0), job.made_at);
        Ok(())
    }

    /// The sums of an account. None for a closed lot: what a refund puts into it leaves it again in
    /// the same group.
    fn columns_mut(&mut self, account: &LedgerAccount) -> Option<&mut AccountSums> {
        match account {
            LedgerAccount::Lot(key) => self.lot_mut(key).map(|lot| &mut lot.columns),
            // Cloned only the first time, because a cash account's name is on the heap.
            LedgerAccount::System(system) if self.systems.contains_key(system) => {
                self.systems.get_mut(system)
            }
            LedgerAccount::System(system) => Some(self.systems.entry(system.clone()).or_default()),
        }
    }
}
