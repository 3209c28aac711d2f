//! The stored sums of the ledger.

use std::collections::{BTreeMap, HashMap};

use ledger_core::{
    AccountSums, AllowanceRow, HeldKey, HoldId, JobHold, KeyId, KeySpendRow, KeyStamp, KeyTerms,
    LedgerAccount, LimitClass, LimitPeriod, LotRow, OwnerId, PaymentLeg, SystemAccount, SystemRow,
};
use money::Nano;

use crate::error::StoreError;
use crate::journal::LedgerBooks;
use crate::names::parse_allowance;
use crate::sql::connection::RowResult;
use crate::sql::journal::account_from;
use crate::sql::row::refuse_unknown;
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{SqlConnection, SqlRow, SqlText, SqlValue};

const ACCOUNTS: SqlText = SqlText::same(
    "SELECT owner, currency, name, opened_ms, expires_ms, granted, debits, credits, pending \
     FROM account",
);
const ALLOWANCES: SqlText =
    SqlText::same("SELECT owner, kind, amount, opened_period FROM allowance");
const LEGS: SqlText = SqlText::same(
    "SELECT hold, account.owner, account.currency, account.name, amount FROM job_hold_leg \
     JOIN job_hold ON job_hold.id = job_hold_leg.hold \
     JOIN account ON account.id = job_hold_leg.account",
);
const HOLDS: SqlText = SqlText::same(
    "SELECT id, owner, made_ms, key, limit_usd, limit_diem, limit_period, key_day, key_month \
     FROM job_hold",
);
const SPENDS: SqlText = SqlText::same(
    "SELECT key, class, day, day_spent, month, month_spent, lifetime_spent FROM key_spend",
);

/// The statements that read a part of the books, all with the same parameters.
struct BooksPart {
    accounts: SqlText,
    allowances: SqlText,
    legs: SqlText,
    holds: SqlText,
    spends: SqlText,
}

const OPEN_ACCOUNTS: SqlText = shared_sql!(ACCOUNTS, " WHERE is_closed = FALSE");

/// Closed accounts that the journal has moved after a sequence number.
const MOVED_ACCOUNTS: SqlText = shared_sql!(
    ACCOUNTS,
    " WHERE is_closed = TRUE AND id IN (SELECT debit FROM transfer WHERE $1 < seq \
     UNION SELECT credit FROM transfer WHERE $1 < seq)"
);

const ALL: BooksPart = BooksPart {
    accounts: ACCOUNTS,
    allowances: ALLOWANCES,
    legs: shared_sql!(LEGS, " ORDER BY hold, position"),
    holds: HOLDS,
    spends: SPENDS,
};

const OF_OWNER: BooksPart = BooksPart {
    accounts: shared_sql!(ACCOUNTS, " WHERE owner = $1 AND is_closed = FALSE"),
    allowances: shared_sql!(ALLOWANCES, " WHERE owner = $1"),
    legs: shared_sql!(LEGS, " WHERE job_hold.owner = $1 ORDER BY hold, position"),
    holds: shared_sql!(HOLDS, " WHERE owner = $1"),
    spends: shared_sql!(SPENDS, " WHERE key IN (SELECT id FROM api_key WHERE owner = $1)"),
};

const LAST_SEQ: SqlText = SqlText::same("SELECT coalesce(max(seq), 0) FROM transfer");

/// Excludes closed lots, so that a start does not slow down with the number of past days.
pub(crate) async fn open_books(db: &dyn SqlConnection) -> Result<LedgerBooks, StoreError> {
    read_books(db, &BooksPart { accounts: OPEN_ACCOUNTS, ..ALL }, &[]).await
}

pub(crate) async fn trial_balance(db: &dyn SqlConnection) -> Result<LedgerBooks, StoreError> {
    read_books(db, &ALL, &[]).await
}

/// One owner's part of the books: its open lots, its allowances, the holds of its jobs and the
/// spending of its keys.
pub async fn read_owner_books(
    db: &dyn SqlConnection,
    owner: OwnerId,
) -> Result<LedgerBooks, StoreError> {
    read_books(db, &OF_OWNER, &sql_values![owner]).await
}

/// Reads the accounts only. Closed ones are included only if the journal has moved them since.
pub(crate) async fn changed_books(
    db: &dyn SqlConnection,
    after_seq: i64,
) -> Result<LedgerBooks, StoreError> {
    let mut reading = BooksReader::default();
    reading.read_accounts(db, OPEN_ACCOUNTS, &[]).await?;
    reading.read_accounts(db, MOVED_ACCOUNTS, &sql_values![after_seq]).await?;
    reading.finish(db).await
}

async fn read_books(
    db: &dyn SqlConnection,
    part: &BooksPart,
    values: &[SqlValue<'_>],
) -> Result<LedgerBooks, StoreError> {
    let mut reading = BooksReader::default();
    reading.read_accounts(db, part.accounts, values).await?;
    let snapshot = &mut reading.books.snapshot;
    snapshot.allowances = db.rows(part.allowances, values, allowance_at).await?;
    snapshot.job_holds = read_job_holds(db, part, values).await?;
    snapshot.key_spends = db.rows(part.spends, values, key_spend_at).await?;
    reading.finish(db).await
}

#[derive(Default)]
struct BooksReader {
    books: LedgerBooks,
    /// The sums over all nodes, each of which has its own row on Postgres.
    systems: BTreeMap<SystemAccount, AccountSums>,
}

impl BooksReader {
    async fn read_accounts(
        &mut self,
        db: &dyn SqlConnection,
        sql: SqlText,
        values: &[SqlValue<'_>],
    ) -> Result<(), StoreError> {
        db.for_each_row(sql, values, &mut |row| self.add(row)).await
    }

    fn add(&mut self, row: &dyn SqlRow) -> RowResult<()> {
        let (debits, credits): (i64, i64) = (row.get(6)?, row.get(7)?);
        let columns = AccountSums { debits: debits.into(), credits: credits.into() };
        match account_from(row, 0)? {
            LedgerAccount::System(account) => {
                let sum = self.systems.entry(account).or_default();
                sum.debits += columns.debits;
                sum.credits += columns.credits;
            }
            LedgerAccount::Lot(lot) => {
                self.books.snapshot.lots.push(LotRow {
                    lot,
                    opened_at: row.get(3)?,
                    expires_at: row.get(4)?,
                    granted: row.get(5)?,
                    columns,
                });
                let pending: Nano = row.get(8)?;
                if pending != Nano::ZERO {
                    self.books.pending.push((lot, pending));
                }
            }
        }
        Ok(())
    }

    async fn finish(mut self, db: &dyn SqlConnection) -> Result<LedgerBooks, StoreError> {
        self.books.last_seq = db.single_row(LAST_SEQ, &[], |row| row.get(0)).await?;
        let systems = self.systems.into_iter();
        self.books.snapshot.systems =
            systems.map(|(account, columns)| SystemRow { account, columns }).collect();
        self.books.sort();
        Ok(self.books)
    }
}

async fn read_job_holds(
    db: &dyn SqlConnection,
    part: &BooksPart,
    values: &[SqlValue<'_>],
) -> Result<Vec<JobHold>, StoreError> {
    let mut legs: HashMap<HoldId, Vec<PaymentLeg>> = HashMap::new();
    let read = db.rows(part.legs, values, |row| Ok((row.get::<HoldId>(0)?, leg_at(row)?)));
    for (hold, leg) in read.await? {
        legs.entry(hold).or_default().push(leg);
    }
    let holds = db.rows(part.holds, values, |row| {
        let hold = row.get(0)?;
        Ok(JobHold {
            hold,
            owner: row.get(1)?,
            key: held_key_at(row)?,
            legs: legs.remove(&hold).unwrap_or_default(),
            made_at: row.get(2)?,
        })
    });
    holds.await
}

fn allowance_at(row: &dyn SqlRow) -> RowResult<AllowanceRow> {
    Ok(AllowanceRow {
        owner: row.get(0)?,
        kind: row.parse(1, parse_allowance)?,
        amount: row.get(2)?,
        opened: row.get(3)?,
    })
}

fn held_key_at(row: &dyn SqlRow) -> RowResult<Option<HeldKey>> {
    let Some(key) = row.get::<Option<KeyId>>(3)? else { return Ok(None) };
    let terms = KeyTerms {
        key,
        limit_usd: row.get(4)?,
        limit_diem: row.get(5)?,
        period: row.parse(6, LimitPeriod::from_name)?,
    };
    let stamp = KeyStamp { key, day: row.get(7)?, month: row.get(8)? };
    Ok(Some(HeldKey { terms, stamp }))
}

fn leg_at(row: &dyn SqlRow) -> RowResult<PaymentLeg> {
    match account_from(row, 1)? {
        LedgerAccount::Lot(lot) => Ok(PaymentLeg { lot, amount: row.get(4)? }),
        LedgerAccount::System(system) => {
            Err(refuse_unknown(format!("a job's hold of {}", system.kind)))
        }
    }
}

fn key_spend_at(row: &dyn SqlRow) -> RowResult<KeySpendRow> {
    Ok(KeySpendRow {
        key: row.get(0)?,
        class: row.parse(1, LimitClass::from_name)?,
        day: row.get(2)?,
        day_spent: row.get(3)?,
        month: row.get(4)?,
        month_spent: row.get(5)?,
        lifetime_spent: row.get(6)?,
    })
}
