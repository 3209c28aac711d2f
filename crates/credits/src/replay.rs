//! Applies records: the only path by which durable state changes.

use moment::Timestamp;
use money::Nano;

use crate::account::{Account, LotKey};
use crate::hold::Hold;
use crate::id::EntryId;
use crate::ledger::Ledger;
use crate::purse::Lot;
use crate::record::{JobHold, Record, Transfer, TransferCode};
use crate::snapshot::Columns;
use crate::violation::{Invariant, Violation};

impl Ledger {
    /// Applies one record of the journal. A record that does not follow from those before it is a
    /// violation, and the ledger must not be used after it.
    pub fn replay(&mut self, record: &Record) -> Result<(), Violation> {
        match record {
            Record::LotOpened { lot, opened_at, expires_at } => {
                self.open_lot(*lot, *opened_at, *expires_at)
            }
            Record::LotClosed { lot } => self.close_lot(lot),
            Record::Transfer(transfer) => self.replay_transfer(transfer),
            Record::AllowanceSet { entry, owner, kind, amount, at } => {
                let purse = self.purses.entry(*owner).or_default();
                purse.allowance_mut(*kind).amount = *amount;
                self.recent.note(*entry, *at);
                Ok(())
            }
            Record::AllowanceOpened { owner, kind, period } => {
                let purse = self.purses.entry(*owner).or_default();
                purse.allowance_mut(*kind).opened = Some(*period);
                Ok(())
            }
            Record::KeySpent { stamp, class, amount } => {
                let counters = self.keys.entry(stamp.key).or_default();
                counters.class_mut(*class).spend(stamp, *amount);
                Ok(())
            }
            Record::JobHeld(job) => self.replay_job_hold(job),
            Record::JobHoldEnded { hold, .. } => match self.end(*hold) {
                Some(_) => Ok(()),
                None => Err(Invariant::HoldEndsOnce.broken(format!("no open hold {}", hold.0))),
            },
        }
    }

    fn open_lot(
        &mut self,
        key: LotKey,
        opened_at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<(), Violation> {
        if self.lot(&key).is_some() {
            return Err(Invariant::Columns.broken(format!("{key} is opened twice")));
        }
        self.insert_lot(Lot {
            key,
            rank: self.rules.order.rank(key.currency),
            opened_at,
            expires_at,
            granted: Nano::ZERO,
            columns: Columns::default(),
            pending: Nano::ZERO,
        });
        Ok(())
    }

    pub(crate) fn insert_lot(&mut self, lot: Lot) {
        if let Some(expires_at) = lot.expires_at {
            self.expiries.insert((expires_at, lot.key));
        }
        self.purses.entry(lot.key.owner).or_default().open(lot);
    }

    fn close_lot(&mut self, key: &LotKey) -> Result<(), Violation> {
        let Some(lot) = self.lot(key) else {
            return Err(Invariant::Columns.broken(format!("{key} is closed but was not open")));
        };
        if lot.balance() != Nano::ZERO || lot.pending != Nano::ZERO {
            let (balance, pending) = (lot.balance(), lot.pending);
            let words = format!("{key} is closed with {balance} in it and {pending} pending");
            return Err(Invariant::Columns.broken(words));
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

    fn replay_transfer(&mut self, transfer: &Transfer) -> Result<(), Violation> {
        transfer.check()?;
        let amount = transfer.amount;
        if let Some(columns) = self.columns_mut(&transfer.credit) {
            columns.credits += i128::from(amount.nanos());
        }
        if let Some(columns) = self.columns_mut(&transfer.debit) {
            columns.debits += i128::from(amount.nanos());
        }
        if let Account::Lot(key) = &transfer.credit
            && transfer.code.grants()
            && let Some(lot) = self.lot_mut(key)
        {
            lot.granted = lot.granted.saturating_add(amount);
        }
        if let Account::Lot(key) = &transfer.debit
            && let Some(lot) = self.lot_mut(key)
        {
            if transfer.code == TransferCode::TakeBack {
                lot.granted = lot.granted.saturating_sub(amount);
            }
            if lot.available().is_negative() {
                let words = format!("{key} has {} available", lot.available());
                return Err(Invariant::NoOverdraft.broken(words));
            }
        }
        self.recent.note_transfer(transfer);
        Ok(())
    }

    fn replay_job_hold(&mut self, job: &JobHold) -> Result<(), Violation> {
        for leg in &job.legs {
            let available = self.lot(&leg.lot).map_or(Nano::ZERO, Lot::available);
            if available < leg.amount {
                let words = format!(
                    "hold {} takes {} from {}, which has {available}",
                    job.hold.0, leg.amount, leg.lot
                );
                return Err(Invariant::NoOverdraft.broken(words));
            }
        }
        self.place(job.hold, Hold::from(job.clone()));
        self.recent.note(EntryId(job.hold.0), job.made_at);
        Ok(())
    }

    /// The sums of an account. None for a closed lot: what a refund puts into it leaves it again in
    /// the same group.
    fn columns_mut(&mut self, account: &Account) -> Option<&mut Columns> {
        match account {
            Account::Lot(key) => self.lot_mut(key).map(|lot| &mut lot.columns),
            // Cloned only the first time, because a cash account's name is on the heap.
            Account::System(system) if self.systems.contains_key(system) => {
                self.systems.get_mut(system)
            }
            Account::System(system) => Some(self.systems.entry(system.clone()).or_default()),
        }
    }
}
