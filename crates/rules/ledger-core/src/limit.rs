//! Limits on the spending of one API key per period.

use moment::Timestamp;
use money::{BalanceCurrency, Nano};

use crate::id::KeyId;

/// The limits of a key when it asks for a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyTerms {
    pub key: KeyId,
    pub limit_usd: Option<Nano>,
    pub limit_diem: Option<Nano>,
    pub period: LimitPeriod,
}

/// The period after which a limit starts over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitPeriod {
    /// A UTC day.
    Epoch,
    /// A UTC month.
    Month,
    Lifetime,
}

/// The currencies that a limit covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitClass {
    /// USD, bundled credits and VCU.
    Usd,
    Diem,
}

/// The day and month in which a key made a hold. Its spending counts in these periods, however late
/// it settles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyStamp {
    pub key: KeyId,
    pub day: i64,
    pub month: i64,
}

impl KeyTerms {
    pub fn limit(&self, class: LimitClass) -> Option<Nano> {
        match class {
            LimitClass::Usd => self.limit_usd,
            LimitClass::Diem => self.limit_diem,
        }
    }
}

impl LimitPeriod {
    pub const ALL: [LimitPeriod; 3] =
        [LimitPeriod::Epoch, LimitPeriod::Month, LimitPeriod::Lifetime];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            LimitPeriod::Epoch => "EPOCH",
            LimitPeriod::Month => "MONTH",
            LimitPeriod::Lifetime => "LIFETIME",
        }
    }

    pub fn from_name(name: &str) -> Option<LimitPeriod> {
        LimitPeriod::ALL.into_iter().find(|period| period.name() == name)
    }

    /// The end of the period that `now` is in; None for a lifetime.
    pub fn resets_at(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            LimitPeriod::Epoch => Some(Timestamp::start_of_day(now.unix_day() + 1)),
            LimitPeriod::Month => Some(Timestamp::start_of_month(now.unix_month() + 1)),
            LimitPeriod::Lifetime => None,
        }
    }
}

impl LimitClass {
    pub const ALL: [LimitClass; 2] = [LimitClass::Usd, LimitClass::Diem];

    pub const fn from_currency(currency: BalanceCurrency) -> LimitClass {
        match currency {
            BalanceCurrency::Diem => LimitClass::Diem,
            BalanceCurrency::Usd | BalanceCurrency::Bundled | BalanceCurrency::Vcu => {
                LimitClass::Usd
            }
        }
    }

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            LimitClass::Usd => "USD",
            LimitClass::Diem => "DIEM",
        }
    }

    pub fn from_name(name: &str) -> Option<LimitClass> {
        LimitClass::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl KeyStamp {
    pub fn at(key: KeyId, now: Timestamp) -> KeyStamp {
        KeyStamp { key, day: now.unix_day(), month: now.unix_month() }
    }

    /// The stamp of a charge made at `now`. A hold that was made while the clock was ahead counts
    /// for the current periods.
    pub(crate) fn not_after(self, now: Timestamp) -> KeyStamp {
        if self.is_after(now) { KeyStamp::at(self.key, now) } else { self }
    }

    /// The stamp of a refund made at `now`. A charge that was made while the clock was ahead is in
    /// no period that still counts, so its refund goes to period zero.
    pub(crate) fn of_refund(self, now: Timestamp) -> KeyStamp {
        if self.is_after(now) { KeyStamp { day: 0, month: 0, ..self } } else { self }
    }

    fn is_after(&self, now: Timestamp) -> bool {
        now.unix_day() < self.day || now.unix_month() < self.month
    }

    /// The number of the period that the stamp falls in; a lifetime is a single period.
    pub(crate) fn period_number(&self, period: LimitPeriod) -> i64 {
        match period {
            LimitPeriod::Epoch => self.day,
            LimitPeriod::Month => self.month,
            LimitPeriod::Lifetime => 0,
        }
    }
}
