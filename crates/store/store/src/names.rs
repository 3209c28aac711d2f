//! Names and numbers of values in the database: the same in every store.

use ledger_core::AllowanceKind;
use money::PriceUnits;

/// The number of units that a price is shown for.
pub fn units_of(per: PriceUnits) -> i64 {
    match per {
        PriceUnits::One => 1,
        PriceUnits::Thousand => 1000,
        PriceUnits::Million => 1_000_000,
    }
}

/// The inverse of [`units_of`].
pub fn per_of(units: i64) -> Option<PriceUnits> {
    [PriceUnits::One, PriceUnits::Thousand, PriceUnits::Million]
        .into_iter()
        .find(|per| units_of(*per) == units)
}

pub fn allowance_name(kind: AllowanceKind) -> &'static str {
    match kind {
        AllowanceKind::DiemDaily => "DIEM_DAILY",
        AllowanceKind::BundledMonthly => "BUNDLED_MONTHLY",
    }
}

/// The inverse of [`allowance_name`].
pub fn parse_allowance(name: &str) -> Option<AllowanceKind> {
    AllowanceKind::ALL.into_iter().find(|kind| allowance_name(*kind) == name)
}
