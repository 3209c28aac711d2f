//! Charges that became durable after their callers had been refused, and their refunds.

use ledger_core::EntryId;

use crate::state::Ledger;

/// Attempts to refund a charge, about one per second, before it is left to the operator.
const ATTEMPTS_MAX: u32 = 20;

/// The note of the refund in the usage rows.
const NOTES: &str = "Refund: charged after the request had failed";

#[derive(Debug)]
pub(crate) struct LateCharge {
    charge: EntryId,
    attempts: u32,
}

impl LateCharge {
    pub(crate) fn new(charge: EntryId) -> LateCharge {
        LateCharge { charge, attempts: 0 }
    }
}

impl Ledger {
    /// Refunds the charges whose callers were refused. A refund that fails is tried again later.
    pub(crate) async fn refund_late_charges(&self) {
        let late: Vec<EntryId> = {
            let live = self.shared.lock();
            live.late_charges.iter().map(|it| it.charge).collect()
        };
        for charge in late {
            let refunded = self.refund(charge, None, NOTES, Vec::new()).await;
            let mut live = self.shared.lock();
            let place = live.late_charges.iter().position(|it| it.charge == charge);
            let Some(place) = place else { continue };
            let id = charge.0;
            match refunded {
                Ok(_) => tracing::warn!("the charge {id} of a failed request was refunded"),
                Err(_) if live.late_charges[place].attempts < ATTEMPTS_MAX => {
                    live.late_charges[place].attempts += 1;
                    continue;
                }
                Err(error) => tracing::error!(
                    "the charge {id} of a failed request could not be refunded: {error}. Run \
                     `tollgate ledger refund {id}`"
                ),
            }
            live.late_charges.remove(place);
        }
    }
}
