//! Names and numbers of values in the database: the same in every store.

use credits::AllowanceKind;
use money::Per;

/// The number of units that a price is shown for.
pub fn units_of(per: Per) -> i64 {
    match per {
        Per::One => 1,
        Per::Thousand => 1000,
        Per::Million => 1_000_000,
    }
}

/// The inverse of [`units_of`].
pub fn per_of(units: i64) -> Option<Per> {
    [Per::One, Per::Thousand, Per::Million].into_iter().find(|per| units_of(*per) == units)
}

pub fn allowance_name(kind: AllowanceKind) -> &'static str {
    match kind {
        AllowanceKind::DiemDaily => "DIEM_DAILY",
        AllowanceKind::BundledMonthly => "BUNDLED_MONTHLY",
    }
}

/// The inverse of [`allowance_name`].
pub fn allowance(name: &str) -> Option<AllowanceKind> {
    AllowanceKind::ALL.into_iter().find(|kind| allowance_name(*kind) == name)
}
