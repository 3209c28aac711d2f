//! Sums that a transaction changes, gathered in memory and written once before it commits.
//!
//! A batch of a thousand charges changes the revenue account a thousand times; on disk it changes
//! once. The constraints then judge the state that the transaction leaves behind.

use credits::{KeyId, KeyStamp, LimitClass, OwnerId};
use hashbrown::HashMap;
use money::Currency;
use rusqlite::{Connection, params};

use crate::error::StoreError;
use crate::rpc::RPC_SKU_PREFIX;
use crate::sqlite::owners::touch_key;
use crate::sqlite::rpc;
use crate::sqlite::writer::Fault;
use crate::usage::UsageRow;

/// After so many rows, about a third of a millisecond, it is seen who waits.
const WRITTEN_IN_ONE_GO: usize = 128;

#[derive(Debug, Default)]
pub(crate) struct Sums<'batch> {
    accounts: HashMap<i64, AccountChange>,
    spends: HashMap<(KeyStamp, LimitClass), i128>,
    days: HashMap<DayKey<'batch>, DayChange>,
    touches: HashMap<KeyId, i64>,
    /// Credits of the JSON-RPC proxy, by quarter of an hour.
    rpc_spent: HashMap<(i64, OwnerId), i128>,
}

/// What a transaction adds to one account.
#[derive(Debug, Default)]
pub(crate) struct AccountChange {
    pub(crate) debits: i128,
    pub(crate) credits: i128,
    pub(crate) pending: i128,
    pub(crate) granted: i128,
    pub(crate) closes: bool,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct DayKey<'batch> {
    owner: OwnerId,
    day: i64,
    currency: Currency,
    key: Option<KeyId>,
    model: &'batch str,
    sku: &'batch str,
}

#[derive(Debug, Default)]
struct DayChange {
    rows: i64,
    units: i128,
    amount: i128,
}

impl<'batch> Sums<'batch> {
    pub(crate) fn account(&mut self, number: i64) -> &mut AccountChange {
        self.accounts.entry(number).or_default()
    }

    pub(crate) fn add_spend(&mut self, stamp: KeyStamp, class: LimitClass, nanos: i64) {
        *self.spends.entry((stamp, class)).or_default() += i128::from(nanos);
    }

    pub(crate) fn add_usage(&mut self, row: &'batch UsageRow) {
        let key = DayKey {
            owner: row.owner,
            day: row.at.day(),
            currency: row.currency,
            key: row.key,
            model: &row.model,
            sku: &row.sku,
        };
        let change = self.days.entry(key).or_default();
        change.rows += 1;
        change.units += i128::from(row.units);
        change.amount += i128::from(row.amount.nanos());
        if row.sku.starts_with(RPC_SKU_PREFIX) {
            let quarter = rpc::quarter(row.at);
            *self.rpc_spent.entry((quarter, row.owner)).or_default() += i128::from(row.units);
        }
    }

    pub(crate) fn touch(&mut self, key: KeyId, at_ms: i64) {
        let latest = self.touches.entry(key).or_insert(at_ms);
        *latest = at_ms.max(*latest);
    }

    /// In the order of the tables, so that neighbouring rows are changed one after the other.
    pub(crate) fn write(
        self,
        connection: &Connection,
        between: &mut dyn FnMut() -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let accounts = sorted(self.accounts, |number| *number);
        for some in accounts.chunks(WRITTEN_IN_ONE_GO) {
            write_accounts(connection, some)?;
            between()?;
        }
        let spends = sorted(self.spends, |(stamp, class)| (stamp.key, *class));
        for some in spends.chunks(WRITTEN_IN_ONE_GO) {
            write_spends(connection, some)?;
            between()?;
        }
        let days = sorted(self.days, |key| (key.owner, key.day));
        for some in days.chunks(WRITTEN_IN_ONE_GO) {
            write_days(connection, some)?;
            between()?;
        }
        for (key, at_ms) in self.touches {
            touch_key(connection, key, at_ms)?;
        }
        write_rpc_spent(connection, sorted(self.rpc_spent, |key| *key))
    }
}

fn sorted<K, V, O: Ord>(sums: HashMap<K, V>, order: impl Fn(&K) -> O) -> Vec<(K, V)> {
    let mut sums: Vec<(K, V)> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|(key, _)| order(key));
    sums
}

fn write_accounts(connection: &Connection, changes: &[(i64, AccountChange)]) -> Result<(), Fault> {
    let sql = "UPDATE account SET debits = debits + ?2, credits = credits + ?3, \
               pending = pending + ?4, granted = granted + ?5, \
               is_closed = is_closed OR ?6 WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    for (number, change) in changes {
        statement.execute(params![
            number,
            fitting(change.debits)?,
            fitting(change.credits)?,
            fitting(change.pending)?,
            fitting(change.granted)?,
            change.closes
        ])?;
    }
    Ok(())
}

/// The same day or month adds, a later one replaces, an earlier one changes nothing.
fn write_spends(
    connection: &Connection,
    spends: &[((KeyStamp, LimitClass), i128)],
) -> Result<(), Fault> {
    let sql = "INSERT INTO key_spend \
               (key, class, day, day_spent, month, month_spent, lifetime_spent) \
               VALUES (?1, ?2, ?3, ?5, ?4, ?5, ?5) \
               ON CONFLICT (key, class) DO UPDATE SET \
               day_spent = CASE WHEN day < excluded.day THEN excluded.day_spent \
                   WHEN day = excluded.day THEN day_spent + excluded.day_spent \
                   ELSE day_spent END, \
               month_spent = CASE WHEN month < excluded.month THEN excluded.month_spent \
                   WHEN month = excluded.month THEN month_spent + excluded.month_spent \
                   ELSE month_spent END, \
               day = max(day, excluded.day), month = max(month, excluded.month), \
               lifetime_spent = lifetime_spent + excluded.lifetime_spent";
    let mut statement = connection.prepare_cached(sql)?;
    for ((stamp, class), nanos) in spends {
        statement.execute(params![
            stamp.key.0.as_bytes(),
            class.name(),
            stamp.day,
            stamp.month,
            fitting(*nanos)?
        ])?;
    }
    Ok(())
}

fn write_days(connection: &Connection, days: &[(DayKey<'_>, DayChange)]) -> Result<(), Fault> {
    let sql = "INSERT INTO usage_daily \
               (owner, day, currency, key, model, sku, row_count, units, amount) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
               ON CONFLICT (owner, day, currency, key, model, sku) DO UPDATE SET \
               row_count = row_count + excluded.row_count, units = units + excluded.units, \
               amount = amount + excluded.amount";
    let mut statement = connection.prepare_cached(sql)?;
    for (key, change) in days {
        let key_bytes = key.key.as_ref().map_or(&[][..], |key| key.0.as_bytes());
        statement.execute(params![
            key.owner.0.as_bytes(),
            key.day,
            key.currency.name(),
            key_bytes,
            key.model,
            key.sku,
            change.rows,
            fitting(change.units)?,
            fitting(change.amount)?
        ])?;
    }
    Ok(())
}

fn write_rpc_spent(
    connection: &Connection,
    spent: Vec<((i64, OwnerId), i128)>,
) -> Result<(), Fault> {
    let Some(((newest, _), _)) = spent.last() else { return Ok(()) };
    rpc::drop_old_spent(connection, *newest)?;
    for (quarter_of_owner, credits) in spent {
        rpc::add_spent(connection, quarter_of_owner, fitting(credits)?)?;
    }
    Ok(())
}

fn fitting(sum: i128) -> Result<i64, Fault> {
    i64::try_from(sum)
        .map_err(|_| Fault::Refused(StoreError::Refused("a sum does not fit into 64 bits".into())))
}
