//! Reads the journal.

use ledger_core::{
    EntryId, KeyId, KeyStamp, LedgerAccount, LedgerTransfer, LotKey, LotTag, OwnerId,
    SystemAccount, SystemKind, TransferCode,
};
use money::{BalanceCurrency, Nano};
use store::journal::{ENTRIES_MAX, JournalEntry};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::columns::{
    read_column, read_nano, read_parsed, read_time, refuse_unknown, to_row_limit,
};
use crate::error::PgError;
use crate::session::PostgresSession;

const SELECT: &str = "SELECT transfer.seq, transfer.entry, transfer.leg, transfer.amount, \
     transfer.code, transfer.at_ms, transfer.key, transfer.key_day, transfer.key_month, \
     debit.owner, debit.currency, debit.name, credit.owner, credit.currency, credit.name \
     FROM transfer JOIN account AS debit ON debit.id = transfer.debit \
     JOIN account AS credit ON credit.id = transfer.credit";

pub(crate) async fn entries_after(
    db: &PostgresSession,
    after_seq: i64,
    rows_max: usize,
) -> Result<Vec<JournalEntry>, PgError> {
    let sql = format!("{SELECT} WHERE $1 < transfer.seq ORDER BY transfer.seq LIMIT $2");
    let rows = db.rows(&sql, &[&after_seq, &to_row_limit(rows_max.min(ENTRIES_MAX))]).await?;
    rows.iter().map(entry_at).collect()
}

pub(crate) async fn entries_of(
    db: &PostgresSession,
    entry: EntryId,
) -> Result<Vec<JournalEntry>, PgError> {
    let sql = format!("{SELECT} WHERE transfer.entry = $1 ORDER BY transfer.leg");
    db.rows(&sql, &[&entry.0]).await?.iter().map(entry_at).collect()
}

pub(crate) async fn is_recorded(db: &PostgresSession, entry: EntryId) -> Result<bool, PgError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM transfer WHERE entry = $1) \
               OR EXISTS (SELECT 1 FROM allowance_change WHERE entry = $1)";
    read_column(&db.single_row(sql, &[&entry.0]).await?, 0)
}

/// The codes are literals, because the partial indexes on these rows need them.
const GIVEN_CREDIT: &str = "\
    SELECT (coalesce((SELECT sum(amount) FROM transfer WHERE credit = account.id AND code <= 3 \
                      AND code = 2), 0) \
          - coalesce((SELECT sum(amount) FROM transfer WHERE debit = account.id \
                      AND code IN (4, 8) AND code = 4), 0))::int8 \
    FROM account WHERE owner = $1 AND currency = $2 AND name = 'main'";

pub(crate) async fn given_credit(
    db: &PostgresSession,
    owner: OwnerId,
    currency: BalanceCurrency,
) -> Result<Nano, PgError> {
    let rows = db.rows(GIVEN_CREDIT, &[&owner.0, &currency.name()]).await?;
    rows.first().map_or(Ok(Nano::ZERO), |row| read_nano(row, 0))
}

/// Reads an account from three adjacent columns: owner, currency and name.
pub(crate) fn account_at(row: &Row, first: usize) -> Result<LedgerAccount, PgError> {
    let owner: Option<Uuid> = read_column(row, first)?;
    let currency = read_parsed(row, first + 1, BalanceCurrency::from_name)?;
    Ok(match owner.map(OwnerId) {
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

fn entry_at(row: &Row) -> Result<JournalEntry, PgError> {
    let (leg, code): (i32, i16) = (read_column(row, 2)?, read_column(row, 4)?);
    let known = u8::try_from(code).ok().and_then(TransferCode::from_number);
    let key: Option<Uuid> = read_column(row, 6)?;
    let key = match key.map(KeyId) {
        Some(key) => Some(KeyStamp { key, day: read_column(row, 7)?, month: read_column(row, 8)? }),
        None => None,
    };
    Ok(JournalEntry {
        seq: read_column(row, 0)?,
        transfer: LedgerTransfer {
            entry: EntryId(read_column(row, 1)?),
            leg: u16::try_from(leg).map_err(|_| refuse_unknown(leg))?,
            debit: account_at(row, 9)?,
            credit: account_at(row, 12)?,
            amount: read_nano(row, 3)?,
            code: known.ok_or_else(|| refuse_unknown(code))?,
            at: read_time(row, 5)?,
            key,
        },
    })
}
