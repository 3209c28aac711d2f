//! All durable state as plain rows, for starting without reading the journal.

use moment::Timestamp;
use money::Nano;

use crate::account::{LotKey, SystemAccount};
use crate::allowance::AllowanceKind;
use crate::charge::SettledCharge;
use crate::id::{EntryId, KeyId, OwnerId};
use crate::limit::LimitClass;
use crate::record::JobHold;

/// The durable state, without request holds. Rows are in the order of their keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerSnapshot {
    /// Lots that are not closed.
    pub lots: Vec<LotRow>,
    pub systems: Vec<SystemRow>,
    pub allowances: Vec<AllowanceRow>,
    pub job_holds: Vec<JobHold>,
    pub key_spends: Vec<KeySpendRow>,
    /// Entries that should still be recognised, oldest first. May be empty: a repeated entry is
    /// then refused by the journal's unique `(entry, leg)` instead.
    pub recent: Vec<RecentRow>,
}

/// The sums of all transfers of an account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccountSums {
    pub debits: i128,
    pub credits: i128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LotRow {
    pub lot: LotKey,
    pub opened_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// Top-ups, grants, allowances and restorations, minus what was taken back.
    pub granted: Nano,
    pub columns: AccountSums,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemRow {
    pub account: SystemAccount,
    pub columns: AccountSums,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllowanceRow {
    pub owner: OwnerId,
    pub kind: AllowanceKind,
    pub amount: Nano,
    /// The newest period whose lot was opened.
    pub opened: Option<i64>,
}

/// The spending of a key in its newest day and month with spending, and in total.
///
/// To fold a [`KeySpent`] record into it: the same day adds, a later day replaces, an earlier day
/// changes nothing; likewise for the month; the lifetime always adds.
///
/// [`KeySpent`]: crate::Record::KeySpent
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySpendRow {
    pub key: KeyId,
    pub class: LimitClass,
    pub day: i64,
    pub day_spent: Nano,
    pub month: i64,
    pub month_spent: Nano,
    pub lifetime_spent: Nano,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentRow {
    pub entry: EntryId,
    pub at: Timestamp,
    /// Set if the entry was a charge.
    pub charge: Option<SettledCharge>,
}
