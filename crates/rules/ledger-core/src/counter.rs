//! The amounts that a key has spent and reserved, by period.

use moment::Timestamp;
use money::Nano;

use crate::limit::{KeyStamp, LimitClass, LimitPeriod};

/// The counters of one key for both limit classes.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyCounters {
    usd: PeriodCounter,
    diem: PeriodCounter,
}

/// Counts every kind of period, regardless of the key's limits: a limit that is set or changed
/// later then knows what was spent before.
#[derive(Debug, Clone, Default)]
pub(crate) struct PeriodCounter {
    /// The newest period of each kind with spending, and others while a hold is open in them.
    buckets: Vec<PeriodSpending>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct PeriodSpending {
    pub(crate) period: LimitPeriod,
    pub(crate) number: i64,
    pub(crate) usage: KeyUsage,
    /// False for a bucket that only a hold has opened, which leaves no record in the journal.
    was_spent_in: bool,
}

/// The amounts that count against a key's limit in one period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyUsage {
    pub spent: Nano,
    /// Held by open holds.
    pub reserved: Nano,
}

impl KeyUsage {
    pub fn total(&self) -> Nano {
        self.spent.saturating_add(self.reserved)
    }
}

impl KeyCounters {
    pub(crate) fn counter(&self, class: LimitClass) -> &PeriodCounter {
        match class {
            LimitClass::Usd => &self.usd,
            LimitClass::Diem => &self.diem,
        }
    }

    pub(crate) fn counter_mut(&mut self, class: LimitClass) -> &mut PeriodCounter {
        match class {
            LimitClass::Usd => &mut self.usd,
            LimitClass::Diem => &mut self.diem,
        }
    }
}

impl PeriodCounter {
    pub(crate) fn buckets(&self) -> &[PeriodSpending] {
        &self.buckets
    }

    pub(crate) fn usage(&self, period: LimitPeriod, number: i64) -> KeyUsage {
        self.find(period, number).map(|index| self.buckets[index].usage).unwrap_or_default()
    }

    /// The newest period of a kind with spending, and the amount.
    pub(crate) fn newest_spent(&self, period: LimitPeriod) -> Option<(i64, Nano)> {
        let spent = self.buckets.iter().filter(|it| it.period == period && it.was_spent_in);
        spent.map(|it| (it.number, it.usage.spent)).max()
    }

    pub(crate) fn reserve(&mut self, stamp: &KeyStamp, amount: Nano) {
        for period in LimitPeriod::ALL {
            let usage = &mut self.open(period, stamp.period_number(period)).usage;
            usage.reserved = usage.reserved.saturating_add(amount);
        }
    }

    pub(crate) fn unreserve(&mut self, stamp: &KeyStamp, amount: Nano) {
        for period in LimitPeriod::ALL {
            let usage = &mut self.open(period, stamp.period_number(period)).usage;
            usage.reserved = usage.reserved.saturating_sub(amount);
        }
        self.drop_finished();
    }

    /// Adds spending, or a refund if `amount` is negative. Drops periods that are over and have no
    /// open hold: no hold can be made in them any more.
    pub(crate) fn add_spending(&mut self, stamp: &KeyStamp, amount: Nano) {
        for period in LimitPeriod::ALL {
            let bucket = self.open(period, stamp.period_number(period));
            bucket.was_spent_in = true;
            bucket.usage.spent = bucket.usage.spent.saturating_add(amount);
        }
        self.drop_finished();
    }

    pub(crate) fn restore_spent(&mut self, period: LimitPeriod, number: i64, spent: Nano) {
        let bucket = self.open(period, number);
        bucket.was_spent_in = true;
        bucket.usage.spent = spent;
    }

    /// Counts spending in days and months after `at` as zero spending in the current ones.
    pub(crate) fn mend_time(&mut self, at: Timestamp) {
        for (period, present) in
            [(LimitPeriod::Epoch, at.unix_day()), (LimitPeriod::Month, at.unix_month())]
        {
            let Some((newest, _)) = self.newest_spent(period) else { continue };
            if present < newest {
                self.buckets.retain(|it| it.period != period || it.number < present);
                self.restore_spent(period, present, Nano::ZERO);
            }
        }
    }

    fn find(&self, period: LimitPeriod, number: i64) -> Option<usize> {
        self.buckets.iter().position(|it| it.period == period && it.number == number)
    }

    fn open(&mut self, period: LimitPeriod, number: i64) -> &mut PeriodSpending {
        let index = self.find(period, number).unwrap_or_else(|| {
            let usage = KeyUsage::default();
            self.buckets.push(PeriodSpending { period, number, usage, was_spent_in: false });
            self.buckets.len() - 1
        });
        &mut self.buckets[index]
    }

    /// Drops the buckets of periods that are over and have no open hold.
    fn drop_finished(&mut self) {
        if self.buckets.len() <= LimitPeriod::ALL.len() {
            return;
        }
        let newest = LimitPeriod::ALL.map(|period| (period, self.newest_spent(period)));
        self.buckets.retain(|it| {
            let is_newest = newest.iter().any(|(period, spent)| {
                *period == it.period && spent.is_some_and(|(number, _)| number == it.number)
            });
            is_newest || it.usage.reserved.is_positive()
        });
    }
}
