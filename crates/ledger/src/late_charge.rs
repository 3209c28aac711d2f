//! Charges that became durable after their callers had been refused, and their refunds.

use credits::EntryId;

use crate::live::Ledger;

/// Attempts to refund a charge, about one per second, before it is left to the operator.
const ATTEMPTS_MAX: u32 = 60;

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
        let late = std::mem::take(&mut self.shared.lock().late_charges);
        for LateCharge { charge, attempts } in late {
            let id = charge.0;
            match self.refund(charge, None, NOTES, Vec::new()).await {
                Ok(_) => tracing::warn!("the charge {id} of a failed request was refunded"),
                Err(error) if attempts < ATTEMPTS_MAX => {
                    tracing::debug!("the charge {id} is not refunded yet: {error}");
                    let again = LateCharge { charge, attempts: attempts + 1 };
                    self.shared.lock().late_charges.push(again);
                }
                Err(error) => tracing::error!(
                    "the charge {id} of a failed request could not be refunded: {error}. Run \
                     `tollgate ledger refund {id}`"
                ),
            }
        }
    }
}
