//! The journal.

use ledger_core::{
    EntryId, KeyId, KeyStamp, LedgerAccount, LedgerTransfer, LotKey, LotTag, OwnerId,
    SystemAccount, SystemKind, TransferCode,
};
use money::BalanceCurrency;

use crate::journal::JournalEntry;
use crate::sql::connection::RowResult;
use crate::sql::row::refuse_unknown;
use crate::sql::text::shared_sql;
use crate::sql::{SqlRow, SqlText};

const SELECT: SqlText = SqlText::same(
    "SELECT transfer.seq, transfer.entry, transfer.leg, transfer.amount, transfer.code, \
     transfer.at_ms, transfer.key, transfer.key_day, transfer.key_month, debit.owner, \
     debit.currency, debit.name, credit.owner, credit.currency, credit.name \
     FROM transfer JOIN account AS debit ON debit.id = transfer.debit \
     JOIN account AS credit ON credit.id = transfer.credit",
);

pub(crate) const READ_AFTER: SqlText =
    shared_sql!(SELECT, " WHERE $1 < transfer.seq ORDER BY transfer.seq LIMIT $2");

pub(crate) const READ_ENTRY: SqlText =
    shared_sql!(SELECT, " WHERE transfer.entry = $1 ORDER BY transfer.leg");

pub(crate) const IS_RECORDED: SqlText = shared_sql!(
    "SELECT EXISTS (SELECT 1 FROM transfer WHERE entry = $1) \
     OR EXISTS (SELECT 1 FROM allowance_change WHERE entry = $1)"
);

/// The codes are literals, because the partial indexes on these rows need them.
pub(crate) const GIVEN_CREDIT: SqlText = shared_sql!(
    "SELECT (coalesce((SELECT sum(amount) FROM transfer WHERE credit = account.id AND code <= 3 \
                       AND code = 2), 0) \
           - coalesce((SELECT sum(amount) FROM transfer WHERE debit = account.id \
                       AND code IN (4, 8) AND code = 4), 0))::bigint \
     FROM account WHERE owner = $1 AND currency = $2 AND name = 'main'"
);

/// Reads an account from three adjacent columns: owner, currency and name.
pub(crate) fn account_from(row: &dyn SqlRow, first: usize) -> RowResult<LedgerAccount> {
    let owner: Option<OwnerId> = row.get(first)?;
    let currency = row.parse(first + 1, BalanceCurrency::from_name)?;
    Ok(match owner {
        Some(owner) => {
            let tag = row.parse(first + 2, LotTag::parse)?;
            LedgerAccount::Lot(LotKey { owner, currency, tag })
        }
        None => {
            let kind = row.parse(first + 2, SystemKind::parse)?;
            LedgerAccount::System(SystemAccount { currency, kind })
        }
    })
}

pub(crate) fn entry_at(row: &dyn SqlRow) -> RowResult<JournalEntry> {
    let code: u8 = row.get(4)?;
    let key = match row.get::<Option<KeyId>>(6)? {
        Some(key) => Some(KeyStamp { key, day: row.get(7)?, month: row.get(8)? }),
        None => None,
    };
    Ok(JournalEntry {
        seq: row.get(0)?,
        transfer: LedgerTransfer {
            entry: row.get::<EntryId>(1)?,
            leg: row.get(2)?,
            debit: account_from(row, 9)?,
            credit: account_from(row, 12)?,
            amount: row.get(3)?,
            code: TransferCode::from_number(code).ok_or_else(|| refuse_unknown(code))?,
            at: row.get(5)?,
            key,
        },
    })
}
