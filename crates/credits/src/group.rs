//! Builds the records of one command.

use moment::Timestamp;
use money::{Currency, Nano};

use crate::account::{Account, LotKey, SystemKind};
use crate::charge::{Leg, paid_in_class};
use crate::id::EntryId;
use crate::limit::{KeyStamp, LimitClass};
use crate::record::{Record, Transfer, TransferCode};

/// The records of one entry so far; numbers its transfers.
pub(crate) struct Group {
    entry: EntryId,
    at: Timestamp,
    key: Option<KeyStamp>,
    next_leg: u16,
    records: Vec<Record>,
}

impl Group {
    pub(crate) fn new(entry: EntryId, at: Timestamp) -> Group {
        Group { entry, at, key: None, next_leg: 0, records: Vec::with_capacity(4) }
    }

    /// Starts a group whose transfers count for a key.
    pub(crate) fn with_key(entry: EntryId, at: Timestamp, key: Option<KeyStamp>) -> Group {
        Group { key, ..Group::new(entry, at) }
    }

    pub(crate) fn push(&mut self, record: Record) {
        self.records.push(record);
    }

    /// Moves money out of a lot.
    pub(crate) fn take(&mut self, code: TransferCode, leg: Leg, to: SystemKind) {
        let credit = Account::system(leg.lot.currency, to);
        self.transfer(code, Account::Lot(leg.lot), credit, leg.amount);
    }

    /// Moves money into a lot.
    pub(crate) fn give(&mut self, code: TransferCode, leg: Leg, from: SystemKind) {
        let debit = Account::system(leg.lot.currency, from);
        self.transfer(code, debit, Account::Lot(leg.lot), leg.amount);
    }

    /// Moves money between the operator's own accounts.
    pub(crate) fn rebook(&mut self, from: SystemKind, to: SystemKind, amount: Nano) {
        let debit = Account::system(Currency::Usd, from);
        let credit = Account::system(Currency::Usd, to);
        self.transfer(TransferCode::Writeoff, debit, credit, amount);
    }

    pub(crate) fn open(&mut self, lot: LotKey, expires_at: Option<Timestamp>) {
        self.push(Record::LotOpened { lot, opened_at: self.at, expires_at });
    }

    /// Counts the legs for the group's key, as spent or as refunded.
    pub(crate) fn count_for_key(&mut self, legs: &[Leg], sign: Sign) {
        let Some(stamp) = self.key else { return };
        for class in LimitClass::ALL {
            let total = paid_in_class(legs, class);
            if !total.is_positive() {
                continue;
            }
            let amount = match sign {
                Sign::Spent => total,
                Sign::GivenBack => Nano::ZERO.saturating_sub(total),
            };
            self.push(Record::KeySpent { stamp, class, amount });
        }
    }

    pub(crate) fn into_records(self) -> Vec<Record> {
        self.records
    }

    fn transfer(&mut self, code: TransferCode, debit: Account, credit: Account, amount: Nano) {
        if !amount.is_positive() {
            return;
        }
        let transfer = Transfer {
            entry: self.entry,
            leg: self.next_leg,
            debit,
            credit,
            amount,
            code,
            at: self.at,
            key: self.key,
        };
        self.next_leg += 1;
        self.records.push(Record::Transfer(transfer));
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Sign {
    Spent,
    GivenBack,
}
