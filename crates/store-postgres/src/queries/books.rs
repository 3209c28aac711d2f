//! Queries about money: balances, the journal, and an owner's statement.

use std::collections::{BTreeMap, HashMap};

use credits::{
    Account, AllowanceRow, Columns, EntryId, HeldKey, HoldId, JobHold, KeyId, KeySpendRow,
    KeyStamp, KeyTerms, Leg, LimitClass, LimitPeriod, LotRow, OwnerId, SystemAccount, SystemRow,
};
use money::{Currency, Nano};
use store::journal::{Books, ENTRIES_MAX, Entry};
use store::names::allowance;
use store::statement::Statement;
use store::{BookStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::Postgres;
use crate::columns::{get, nano, nano_or_none, parsed, time, time_or_none, unknown};
use crate::error::PgError;
use crate::queries::journal::{account_at, entries_after, entries_of, given_credit, is_recorded};
use crate::queries::statement::statement;
use crate::session::{Session, Values};

impl BookStore for Postgres {
    fn load(&self) -> StoreFuture<'_, Books> {
        self.ask_settled(async |db| open_books(&db).await)
    }

    fn statement(&self, owner: OwnerId, skip: usize, size: usize) -> StoreFuture<'_, Statement> {
        self.ask_at_once(async move |db| statement(&db, owner, skip, size).await)
    }

    fn journal(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<Entry>> {
        let full = limit.min(ENTRIES_MAX);
        Box::pin(async move {
            let page = self.ask(async move |db| entries_after(&db, after_seq, limit).await).await?;
            let last = page.last().map_or(0, |entry| entry.seq);
            if page.len() == full && self.settled_transfers.covers(last) {
                return Ok(page);
            }
            let page = self
                .ask_settled(async move |db| entries_after(&db, after_seq, limit).await)
                .await?;
            self.settled_transfers.note(page.last().map_or(0, |entry| entry.seq));
            Ok(page)
        })
    }

    fn transfers(&self, entry: EntryId) -> StoreFuture<'_, Vec<Entry>> {
        self.ask(async move |db| entries_of(&db, entry).await)
    }

    fn is_recorded(&self, entry: EntryId) -> StoreFuture<'_, bool> {
        self.ask_soon(async move |db| is_recorded(&db, entry).await)
    }

    fn given_credit(&self, owner: OwnerId, currency: Currency) -> StoreFuture<'_, Nano> {
        self.ask(async move |db| given_credit(&db, owner, currency).await)
    }

    fn changed_books(&self, after_seq: i64) -> StoreFuture<'_, Books> {
        Box::pin(async move {
            let changed =
                self.ask_settled(async move |db| changed_books(&db, after_seq).await).await?;
            self.settled_transfers.note(changed.last_seq);
            Ok(changed)
        })
    }

    fn trial_balance(&self) -> StoreFuture<'_, Books> {
        self.ask_settled(async |db| trial_balance(&db).await)
    }
}

/// Excludes closed lots, so that a start does not slow down with the number of past days.
async fn open_books(db: &Session) -> Result<Books, PgError> {
    let open = Part { accounts: "WHERE NOT is_closed", ..Part::ALL };
    read(db, &open, &[]).await
}

pub(crate) async fn trial_balance(db: &Session) -> Result<Books, PgError> {
    read(db, &Part::ALL, &[]).await
}

/// One owner's part of the books: its open lots, its allowances, the holds of its jobs and the
/// spending of its keys.
pub(crate) async fn of_owner(db: &Session, owner: OwnerId) -> Result<Books, PgError> {
    let part = Part {
        accounts: "WHERE owner = $1 AND NOT is_closed",
        allowances: "WHERE owner = $1",
        holds: "WHERE job_hold.owner = $1",
        spends: "WHERE key IN (SELECT id FROM api_key WHERE owner = $1)",
    };
    read(db, &part, &[&owner.0]).await
}

/// Reads the accounts only. Closed ones are included only if the journal has moved them since.
async fn changed_books(db: &Session, after_seq: i64) -> Result<Books, PgError> {
    let mut reading = Reading::default();
    reading.accounts(db, "WHERE NOT is_closed", &[]).await?;
    let touched = "WHERE is_closed AND id IN (SELECT debit FROM transfer WHERE $1 < seq \
                   UNION SELECT credit FROM transfer WHERE $1 < seq)";
    reading.accounts(db, touched, &[&after_seq]).await?;
    reading.finish(db).await
}

/// The `WHERE` clauses for the rows to read.
struct Part {
    accounts: &'static str,
    allowances: &'static str,
    holds: &'static str,
    spends: &'static str,
}

impl Part {
    const ALL: Part = Part { accounts: "", allowances: "", holds: "", spends: "" };
}

async fn read(db: &Session, part: &Part, values: Values<'_>) -> Result<Books, PgError> {
    let mut reading = Reading::default();
    reading.accounts(db, part.accounts, values).await?;
    let snapshot = &mut reading.books.snapshot;
    snapshot.allowances = allowances(db, part.allowances, values).await?;
    snapshot.job_holds = job_holds(db, part.holds, values).await?;
    snapshot.key_spends = key_spends(db, part.spends, values).await?;
    reading.finish(db).await
}

#[derive(Default)]
struct Reading {
    books: Books,
    /// The sums over all nodes, each of which has its own row.
    systems: BTreeMap<SystemAccount, Columns>,
}

impl Reading {
    async fn accounts(
        &mut self,
        db: &Session,
        which: &str,
        values: Values<'_>,
    ) -> Result<(), PgError> {
        let sql = format!(
            "SELECT owner, currency, name, opened_ms, expires_ms, granted, debits, credits, pending \
             FROM account {which}"
        );
        db.each(&sql, values, |row| self.add(row)).await
    }

    fn add(&mut self, row: &Row) -> Result<(), PgError> {
        let (debits, credits): (i64, i64) = (get(row, 6)?, get(row, 7)?);
        let columns = Columns { debits: debits.into(), credits: credits.into() };
        match account_at(row, 0)? {
            Account::System(account) => {
                let sum = self.systems.entry(account).or_default();
                sum.debits += columns.debits;
                sum.credits += columns.credits;
            }
            Account::Lot(lot) => {
                self.books.snapshot.lots.push(LotRow {
                    lot,
                    opened_at: time(row, 3)?,
                    expires_at: time_or_none(row, 4)?,
                    granted: nano(row, 5)?,
                    columns,
                });
                let pending = nano(row, 8)?;
                if pending != Nano::ZERO {
                    self.books.pending.push((lot, pending));
                }
            }
        }
        Ok(())
    }

    async fn finish(mut self, db: &Session) -> Result<Books, PgError> {
        let last_seq = db.one("SELECT coalesce(max(seq), 0) FROM transfer", &[]).await?;
        self.books.last_seq = get(&last_seq, 0)?;
        let systems = self.systems.into_iter();
        self.books.snapshot.systems =
            systems.map(|(account, columns)| SystemRow { account, columns }).collect();
        self.books.sort();
        Ok(self.books)
    }
}

async fn allowances(
    db: &Session,
    which: &str,
    values: Values<'_>,
) -> Result<Vec<AllowanceRow>, PgError> {
    let sql = format!("SELECT owner, kind, amount, opened_period FROM allowance {which}");
    let allowance = |row| {
        Ok(AllowanceRow {
            owner: OwnerId(get(row, 0)?),
            kind: parsed(row, 1, allowance)?,
            amount: nano(row, 2)?,
            opened: get(row, 3)?,
        })
    };
    db.rows(&sql, values).await?.iter().map(allowance).collect()
}

async fn job_holds(db: &Session, which: &str, values: Values<'_>) -> Result<Vec<JobHold>, PgError> {
    let sql = format!(
        "SELECT hold, account.owner, account.currency, account.name, amount FROM job_hold_leg \
         JOIN job_hold ON job_hold.id = job_hold_leg.hold \
         JOIN account ON account.id = job_hold_leg.account {which} ORDER BY hold, position"
    );
    let mut legs: HashMap<Uuid, Vec<Leg>> = HashMap::new();
    for row in db.rows(&sql, values).await? {
        legs.entry(get(&row, 0)?).or_default().push(leg_at(&row)?);
    }
    let sql = format!(
        "SELECT id, owner, made_ms, key, limit_usd, limit_diem, limit_period, key_day, key_month \
         FROM job_hold {which}"
    );
    let mut holds = Vec::new();
    for row in db.rows(&sql, values).await? {
        let hold: Uuid = get(&row, 0)?;
        holds.push(JobHold {
            hold: HoldId(hold),
            owner: OwnerId(get(&row, 1)?),
            key: held_key_at(&row)?,
            legs: legs.remove(&hold).unwrap_or_default(),
            made_at: time(&row, 2)?,
        });
    }
    Ok(holds)
}

fn held_key_at(row: &Row) -> Result<Option<HeldKey>, PgError> {
    let key: Option<Uuid> = get(row, 3)?;
    let Some(key) = key.map(KeyId) else { return Ok(None) };
    let terms = KeyTerms {
        key,
        limit_usd: nano_or_none(row, 4)?,
        limit_diem: nano_or_none(row, 5)?,
        period: parsed(row, 6, LimitPeriod::from_name)?,
    };
    let stamp = KeyStamp { key, day: get(row, 7)?, month: get(row, 8)? };
    Ok(Some(HeldKey { terms, stamp }))
}

fn leg_at(row: &Row) -> Result<Leg, PgError> {
    match account_at(row, 1)? {
        Account::Lot(lot) => Ok(Leg { lot, amount: nano(row, 4)? }),
        Account::System(system) => Err(unknown(format!("a job's hold of {}", system.kind))),
    }
}

async fn key_spends(
    db: &Session,
    which: &str,
    values: Values<'_>,
) -> Result<Vec<KeySpendRow>, PgError> {
    let sql = format!(
        "SELECT key, class, day, day_spent, month, month_spent, lifetime_spent FROM key_spend \
         {which}"
    );
    let spend = |row| {
        Ok(KeySpendRow {
            key: KeyId(get(row, 0)?),
            class: parsed(row, 1, LimitClass::from_name)?,
            day: get(row, 2)?,
            day_spent: nano(row, 3)?,
            month: get(row, 4)?,
            month_spent: nano(row, 5)?,
            lifetime_spent: nano(row, 6)?,
        })
    };
    db.rows(&sql, values).await?.iter().map(spend).collect()
}
