//! Checks that pending amounts equal the holds of jobs, and that a charge ended its job's hold.

use std::collections::BTreeMap;

use ledger_core::{HoldPayer, InvariantViolation, LedgerInvariant, LedgerSnapshot, LotKey};
use money::Nano;
use store::Store;
use store::journal::LedgerBooks;

use crate::error::LedgerError;
use crate::job::LedgerJob;

/// Violations where the amount pending on a lot differs from what open jobs hold of it.
pub(super) fn check_pending(books: &LedgerBooks) -> Vec<InvariantViolation> {
    let mut held: BTreeMap<LotKey, Nano> = BTreeMap::new();
    for leg in books.snapshot.job_holds.iter().flat_map(|hold| &hold.legs) {
        let sum = held.entry(leg.lot).or_default();
        *sum = sum.saturating_add(leg.amount);
    }
    let pending: BTreeMap<LotKey, Nano> = books.pending.iter().copied().collect();
    let mut lots: Vec<&LotKey> = held.keys().chain(pending.keys()).collect();
    lots.sort();
    lots.dedup();
    lots.into_iter()
        .filter(|lot| held.get(lot) != pending.get(lot))
        .map(|lot| {
            let held = held.get(lot).copied().unwrap_or_default();
            let pending = pending.get(lot).copied().unwrap_or_default();
            LedgerInvariant::Pending
                .violation(format!("{lot}: {pending} is pending and jobs hold {held}"))
        })
        .collect()
}

/// Violations where a job was charged and its hold is still open.
pub(super) async fn charged_while_held(
    store: &dyn Store,
    snapshot: &LedgerSnapshot,
) -> Result<Vec<InvariantViolation>, LedgerError> {
    let mut violations = Vec::new();
    for hold in &snapshot.job_holds {
        let payer = HoldPayer { owner: hold.owner, key: None };
        let charge = LedgerJob { hold: hold.hold, payer }.charge_id();
        if store.is_recorded(charge).await? {
            let words = format!("hold {} is open, and charge {} ended it", hold.hold.0, charge.0);
            violations.push(LedgerInvariant::HoldEndsOnce.violation(words));
        }
    }
    Ok(violations)
}
