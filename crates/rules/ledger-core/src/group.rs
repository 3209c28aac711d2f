//! Builds the records of one command.

use moment::Timestamp;
use money::{BalanceCurrency, Nano};

use crate::account::{LedgerAccount, LotKey, SystemKind};
use crate::charge::{PaymentLeg, sum_in_class};
use crate::id::EntryId;
use crate::limit::{KeyStamp, LimitClass};
use crate::record::{JournalRecord, LedgerTransfer, TransferCode};

/// The records of one entry so far; numbers its transfers.
pub(crate) struct RecordGroup {
    entry: EntryId,
    at: Timestamp,
    key: Option<KeyStamp>,
    next_leg: u16,
    records: Vec<JournalRecord>,
}

impl RecordGroup {
    pub(crate) fn new(entry: EntryId, at: Timestamp) -> RecordGroup {
        RecordGroup { entry, at, key: None, next_leg: 0, records: Vec::with_capacity(4) }
    }

    /// Starts a group whose transfers count for a key.
    pub(crate) fn with_key(entry: EntryId, at: Timestamp, key: Option<KeyStamp>) -> RecordGroup {
        RecordGroup { key, ..RecordGroup::new(entry, at) }
    }

    pub(crate) fn entry(&self) -> EntryId {
        self.entry
    }

    pub(crate) fn push(&mut self, record: JournalRecord) {
        self.records.push(record);
    }

    /// Moves money out of a lot.
    pub(crate) fn debit_lot(&mut self, code: TransferCode, leg: PaymentLeg, to: SystemKind) {
        let credit = LedgerAccount::system(leg.lot.currency, to);
        self.push_transfer(code, LedgerAccount::Lot(leg.lot), credit, leg.amount);
    }

    /// Moves money into a lot.
    pub(crate) fn credit_lot(&mut self, code: TransferCode, leg: PaymentLeg, from: SystemKind) {
        let debit = LedgerAccount::system(leg.lot.currency, from);
        self.push_transfer(code, debit, LedgerAccount::Lot(leg.lot), leg.amount);
    }

    /// Moves paid credit to the debt of its owner.
    pub(crate) fn collect_debt(&mut self, leg: PaymentLeg) {
        let credit = LedgerAccount::Lot(LotKey::debt(leg.lot.owner));
        self.push_transfer(
            TransferCode::Collection,
            LedgerAccount::Lot(leg.lot),
            credit,
            leg.amount,
        );
    }

    /// Moves money between the operator's own accounts.
    pub(crate) fn transfer_between_systems(
        &mut self,
        from: SystemKind,
        to: SystemKind,
        amount: Nano,
    ) {
        let debit = LedgerAccount::system(BalanceCurrency::Usd, from);
        let credit = LedgerAccount::system(BalanceCurrency::Usd, to);
        self.push_transfer(TransferCode::Writeoff, debit, credit, amount);
    }

    pub(crate) fn open_lot(&mut self, lot: LotKey, expires_at: Option<Timestamp>) {
        self.push(JournalRecord::LotOpened { lot, opened_at: self.at, expires_at });
    }

    /// Counts the legs for the group's key, as spent or as refunded.
    pub(crate) fn count_for_key(&mut self, legs: &[PaymentLeg], sign: SpendDirection) {
        let Some(stamp) = self.key else { return };
        for class in LimitClass::ALL {
            let total = sum_in_class(legs, class);
            if !total.is_positive() {
                continue;
            }
            let amount = match sign {
                SpendDirection::Spent => total,
                SpendDirection::GivenBack => Nano::ZERO.saturating_sub(total),
            };
            self.push(JournalRecord::KeySpent { stamp, class, amount });
        }
    }

    pub(crate) fn into_records(self) -> Vec<JournalRecord> {
        self.records
    }

    fn push_transfer(
        &mut self,
        code: TransferCode,
        debit: LedgerAccount,
        credit: LedgerAccount,
        amount: Nano,
    ) {
        if !amount.is_positive() {
            return;
        }
        let transfer = LedgerTransfer {
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
        self.records.push(JournalRecord::Transfer(transfer));
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum SpendDirection {
    Spent,
    GivenBack,
}
