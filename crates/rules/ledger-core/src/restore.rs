//! Converts a ledger from and to rows.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use money::Nano;

use crate::allowance::AllowanceKind;
use crate::command::HoldKind;
use crate::counter::{KeyCounters, PeriodCounter};
use crate::id::KeyId;
use crate::invariant::check_ledger;
use crate::ledger::{CreditLedger, LedgerRules};
use crate::limit::{LimitClass, LimitPeriod};
use crate::owner_lots::CreditLot;
use crate::record::{JobHold, JournalRecord};
use crate::snapshot::{AllowanceRow, KeySpendRow, LedgerSnapshot, LotRow, SystemRow};
use crate::violation::InvariantViolation;

impl CreditLedger {
    /// Builds the ledger from the rows of the database, and checks the invariants.
    pub fn from_snapshot(
        rules: LedgerRules,
        snapshot: LedgerSnapshot,
    ) -> Result<CreditLedger, InvariantViolation> {
        let ledger = CreditLedger::from_snapshot_unchecked(rules, snapshot)?;
        check_ledger(&ledger)?;
        Ok(ledger)
    }

    /// Builds the ledger from the rows; checks nothing but the holds of jobs.
    pub(crate) fn from_snapshot_unchecked(
        rules: LedgerRules,
        snapshot: LedgerSnapshot,
    ) -> Result<CreditLedger, InvariantViolation> {
        let mut ledger = CreditLedger::new(rules);
        for row in snapshot.lots {
            ledger.insert_lot(CreditLot {
                key: row.lot,
                rank: rules.order.rank(row.lot.currency),
                opened_at: row.opened_at,
                expires_at: row.expires_at,
                granted: row.granted,
                columns: row.columns,
                pending: Nano::ZERO,
            });
        }
        for row in snapshot.systems {
            ledger.systems.insert(row.account, row.columns);
        }
        for row in snapshot.allowances {
            let allowance = ledger.purses.entry(row.owner).or_default().allowance_mut(row.kind);
            allowance.amount = row.amount;
            allowance.opened = row.opened;
        }
        for row in snapshot.key_spends {
            let counter = ledger.keys.entry(row.key).or_default().counter_mut(row.class);
            counter.restore_spent(LimitPeriod::Epoch, row.day, row.day_spent);
            counter.restore_spent(LimitPeriod::Month, row.month, row.month_spent);
            counter.restore_spent(LimitPeriod::Lifetime, 0, row.lifetime_spent);
        }
        for row in snapshot.recent {
            ledger.recent.restore(row);
        }
        for job in snapshot.job_holds {
            ledger.replay_record(&JournalRecord::JobHeld(job))?;
        }
        Ok(ledger)
    }

    /// All durable state. Excludes the holds of requests and the amounts they hold.
    pub fn to_snapshot(&self) -> LedgerSnapshot {
        LedgerSnapshot {
            lots: self.lot_rows(),
            systems: self.system_rows(),
            allowances: self.allowance_rows(),
            job_holds: self.job_holds(),
            key_spends: key_spend_rows(&self.keys),
            recent: self.recent.rows(),
        }
    }

    fn lot_rows(&self) -> Vec<LotRow> {
        let lots = self.purses.values().flat_map(|purse| purse.lots());
        let mut rows: Vec<LotRow> = lots
            .map(|lot| LotRow {
                lot: lot.key,
                opened_at: lot.opened_at,
                expires_at: lot.expires_at,
                granted: lot.granted,
                columns: lot.columns,
            })
            .collect();
        rows.sort_by_key(|row| row.lot);
        rows
    }

    fn system_rows(&self) -> Vec<SystemRow> {
        let systems = self.systems.iter();
        systems
            .map(|(account, columns)| SystemRow { account: account.clone(), columns: *columns })
            .collect()
    }

    fn allowance_rows(&self) -> Vec<AllowanceRow> {
        let owners: BTreeSet<_> = self.purses.keys().copied().collect();
        let mut rows = Vec::new();
        for owner in owners {
            for kind in AllowanceKind::ALL {
                let allowance = self.purses[&owner].allowance(kind);
                let was_set = allowance.amount.is_positive() || allowance.opened.is_some();
                if was_set {
                    let (amount, opened) = (allowance.amount, allowance.opened);
                    rows.push(AllowanceRow { owner, kind, amount, opened });
                }
            }
        }
        rows
    }

    fn job_holds(&self) -> Vec<JobHold> {
        let jobs = self.holds.iter().filter(|(_, hold)| hold.kind == HoldKind::Job);
        let mut rows: Vec<_> = jobs.map(|(id, hold)| hold.clone().into_record(*id)).collect();
        rows.sort_by_key(|job| job.hold);
        rows
    }
}

/// The spending of keys as rows, ordered by key and class.
pub(crate) fn key_spend_rows(keys: &HashMap<KeyId, KeyCounters>) -> Vec<KeySpendRow> {
    let mut rows = Vec::new();
    for (key, counters) in keys {
        for class in LimitClass::ALL {
            rows.extend(key_spend_row(*key, class, counters.counter(class)));
        }
    }
    rows.sort_by_key(|row| (row.key, row.class));
    rows
}

fn key_spend_row(key: KeyId, class: LimitClass, counter: &PeriodCounter) -> Option<KeySpendRow> {
    let (day, day_spent) = counter.newest_spent(LimitPeriod::Epoch)?;
    let (month, month_spent) = counter.newest_spent(LimitPeriod::Month)?;
    let (_, lifetime_spent) = counter.newest_spent(LimitPeriod::Lifetime)?;
    Some(KeySpendRow { key, class, day, day_spent, month, month_spent, lifetime_spent })
}
