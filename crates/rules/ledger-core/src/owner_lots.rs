//! An owner's lots, in spending order, and allowances.

use moment::Timestamp;
use money::Nano;

use crate::account::{LotKey, LotTag};
use crate::allowance::{AllowanceKind, PeriodAllowance};
use crate::snapshot::AccountSums;

/// Lots that one owner can have open at a time.
pub(crate) const LOTS_PER_OWNER_MAX: usize = 1000;

#[derive(Debug, Clone, Default)]
pub(crate) struct OwnerLots {
    /// In spending order.
    lots: Vec<CreditLot>,
    diem_daily: PeriodAllowance,
    bundled_monthly: PeriodAllowance,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct CreditLot {
    pub(crate) key: LotKey,
    /// The position of the currency in the operator's spending order.
    pub(crate) rank: usize,
    pub(crate) opened_at: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) granted: Nano,
    pub(crate) columns: AccountSums,
    /// Held by open holds.
    pub(crate) pending: Nano,
}

/// The sort key of lots; the lowest is spent first.
pub(crate) type LotOrder = (usize, Timestamp, Timestamp, LotTag);

impl OwnerLots {
    pub(crate) fn lots(&self) -> &[CreditLot] {
        &self.lots
    }

    pub(crate) fn lot(&self, key: &LotKey) -> Option<&CreditLot> {
        self.lots.iter().find(|lot| lot.key == *key)
    }

    pub(crate) fn lot_mut(&mut self, key: &LotKey) -> Option<&mut CreditLot> {
        self.lots.iter_mut().find(|lot| lot.key == *key)
    }

    pub(crate) fn open(&mut self, lot: CreditLot) {
        let place = self.lots.partition_point(|other| other.sort_key() < lot.sort_key());
        self.lots.insert(place, lot);
    }

    pub(crate) fn close(&mut self, key: &LotKey) {
        self.lots.retain(|lot| lot.key != *key);
    }

    pub(crate) fn allowance(&self, kind: AllowanceKind) -> &PeriodAllowance {
        match kind {
            AllowanceKind::DiemDaily => &self.diem_daily,
            AllowanceKind::BundledMonthly => &self.bundled_monthly,
        }
    }

    pub(crate) fn allowance_mut(&mut self, kind: AllowanceKind) -> &mut PeriodAllowance {
        match kind {
            AllowanceKind::DiemDaily => &mut self.diem_daily,
            AllowanceKind::BundledMonthly => &mut self.bundled_monthly,
        }
    }

    /// True if this purse is empty, so that dropping it loses nothing.
    pub(crate) fn is_blank(&self) -> bool {
        let none = PeriodAllowance::default();
        self.lots.is_empty() && self.diem_daily == none && self.bundled_monthly == none
    }
}

impl CreditLot {
    pub(crate) fn sort_key(&self) -> LotOrder {
        lot_order(self.rank, self.expires_at, self.opened_at, self.key.tag)
    }

    /// The balance of the lot, held or not.
    pub(crate) fn balance(&self) -> Nano {
        let balance = self.columns.credits - self.columns.debits;
        i64::try_from(balance).map_or(Nano::MAX, Nano::from_nanos)
    }

    /// The amount that a new hold could take.
    pub(crate) fn available(&self) -> Nano {
        self.balance().saturating_sub(self.pending)
    }

    pub(crate) fn is_live(&self, now: Timestamp) -> bool {
        match self.expires_at {
            Some(expires_at) => now < expires_at,
            None => true,
        }
    }
}

pub(crate) fn lot_order(
    rank: usize,
    expires_at: Option<Timestamp>,
    opened_at: Timestamp,
    tag: LotTag,
) -> LotOrder {
    (rank, expires_at.unwrap_or(Timestamp::MAX), opened_at, tag)
}
