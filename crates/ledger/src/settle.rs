//! Settling: the work is done, its cost is charged, and the rest of the hold is released.

use std::sync::Arc;
use std::time::Duration;

use credits::{Command, EntryId, HoldKind, Outcome, Receipt, Rejection, Want};
use money::Cost;
use store::write::Write;
use tokio::time::timeout;

use crate::charge::Charge;
use crate::error::{HoldRefused, LedgerError};
use crate::hold::Hold;
use crate::live::{Ledger, Live, Shared};
use crate::uncharged::UnchargedWork;
use crate::watch::Watched;

/// Records of the usual charge, paid by one lot through a key: a transfer and the key's counter.
const RECORDS_USUAL: usize = 2;

/// Time until the caller of a request is refused whose charge has no known outcome: a commit was
/// sent, and the database is unreachable since.
const OUTCOME_MAX: Duration = Duration::from_secs(18);

impl Ledger {
    /// Charges the cost of the work, at most once: the charge has the id of its hold.
    ///
    /// The charge is decided and handed to the store by the call itself; the future resolves once
    /// it is durable. Dropping the future does not undo the charge. A cost of zero writes nothing.
    ///
    /// If the store does not answer in time, the caller is refused. The charge is refunded should it
    /// become durable later.
    pub fn settle(
        &self,
        hold: Hold,
        charge: Charge,
    ) -> impl Future<Output = Result<Receipt, LedgerError>> + Send + use<> {
        let decided = self.decide_watched(hold, charge, Vec::new());
        async move {
            let (receipt, watched) = decided?;
            let Some(mut watched) = watched else { return Ok(receipt) };
            match timeout(OUTCOME_MAX, &mut watched).await {
                Ok(outcome) => outcome.map(|()| receipt),
                Err(_) => {
                    watched.refund_if_durable(receipt.charge);
                    Err(LedgerError::Unavailable)
                }
            }
        }
    }

    /// Settles, and writes more rows together with the charge: all of them or none.
    ///
    /// If the store refuses a row, the charge is lost with it and the ledger pauses, so `also` is
    /// for rows that cannot be refused.
    pub fn settle_with(
        &self,
        hold: Hold,
        charge: Charge,
        also: Vec<Write>,
    ) -> impl Future<Output = Result<Receipt, LedgerError>> + Send + use<> {
        let decided = self.decide_watched(hold, charge, also);
        async move {
            let (receipt, watched) = decided?;
            if let Some(watched) = watched {
                watched.await?;
            }
            Ok(receipt)
        }
    }

    /// Decides the charge. If it fails, now or when it is written, the work is recorded as
    /// uncharged.
    fn decide_watched(
        &self,
        hold: Hold,
        charge: Charge,
        also: Vec<Write>,
    ) -> Result<(Receipt, Option<Watched>), LedgerError> {
        let work = UnchargedWork::of(&charge);
        let decided = self.decide(hold, charge, also);
        if let (Err(error), Some(work)) = (&decided, &work) {
            work.note(error);
        }
        decided.map(|(receipt, watched)| (receipt, watched.map(|watched| watched.charging(work))))
    }

    fn decide(
        &self,
        mut hold: Hold,
        charge: Charge,
        also: Vec<Write>,
    ) -> Result<(Receipt, Option<Watched>), LedgerError> {
        // An error from here on drops the hold, which releases it: after the lock, which is
        // declared later and so dropped first.
        let draft = charge.draft(&hold.payer).map_err(|_| Rejection::InvalidAmount)?;
        let writes = Vec::with_capacity(RECORDS_USUAL + draft.len() + also.len());
        let mut live = self.shared.lock();
        if live.generation != hold.generation {
            hold.close();
            hold_again(&self.shared, &mut live, &hold)?;
        }
        let entry = EntryId(hold.id.0);
        let command = Command::Settle { entry, hold: hold.id, cost: draft.total() };
        let settled = self.shared.carry_out(&mut live, &command, writes, |applied, now, writes| {
            if let Outcome::Settled(receipt) = &applied.outcome {
                writes.extend(draft.paid(receipt, now).into_iter().map(Write::AddUsage));
            }
            writes.extend(also);
        });
        if settled.is_ok() {
            hold.close();
        }
        let (applied, watched) = settled?;
        Ok((live.count(applied.outcome), watched))
    }
}

/// Holds again because the core was reloaded since the hold was made and does not know it. The cost
/// is charged as far as the balance allows; the rest is written off like any overrun.
fn hold_again(shared: &Arc<Shared>, live: &mut Live, hold: &Hold) -> Result<(), HoldRefused> {
    let want = Want::UpTo { least: Cost::ZERO, most: hold.amount().into() };
    let kind = HoldKind::Request;
    let command = Command::Hold { hold: hold.id, payer: hold.payer, want, kind };
    let (_, watched) = shared.carry_out(live, &command, Vec::new(), |_, _, _| {})?;
    if let Some(opened) = watched {
        opened.leave(&mut live.unwatched);
    }
    Ok(())
}

impl Live {
    /// Counts a settled charge for the metrics.
    pub(crate) fn count(&mut self, outcome: Outcome) -> Receipt {
        let Outcome::Settled(receipt) = outcome else {
            unreachable!("a settle is answered by a receipt");
        };
        self.settled += 1;
        let written_off = receipt.written_off.nanos();
        self.written_off_nano = self.written_off_nano.saturating_add(written_off);
        if 0 < written_off {
            let charge = receipt.charge.0;
            tracing::warn!(%charge, written_off, "a charge was beyond what its owner could pay");
        }
        receipt
    }
}
