//! Allowances: money that is granted each day or month and does not roll over.

use moment::Timestamp;
use money::{BalanceCurrency, Nano};

use crate::account::{LotKey, LotTag};
use crate::id::OwnerId;

/// The kinds of allowances; each has a currency and a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AllowanceKind {
    /// The DIEM of a stake, renewed each UTC day.
    DiemDaily,
    /// A plan's bundled credits, renewed each UTC month.
    BundledMonthly,
}

/// The amount that an owner gets each period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PeriodAllowance {
    pub(crate) amount: Nano,
    /// The newest period whose lot was opened. Older periods never open again, even if the clock
    /// is set back.
    pub(crate) opened: Option<i64>,
}

impl AllowanceKind {
    pub const ALL: [AllowanceKind; 2] = [AllowanceKind::DiemDaily, AllowanceKind::BundledMonthly];

    pub const fn currency(self) -> BalanceCurrency {
        match self {
            AllowanceKind::DiemDaily => BalanceCurrency::Diem,
            AllowanceKind::BundledMonthly => BalanceCurrency::Bundled,
        }
    }

    /// The allowance in `currency`, if there is one.
    pub fn from_currency(currency: BalanceCurrency) -> Option<AllowanceKind> {
        AllowanceKind::ALL.into_iter().find(|kind| kind.currency() == currency)
    }

    /// The number of the period that `now` is in.
    pub fn period(self, now: Timestamp) -> i64 {
        match self {
            AllowanceKind::DiemDaily => now.unix_day(),
            AllowanceKind::BundledMonthly => now.unix_month(),
        }
    }

    pub fn ends_at(self, period: i64) -> Timestamp {
        match self {
            AllowanceKind::DiemDaily => Timestamp::start_of_day(period + 1),
            AllowanceKind::BundledMonthly => Timestamp::start_of_month(period + 1),
        }
    }

    pub fn lot_key(self, owner: OwnerId, period: i64) -> LotKey {
        let tag = match self {
            AllowanceKind::DiemDaily => LotTag::Day(period),
            AllowanceKind::BundledMonthly => LotTag::Month(period),
        };
        LotKey { owner, currency: self.currency(), tag }
    }
}
