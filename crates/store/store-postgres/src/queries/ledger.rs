//! Queries about money: balances, the journal, and an owner's statement.

use std::collections::{BTreeMap, HashMap};

use ledger_core::{
    AccountSums, AllowanceRow, EntryId, HeldKey, HoldId, JobHold, KeyId, KeySpendRow, KeyStamp,
    KeyTerms, LedgerAccount, LimitClass, LimitPeriod, LotRow, OwnerId, PaymentLeg, SystemAccount,
    SystemRow,
};
use money::{BalanceCurrency, Nano};
use store::journal::{ENTRIES_MAX, JournalEntry, LedgerBooks};
use store::names::parse_allowance;
use store::statement::AccountStatement;
use store::{LedgerStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::{
    read_column, read_nano, read_optional_nano, read_optional_time, read_parsed, read_time,
    refuse_unknown,
};
use crate::error::PgError;
use crate::queries::journal::{account_at, entries_after, entries_of, given_credit, is_recorded};
use crate::queries::statement::build_statement;
use crate::session::{PostgresSession, Values};

impl LedgerStore for PostgresStore {
    fn load_books(&self) -> StoreFuture<'_, LedgerBooks> {
        self.query_settled(async |db| open_books(&db).await)
    }

    fn read_statement(
        &self,
        owner: OwnerId,
        skip: usize,
        size: usize,
    ) -> StoreFuture<'_, AccountStatement> {
        self.query_snapshot(async move |db| build_statement(&db, owner, skip, size).await)
    }

    fn read_journal(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<JournalEntry>> {
        let full = limit.min(ENTRIES_MAX);
        Box::pin(async move {
            let page =
                self.query(async move |db| entries_after(&db, after_seq, limit).await).await?;
            let last = page.last().map_or(0, |entry| entry.seq);
            if page.len() == full && self.settled_transfers.covers(last) {
                return Ok(page);
            }
            let page = self
                .query_settled(async move |db| entries_after(&db, after_seq, limit).await)
                .await?;
            self.settled_transfers.raise_to(page.last().map_or(0, |entry| entry.seq));
            Ok(page)
        })
    }

    fn find_transfers(&self, entry: EntryId) -> StoreFuture<'_, Vec<JournalEntry>> {
        self.query(async move |db| entries_of(&db, entry).await)
    }

    fn is_recorded(&self, entry: EntryId) -> StoreFuture<'_, bool> {
        self.query_with_timeout(async move |db| is_recorded(&db, entry).await)
    }

    fn given_credit(&self, owner: OwnerId, currency: BalanceCurrency) -> StoreFuture<'_, Nano> {
        self.query(async move |db| given_credit(&db, owner, currency).await)
    }

    fn changed_books(&self, after_seq: i64) -> StoreFuture<'_, LedgerBooks> {
        Box::pin(async move {
            let changed =
                self.query_settled(async move |db| changed_books(&db, after_seq).await).await?;
            self.settled_transfers.raise_to(changed.last_seq);
            Ok(changed)
        })
    }

    fn trial_balance(&self) -> StoreFuture<'_, LedgerBooks> {
        self.query_settled(async |db| trial_balance(&db).await)
    }
}

/// Excludes closed lots, so that a start does not slow down with the number of past days.
async fn open_books(db: &PostgresSession) -> Result<LedgerBooks, PgError> {
    let open = BooksFilter { accounts: "WHERE NOT is_closed", ..BooksFilter::ALL };
    read_books(db, &open, &[]).await
}

pub(crate) async fn trial_balance(db: &PostgresSession) -> Result<LedgerBooks, PgError> {
    read_books(db, &BooksFilter::ALL, &[]).await
}

/// One owner's part of the books: its open lots, its allowances, the holds of its jobs and the
/// spending of its keys.
pub(crate) async fn read_owner_books(
    db: &PostgresSession,
    owner: OwnerId,
) -> Result<LedgerBooks, PgError> {
    let part = BooksFilter {
        accounts: "WHERE owner = $1 AND NOT is_closed",
        allowances: "WHERE owner = $1",
        holds: "WHERE job_hold.owner = $1",
        spends: "WHERE key IN (SELECT id FROM api_key WHERE owner = $1)",
    };
    read_books(db, &part, &[&owner.0]).await
}

/// Reads the accounts only. Closed ones are included only if the journal has moved them since.
async fn changed_books(db: &PostgresSession, after_seq: i64) -> Result<LedgerBooks, PgError> {
    let mut reading = BooksReader::default();
    reading.read_accounts(db, "WHERE NOT is_closed", &[]).await?;
    let touched = "WHERE is_closed AND id IN (SELECT debit FROM transfer WHERE $1 < seq \
                   UNION SELECT credit FROM transfer WHERE $1 < seq)";
    reading.read_accounts(db, touched, &[&after_seq]).await?;
    reading.finish(db).await
}

/// The `WHERE` clauses for the rows to read.
struct BooksFilter {
    accounts: &'static str,
    allowances: &'static str,
    holds: &'static str,
    spends: &'static str,
}

impl BooksFilter {
    const ALL: BooksFilter = BooksFilter { accounts: "", allowances: "", holds: "", spends: "" };
}

async fn read_books(
    db: &PostgresSession,
    part: &BooksFilter,
    values: Values<'_>,
) -> Result<LedgerBooks, PgError> {
    let mut reading = BooksReader::default();
    reading.read_accounts(db, part.accounts, values).await?;
    let snapshot = &mut reading.books.snapshot;
    snapshot.allowances = read_allowances(db, part.allowances, values).await?;
    snapshot.job_holds = job_holds(db, part.holds, values).await?;
    snapshot.key_spends = key_spends(db, part.spends, values).await?;
    reading.finish(db).await
}

#[derive(Default)]
struct BooksReader {
    books: LedgerBooks,
    /// The sums over all nodes, each of which has its own row.
    systems: BTreeMap<SystemAccount, AccountSums>,
}

impl BooksReader {
    async fn read_accounts(
        &mut self,
        db: &PostgresSession,
        which: &str,
        values: Values<'_>,
    ) -> Result<(), PgError> {
        let sql = format!(
            "SELECT owner, currency, name, opened_ms, expires_ms, granted, debits, credits, pending \
             FROM account {which}"
        );
        db.for_each_row(&sql, values, |row| self.add(row)).await
    }

    fn add(&mut self, row: &Row) -> Result<(), PgError> {
        let (debits, credits): (i64, i64) = (read_column(row, 6)?, read_column(row, 7)?);
        let columns = AccountSums { debits: debits.into(), credits: credits.into() };
        match account_at(row, 0)? {
            LedgerAccount::System(account) => {
                let sum = self.systems.entry(account).or_default();
                sum.debits += columns.debits;
                sum.credits += columns.credits;
            }
            LedgerAccount::Lot(lot) => {
                self.books.snapshot.lots.push(LotRow {
                    lot,
                    opened_at: read_time(row, 3)?,
                    expires_at: read_optional_time(row, 4)?,
                    granted: read_nano(row, 5)?,
                    columns,
                });
                let pending = read_nano(row, 8)?;
                if pending != Nano::ZERO {
                    self.books.pending.push((lot, pending));
                }
            }
        }
        Ok(())
    }

    async fn finish(mut self, db: &PostgresSession) -> Result<LedgerBooks, PgError> {
        let last_seq = db.single_row("SELECT coalesce(max(seq), 0) FROM transfer", &[]).await?;
        self.books.last_seq = read_column(&last_seq, 0)?;
        let systems = self.systems.into_iter();
        self.books.snapshot.systems =
            systems.map(|(account, columns)| SystemRow { account, columns }).collect();
        self.books.sort();
        Ok(self.books)
    }
}

async fn read_allowances(
    db: &PostgresSession,
    which: &str,
    values: Values<'_>,
) -> Result<Vec<AllowanceRow>, PgError> {
    let sql = format!("SELECT owner, kind, amount, opened_period FROM allowance {which}");
    let allowance = |row| {
        Ok(AllowanceRow {
            owner: OwnerId(read_column(row, 0)?),
            kind: read_parsed(row, 1, parse_allowance)?,
            amount: read_nano(row, 2)?,
            opened: read_column(row, 3)?,
        })
    };
    db.rows(&sql, values).await?.iter().map(allowance).collect()
}

async fn job_holds(
    db: &PostgresSession,
    which: &str,
    values: Values<'_>,
) -> Result<Vec<JobHold>, PgError> {
    let sql = format!(
        "SELECT hold, account.owner, account.currency, account.name, amount FROM job_hold_leg \
         JOIN job_hold ON job_hold.id = job_hold_leg.hold \
         JOIN account ON account.id = job_hold_leg.account {which} ORDER BY hold, position"
    );
    let mut legs: HashMap<Uuid, Vec<PaymentLeg>> = HashMap::new();
    for row in db.rows(&sql, values).await? {
        legs.entry(read_column(&row, 0)?).or_default().push(leg_at(&row)?);
    }
    let sql = format!(
        "SELECT id, owner, made_ms, key, limit_usd, limit_diem, limit_period, key_day, key_month \
         FROM job_hold {which}"
    );
    let mut holds = Vec::new();
    for row in db.rows(&sql, values).await? {
        let hold: Uuid = read_column(&row, 0)?;
        holds.push(JobHold {
            hold: HoldId(hold),
            owner: OwnerId(read_column(&row, 1)?),
            key: held_key_at(&row)?,
            legs: legs.remove(&hold).unwrap_or_default(),
            made_at: read_time(&row, 2)?,
        });
    }
    Ok(holds)
}

fn held_key_at(row: &Row) -> Result<Option<HeldKey>, PgError> {
    let key: Option<Uuid> = read_column(row, 3)?;
    let Some(key) = key.map(KeyId) else { return Ok(None) };
    let terms = KeyTerms {
        key,
        limit_usd: read_optional_nano(row, 4)?,
        limit_diem: read_optional_nano(row, 5)?,
        period: read_parsed(row, 6, LimitPeriod::from_name)?,
    };
    let stamp = KeyStamp { key, day: read_column(row, 7)?, month: read_column(row, 8)? };
    Ok(Some(HeldKey { terms, stamp }))
}

fn leg_at(row: &Row) -> Result<PaymentLeg, PgError> {
    match account_at(row, 1)? {
        LedgerAccount::Lot(lot) => Ok(PaymentLeg { lot, amount: read_nano(row, 4)? }),
        LedgerAccount::System(system) => {
            Err(refuse_unknown(format!("a job's hold of {}", system.kind)))
        }
    }
}

async fn key_spends(
    db: &PostgresSession,
    which: &str,
    values: Values<'_>,
) -> Result<Vec<KeySpendRow>, PgError> {
    let sql = format!(
        "SELECT key, class, day, day_spent, month, month_spent, lifetime_spent FROM key_spend \
         {which}"
    );
    let spend = |row| {
        Ok(KeySpendRow {
            key: KeyId(read_column(row, 0)?),
            class: read_parsed(row, 1, LimitClass::from_name)?,
            day: read_column(row, 2)?,
            day_spent: read_nano(row, 3)?,
            month: read_column(row, 4)?,
            month_spent: read_nano(row, 5)?,
            lifetime_spent: read_nano(row, 6)?,
        })
    };
    db.rows(&sql, values).await?.iter().map(spend).collect()
}
