//! Checks that pending amounts equal the holds of jobs, and that a charge ended its job's hold.

use std::collections::BTreeMap;

use credits::{Invariant, LotKey, Payer, Snapshot, Violation};
use money::Nano;
use store::Store;
use store::journal::Books;

use crate::error::LedgerError;
use crate::job::Job;

/// Violations where the amount pending on a lot differs from what open jobs hold of it.
pub(super) fn pending(books: &Books) -> Vec<Violation> {
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
            Invariant::Pending.broken(format!("{lot}: {pending} is pending and jobs hold {held}"))
        })
        .collect()
}

/// Violations where a job was charged and its hold is still open.
pub(super) async fn charged_while_held(
    store: &dyn Store,
    snapshot: &Snapshot,
) -> Result<Vec<Violation>, LedgerError> {
    let mut violations = Vec::new();
    for hold in &snapshot.job_holds {
        let payer = Payer { owner: hold.owner, key: None };
        let charge = Job { hold: hold.hold, payer }.charge();
        if store.is_recorded(charge).await? {
            let words = format!("hold {} is open, and charge {} ended it", hold.hold.0, charge.0);
            violations.push(Invariant::HoldEndsOnce.broken(words));
        }
    }
    Ok(violations)
}
