//! Reads the journal.

use ledger_core::{
    EntryId, KeyId, KeyStamp, LedgerAccount, LedgerTransfer, LotKey, LotTag, OwnerId,
    SystemAccount, SystemKind, TransferCode,
};
use money::{BalanceCurrency, Nano};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::journal::{ENTRIES_MAX, JournalEntry};
use crate::sqlite::columns::{read_id, read_nano, read_optional_id, read_parsed, read_time};

const SELECT: &str = "SELECT transfer.seq, transfer.entry, transfer.leg, transfer.amount, \
     transfer.code, transfer.at_ms, transfer.key, transfer.key_day, transfer.key_month, \
     debit.owner, debit.currency, debit.name, credit.owner, credit.currency, credit.name \
     FROM transfer JOIN account AS debit ON debit.id = transfer.debit \
     JOIN account AS credit ON credit.id = transfer.credit";

pub(crate) fn entries_after(
    connection: &Connection,
    after_seq: i64,
    limit: usize,
) -> rusqlite::Result<Vec<JournalEntry>> {
    let sql = format!("{SELECT} WHERE ?1 < transfer.seq ORDER BY transfer.seq LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params![after_seq, limit.min(ENTRIES_MAX)], entry_at)?.collect()
}

pub(crate) fn entries_of(
    connection: &Connection,
    entry: EntryId,
) -> rusqlite::Result<Vec<JournalEntry>> {
    let sql = format!("{SELECT} WHERE transfer.entry = ?1 ORDER BY transfer.leg");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map([entry.0.as_bytes()], entry_at)?.collect()
}

pub(crate) fn is_recorded(connection: &Connection, entry: EntryId) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM transfer WHERE entry = ?1) \
               OR EXISTS (SELECT 1 FROM allowance_change WHERE entry = ?1)";
    connection.prepare_cached(sql)?.query_row([entry.0.as_bytes()], |row| row.get(0))
}

/// The codes are literals, because the partial indexes on these rows need them.
pub(crate) const GIVEN_CREDIT: &str = "\
    SELECT coalesce((SELECT sum(amount) FROM transfer WHERE credit = account.id AND code <= 3 \
                     AND code = 2), 0) \
         - coalesce((SELECT sum(amount) FROM transfer WHERE debit = account.id \
                     AND code IN (4, 8) AND code = 4), 0) \
    FROM account WHERE owner = ?1 AND currency = ?2 AND name = 'main'";

pub(crate) fn given_credit(
    connection: &Connection,
    owner: OwnerId,
    currency: BalanceCurrency,
) -> rusqlite::Result<Nano> {
    let mut statement = connection.prepare_cached(GIVEN_CREDIT)?;
    let given =
        statement.query_row(params![owner.0.as_bytes(), currency.name()], |row| read_nano(row, 0));
    Ok(given.optional()?.unwrap_or_default())
}

/// Reads an account from three adjacent columns: owner, currency and name.
pub(crate) fn account_at(row: &Row<'_>, first: usize) -> rusqlite::Result<LedgerAccount> {
    let owner = read_optional_id(row, first)?.map(OwnerId);
    let currency = read_parsed(row, first + 1, BalanceCurrency::from_name)?;
    Ok(match owner {
        Some(owner) => LedgerAccount::Lot(LotKey {
            owner,
            currency,
            tag: read_parsed(row, first + 2, LotTag::parse)?,
        }),
        None => {
            let kind = read_parsed(row, first + 2, SystemKind::parse)?;
            LedgerAccount::System(SystemAccount { currency, kind })
        }
    })
}

fn entry_at(row: &Row<'_>) -> rusqlite::Result<JournalEntry> {
    let number: u8 = row.get(4)?;
    let code = TransferCode::from_number(number).ok_or_else(|| {
        let unknown = format!("{number} is not a code that this release knows");
        rusqlite::Error::FromSqlConversionFailure(4, Type::Integer, unknown.into())
    })?;
    let key = match read_optional_id(row, 6)? {
        Some(key) => Some(KeyStamp { key: KeyId(key), day: row.get(7)?, month: row.get(8)? }),
        None => None,
    };
    Ok(JournalEntry {
        seq: row.get(0)?,
        transfer: LedgerTransfer {
            entry: read_id(row, 1).map(EntryId)?,
            leg: row.get(2)?,
            debit: account_at(row, 9)?,
            credit: account_at(row, 12)?,
            amount: read_nano(row, 3)?,
            code,
            at: read_time(row, 5)?,
            key,
        },
    })
}
