//! Statements for records of the ledger's journal.

use ledger_core::{
    HoldId, JobHold, JournalRecord, LedgerAccount, LedgerTransfer, LotKey, PaymentLeg,
};
use moment::Timestamp;
use store::error::StoreError;
use store::names::allowance_name;

use crate::accounts::lot_id;
use crate::columns::to_row_limit;
use crate::posting::PostingBuilder;
use crate::statements::values;

/// Inserts a new row, or reopens the row of a lot that was closed before.
const OPEN_LOT: &str = "INSERT INTO account (id, owner, currency, name, opened_ms, expires_ms) \
    VALUES ($1, $2, $3, $4, $5, $6) \
    ON CONFLICT (id) DO UPDATE SET is_closed = FALSE WHERE account.is_closed";

const NOTE_ALLOWANCE: &str = "INSERT INTO allowance_change (entry, owner, kind, amount, at_ms) \
    VALUES ($1, $2, $3, $4, $5)";

const SET_ALLOWANCE: &str = "INSERT INTO allowance (owner, kind, amount) VALUES ($1, $2, $3) \
    ON CONFLICT (owner, kind) DO UPDATE SET amount = excluded.amount";

const OPEN_ALLOWANCE: &str = "INSERT INTO allowance (owner, kind, opened_period) \
    VALUES ($1, $2, $3) \
    ON CONFLICT (owner, kind) DO UPDATE SET opened_period = excluded.opened_period";

const ADD_HOLD: &str = "INSERT INTO job_hold (id, owner, made_ms, key, limit_usd, limit_diem, \
    limit_period, key_day, key_month) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

const ADD_LEG: &str =
    "INSERT INTO job_hold_leg (hold, position, account, amount) VALUES ($1, $2, $3, $4)";

const END_HOLD: &str = "DELETE FROM job_hold WHERE id = $1";

impl<'a> PostingBuilder<'a> {
    pub(crate) fn write_record(&mut self, record: &'a JournalRecord) -> Result<(), StoreError> {
        match record {
            JournalRecord::LotOpened { lot, opened_at, expires_at } => {
                self.open_lot(lot, *opened_at, *expires_at);
            }
            JournalRecord::LotClosed { lot } => self.sums.account(lot_id(lot)).closes = true,
            JournalRecord::Transfer(transfer) => self.post_transfer(transfer),
            JournalRecord::AllowanceSet { entry, owner, kind, amount, at } => {
                let (kind, nanos) = (allowance_name(*kind), amount.nanos());
                let change = values![entry.0, owner.0, kind, nanos, at.ms()];
                self.statements.add(NOTE_ALLOWANCE, change);
                self.statements.add(SET_ALLOWANCE, values![owner.0, kind, nanos]);
            }
            JournalRecord::AllowanceOpened { owner, kind, period } => {
                let values = values![owner.0, allowance_name(*kind), *period];
                self.statements.add(OPEN_ALLOWANCE, values);
            }
            JournalRecord::KeySpent { stamp, class, amount } => {
                self.sums.add_spend(*stamp, *class, amount.nanos());
            }
            JournalRecord::JobHeld(hold) => self.job_held(hold),
            JournalRecord::JobHoldEnded { hold, legs } => self.job_hold_ended(*hold, legs),
        }
        Ok(())
    }

    fn open_lot(&mut self, lot: &LotKey, opened_at: Timestamp, expires_at: Option<Timestamp>) {
        let values = values![
            lot_id(lot),
            lot.owner.0,
            lot.currency.name(),
            lot.tag.to_string(),
            opened_at.ms(),
            expires_at.map(Timestamp::ms),
        ];
        let is_open = StoreError::Duplicate(format!("{lot} is open"));
        self.statements.add_one(OPEN_LOT, values, is_open);
    }

    fn post_transfer(&mut self, transfer: &LedgerTransfer) {
        let debit = self.ensure_account(&transfer.debit, transfer.at.ms());
        let credit = self.ensure_account(&transfer.credit, transfer.at.ms());
        self.transfers.add(debit, credit, transfer);
        self.sums.add_transfer(debit, credit, transfer);
    }

    fn job_held(&mut self, hold: &JobHold) {
        let terms = hold.key.map(|key| key.terms);
        let stamp = hold.key.map(|key| key.stamp);
        let values = values![
            hold.hold.0,
            hold.owner.0,
            hold.made_at.ms(),
            terms.map(|terms| terms.key.0),
            terms.and_then(|terms| terms.limit_usd).map(|limit| limit.nanos()),
            terms.and_then(|terms| terms.limit_diem).map(|limit| limit.nanos()),
            terms.map(|terms| terms.period.name()),
            stamp.map(|stamp| stamp.day),
            stamp.map(|stamp| stamp.month),
        ];
        self.statements.add(ADD_HOLD, values);
        for (position, leg) in hold.legs.iter().enumerate() {
            let account = self.ensure_account(&LedgerAccount::Lot(leg.lot), hold.made_at.ms());
            let nanos = leg.amount.nanos();
            self.statements
                .add(ADD_LEG, values![hold.hold.0, to_row_limit(position), account, nanos]);
            self.sums.account(account).pending += i128::from(nanos);
        }
    }

    fn job_hold_ended(&mut self, hold: HoldId, legs: &[PaymentLeg]) {
        let ended = StoreError::Missing("the job's hold has ended before");
        self.statements.add_one(END_HOLD, values![hold.0], ended);
        for leg in legs {
            self.sums.account(lot_id(&leg.lot)).pending -= i128::from(leg.amount.nanos());
        }
    }
}
