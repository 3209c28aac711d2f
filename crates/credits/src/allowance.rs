//! Allowances: money that is there anew each day or month and does not roll over.

use moment::Timestamp;
use money::{Currency, Nano};

use crate::account::{LotKey, LotTag};
use crate::id::OwnerId;

/// Which allowance: its currency and how long a period lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AllowanceKind {
    /// A stake of DIEM, anew each UTC day.
    DiemDaily,
    /// A plan's bundled credits, anew each UTC month.
    BundledMonthly,
}

/// What an owner gets each period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Allowance {
    pub(crate) amount: Nano,
    /// The newest period whose lot was opened. Older periods never open again, even if the clock
    /// is set back.
    pub(crate) opened: Option<i64>,
}

impl AllowanceKind {
    pub const ALL: [AllowanceKind; 2] = [AllowanceKind::DiemDaily, AllowanceKind::BundledMonthly];

    pub const fn currency(self) -> Currency {
        match self {
            AllowanceKind::DiemDaily => Currency::Diem,
            AllowanceKind::BundledMonthly => Currency::Bundled,
        }
    }

    /// The allowance that is paid in `currency`, if there is one.
    pub fn of(currency: Currency) -> Option<AllowanceKind> {
        AllowanceKind::ALL.into_iter().find(|kind| kind.currency() == currency)
    }

    /// The number of the period that `now` is in.
    pub fn period(self, now: Timestamp) -> i64 {
        match self {
            AllowanceKind::DiemDaily => now.day(),
            AllowanceKind::BundledMonthly => now.month(),
        }
    }

    pub fn ends_at(self, period: i64) -> Timestamp {
        match self {
            AllowanceKind::DiemDaily => Timestamp::start_of_day(period + 1),
            AllowanceKind::BundledMonthly => Timestamp::start_of_month(period + 1),
        }
    }

    pub fn lot(self, owner: OwnerId, period: i64) -> LotKey {
        let tag = match self {
            AllowanceKind::DiemDaily => LotTag::Day(period),
            AllowanceKind::BundledMonthly => LotTag::Month(period),
        };
        LotKey { owner, currency: self.currency(), tag }
    }
}
