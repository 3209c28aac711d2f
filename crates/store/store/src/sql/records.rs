//! Records of the ledger's journal.

use ledger_core::{HoldId, JobHold, JournalRecord, LedgerAccount, LedgerTransfer, PaymentLeg};
use moment::Timestamp;

use crate::error::StoreError;
use crate::names::allowance_name;
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{SqlPosting, SqlText};

const NOTE_ALLOWANCE: SqlText = shared_sql!(
    "INSERT INTO allowance_change (entry, owner, kind, amount, at_ms) VALUES ($1, $2, $3, $4, $5)"
);

const SET_ALLOWANCE: SqlText = shared_sql!(
    "INSERT INTO allowance (owner, kind, amount) VALUES ($1, $2, $3) \
     ON CONFLICT (owner, kind) DO UPDATE SET amount = excluded.amount"
);

const OPEN_ALLOWANCE: SqlText = shared_sql!(
    "INSERT INTO allowance (owner, kind, opened_period) VALUES ($1, $2, $3) \
     ON CONFLICT (owner, kind) DO UPDATE SET opened_period = excluded.opened_period"
);

const ADD_HOLD: SqlText = shared_sql!(
    "INSERT INTO job_hold (id, owner, made_ms, key, limit_usd, limit_diem, limit_period, key_day, \
     key_month) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
);

const ADD_LEG: SqlText = shared_sql!(
    "INSERT INTO job_hold_leg (hold, position, account, amount) VALUES ($1, $2, $3, $4)"
);

const END_HOLD: SqlText = shared_sql!("DELETE FROM job_hold WHERE id = $1");

pub(crate) fn post_record<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    record: &'a JournalRecord,
) -> Result<(), P::Error> {
    match record {
        JournalRecord::LotOpened { lot, opened_at, expires_at } => {
            posting.open_lot(lot, *opened_at, *expires_at)
        }
        JournalRecord::LotClosed { lot } => {
            let account = posting.find_account(&LedgerAccount::Lot(*lot), Timestamp::default())?;
            posting.sums().account(account).closes = true;
            Ok(())
        }
        JournalRecord::Transfer(transfer) => post_transfer(posting, transfer),
        JournalRecord::AllowanceSet { entry, owner, kind, amount, at } => {
            let kind = allowance_name(*kind);
            posting.run(NOTE_ALLOWANCE, sql_values![*entry, *owner, kind, *amount, *at])?;
            posting.run(SET_ALLOWANCE, sql_values![*owner, kind, *amount])
        }
        JournalRecord::AllowanceOpened { owner, kind, period } => {
            posting.run(OPEN_ALLOWANCE, sql_values![*owner, allowance_name(*kind), *period])
        }
        JournalRecord::KeySpent { stamp, class, amount } => {
            posting.sums().add_spend(*stamp, *class, amount.nanos());
            Ok(())
        }
        JournalRecord::JobHeld(hold) => write_job_hold(posting, hold),
        JournalRecord::JobHoldEnded { hold, legs } => end_job_hold(posting, *hold, legs),
    }
}

fn post_transfer<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    transfer: &'a LedgerTransfer,
) -> Result<(), P::Error> {
    let debit = posting.find_account(&transfer.debit, transfer.at)?;
    let credit = posting.find_account(&transfer.credit, transfer.at)?;
    posting.add_transfer(debit, credit, transfer)?;
    posting.sums().add_transfer(debit, credit, transfer);
    Ok(())
}

fn write_job_hold<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    hold: &'a JobHold,
) -> Result<(), P::Error> {
    let terms = hold.key.map(|key| key.terms);
    let stamp = hold.key.map(|key| key.stamp);
    let values = sql_values![
        hold.hold,
        hold.owner,
        hold.made_at,
        terms.map(|terms| terms.key),
        terms.and_then(|terms| terms.limit_usd),
        terms.and_then(|terms| terms.limit_diem),
        terms.map(|terms| terms.period.name()),
        stamp.map(|stamp| stamp.day),
        stamp.map(|stamp| stamp.month),
    ];
    posting.run(ADD_HOLD, values)?;
    for (position, leg) in hold.legs.iter().enumerate() {
        let account = posting.find_account(&LedgerAccount::Lot(leg.lot), hold.made_at)?;
        let values = [hold.hold.into(), position.into(), account.into(), leg.amount.into()];
        posting.run(ADD_LEG, values)?;
        posting.sums().account(account).pending += i128::from(leg.amount.nanos());
    }
    Ok(())
}

fn end_job_hold<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    hold: HoldId,
    legs: &[PaymentLeg],
) -> Result<(), P::Error> {
    let ended = StoreError::Missing("the job's hold has ended before");
    posting.run_one(END_HOLD, sql_values![hold], ended)?;
    for leg in legs {
        let lot = LedgerAccount::Lot(leg.lot);
        let account = posting.find_account(&lot, Timestamp::default())?;
        posting.sums().account(account).pending -= i128::from(leg.amount.nanos());
    }
    Ok(())
}
