//! Sums that a transaction changes, accumulated in memory and written once before it commits.
//!
//! A batch of a thousand charges changes the revenue account a thousand times; on disk it changes
//! once. The constraints then check the final state of the transaction.

use hashbrown::HashMap;
use ledger_core::{KeyId, KeyStamp, LedgerTransfer, LimitClass, OwnerId};
use money::BalanceCurrency;

use crate::error::StoreError;
use crate::rpc::{RPC_SKU_PREFIX, quarter_index};
use crate::session_sums::{SessionChange, SessionDayKey, SessionSums};
use crate::usage::UsageRow;

/// The accumulated sums. `A` is the store's identifier of an account.
#[derive(Debug)]
pub struct TransactionSums<'batch, A> {
    accounts: HashMap<A, AccountChange>,
    spends: HashMap<SpendKey, i128>,
    days: HashMap<DayKey<'batch>, DayChange>,
    sessions: SessionSums,
    touches: HashMap<KeyId, i64>,
    /// Credits of the JSON-RPC proxy, by quarter of an hour.
    rpc_spent: HashMap<QuarterKey, i128>,
}

/// All sums, in the order of the tables.
#[derive(Debug)]
pub struct SortedSums<'batch, A> {
    pub accounts: Vec<(A, AccountChange)>,
    pub spends: Vec<(SpendKey, i128)>,
    pub days: Vec<(DayKey<'batch>, DayChange)>,
    pub sessions: Vec<(SessionDayKey, SessionChange)>,
    /// The last use of each key, in milliseconds.
    pub touches: Vec<(KeyId, i64)>,
    pub rpc_spent: Vec<(QuarterKey, i128)>,
}

/// The changes of one account in a transaction.
#[derive(Debug, Default)]
pub struct AccountChange {
    pub debits: i128,
    pub credits: i128,
    pub pending: i128,
    pub granted: i128,
    pub closes: bool,
}

/// Identifies a sum of spending: an API key in a day and month, and a class of currencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpendKey {
    pub stamp: KeyStamp,
    pub class: LimitClass,
}

/// Identifies a sum of the JSON-RPC proxy's credits. Sorts in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuarterKey {
    /// The quarter of an hour, counted from 1970.
    pub quarter: i64,
    pub owner: OwnerId,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct DayKey<'batch> {
    pub owner: OwnerId,
    pub day: i64,
    pub currency: BalanceCurrency,
    pub key: Option<KeyId>,
    pub model: &'batch str,
    pub sku: &'batch str,
}

#[derive(Debug, Default)]
pub struct DayChange {
    pub rows: i64,
    pub units: i128,
    pub amount: i128,
}

/// The spending of one key in one class: the newest day and month among its spends, the amounts in
/// them, and the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpendChange {
    pub key: KeyId,
    pub class: LimitClass,
    pub day: i64,
    pub day_spent: i128,
    pub month: i64,
    pub month_spent: i128,
    pub lifetime_spent: i128,
}

impl<A> Default for TransactionSums<'_, A> {
    fn default() -> Self {
        TransactionSums {
            accounts: HashMap::new(),
            spends: HashMap::new(),
            days: HashMap::new(),
            sessions: SessionSums::default(),
            touches: HashMap::new(),
            rpc_spent: HashMap::new(),
        }
    }
}

impl<'batch, A: Copy + Eq + Ord + std::hash::Hash> TransactionSums<'batch, A> {
    pub fn account(&mut self, account: A) -> &mut AccountChange {
        self.accounts.entry(account).or_default()
    }

    pub fn add_transfer(&mut self, debit: A, credit: A, transfer: &LedgerTransfer) {
        let nanos = i128::from(transfer.amount.nanos());
        self.account(debit).debits += nanos;
        self.account(credit).credits += nanos;
        if transfer.code.counts_as_granted() {
            self.account(credit).granted += nanos;
        }
        if transfer.code.counts_as_taken_back() {
            self.account(debit).granted -= nanos;
        }
    }

    pub fn add_spend(&mut self, stamp: KeyStamp, class: LimitClass, nanos: i64) {
        *self.spends.entry(SpendKey { stamp, class }).or_default() += i128::from(nanos);
    }

    pub fn add_usage(&mut self, row: &'batch UsageRow) {
        let key = DayKey {
            owner: row.owner,
            day: row.at.unix_day(),
            currency: row.currency,
            key: row.key,
            model: &row.model,
            sku: &row.sku,
        };
        let change = self.days.entry(key).or_default();
        change.rows += 1;
        change.units += i128::from(row.units);
        change.amount += i128::from(row.amount.nanos());
        self.sessions.add_row(row);
        if row.sku.starts_with(RPC_SKU_PREFIX) {
            let key = QuarterKey { quarter: quarter_index(row.at), owner: row.owner };
            *self.rpc_spent.entry(key).or_default() += i128::from(row.units);
        }
    }

    pub fn touch(&mut self, key: KeyId, at_ms: i64) {
        let latest = self.touches.entry(key).or_insert(at_ms);
        *latest = at_ms.max(*latest);
    }

    /// Sorts the sums in the order of the tables, so that neighbouring rows are changed one after
    /// the other.
    pub fn into_sorted(self) -> SortedSums<'batch, A> {
        SortedSums {
            accounts: sort_by_key(self.accounts, |account| *account),
            spends: sort_by_key(self.spends, |key| (key.stamp.key, key.class)),
            days: sort_by_key(self.days, |key| (key.owner, key.day)),
            sessions: self.sessions.into_sorted(),
            touches: sort_by_key(self.touches, |key| *key),
            rpc_spent: sort_by_key(self.rpc_spent, |key| *key),
        }
    }
}

impl<A> SortedSums<'_, A> {
    /// One change for each key and class, for a store that can write a row only once in a
    /// statement. Gives the same result as writing every spend by itself, in any order.
    pub fn folded_spends(&self) -> Vec<SpendChange> {
        let mut folded: Vec<SpendChange> = Vec::with_capacity(self.spends.len());
        for (SpendKey { stamp, class }, nanos) in &self.spends {
            match folded.last_mut() {
                Some(last) if (last.key, last.class) == (stamp.key, *class) => {
                    last.add(*stamp, *nanos);
                }
                _ => folded.push(SpendChange {
                    key: stamp.key,
                    class: *class,
                    day: stamp.day,
                    day_spent: *nanos,
                    month: stamp.month,
                    month_spent: *nanos,
                    lifetime_spent: *nanos,
                }),
            }
        }
        folded
    }
}

impl SpendChange {
    /// The same day or month adds, a later one replaces, an earlier one changes nothing.
    fn add(&mut self, stamp: KeyStamp, nanos: i128) {
        let periods = [
            (&mut self.day, &mut self.day_spent, stamp.day),
            (&mut self.month, &mut self.month_spent, stamp.month),
        ];
        for (newest, spent, period) in periods {
            if *newest < period {
                (*newest, *spent) = (period, nanos);
            } else if *newest == period {
                *spent += nanos;
            }
        }
        self.lifetime_spent += nanos;
    }
}

fn sort_by_key<K, V, O: Ord>(sums: HashMap<K, V>, order: impl Fn(&K) -> O) -> Vec<(K, V)> {
    let mut sums: Vec<(K, V)> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|(key, _)| order(key));
    sums
}

/// Converts a sum to the database's type.
pub fn to_database_sum(sum: i128) -> Result<i64, StoreError> {
    i64::try_from(sum).map_err(|_| StoreError::Refused("a sum does not fit into 64 bits".into()))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn spends_of_a_key_are_folded_as_if_they_were_written_one_by_one() {
        let key = KeyId(Uuid::from_u128(1));
        let mut sums: TransactionSums<'_, i64> = TransactionSums::default();
        for (day, month, nanos) in [(11, 1, 1), (10, 1, 5), (31, 2, 4), (11, 1, 2), (31, 2, 3)] {
            sums.add_spend(KeyStamp { key, day, month }, LimitClass::Usd, nanos);
        }
        sums.add_spend(KeyStamp { key, day: 9, month: 1 }, LimitClass::Diem, 6);
        let folded = sums.into_sorted().folded_spends();
        let usd = SpendChange {
            key,
            class: LimitClass::Usd,
            day: 31,
            day_spent: 7,
            month: 2,
            month_spent: 7,
            lifetime_spent: 15,
        };
        let diem = SpendChange {
            class: LimitClass::Diem,
            day: 9,
            day_spent: 6,
            month: 1,
            month_spent: 6,
            lifetime_spent: 6,
            ..usd
        };
        assert_eq!(folded, [usd, diem]);
    }
}
