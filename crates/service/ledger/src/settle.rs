//! Settling: the work is done, its cost is charged, and the rest of the hold is released.

use std::sync::Arc;
use std::time::Duration;

use ledger_core::{
    ChargeReceipt, CommandOutcome, CommandRejection, CreditCommand, EntryId, HoldKind, HoldRange,
};
use money::WorkCost;
use store::write::StoreWrite;
use tokio::time::timeout;

use crate::charge::WorkCharge;
use crate::commit_watch::CommitWatch;
use crate::error::{HoldRefused, LedgerError};
use crate::hold::RequestHold;
use crate::state::{Ledger, LedgerInner, LedgerState};
use crate::uncharged_work::UnchargedWork;

/// Records of the usual charge, paid by one lot through a key: a transfer and the key's counter.
const RECORDS_USUAL: usize = 2;

/// Timeout of a charge whose commit was sent to a database that became unreachable, so that its
/// outcome is unknown. Then the caller is refused.
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
        hold: RequestHold,
        charge: WorkCharge,
    ) -> impl Future<Output = Result<ChargeReceipt, LedgerError>> + Send + use<> {
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
        hold: RequestHold,
        charge: WorkCharge,
        also: Vec<StoreWrite>,
    ) -> impl Future<Output = Result<ChargeReceipt, LedgerError>> + Send + use<> {
        let decided = self.decide_watched(hold, charge, also);
        async move {
            let (receipt, watched) = decided?;
            if let Some(watched) = watched {
                watched.await?;
            }
            Ok(receipt)
        }
    }

    /// The receipt that settling would give now. Charges nothing.
    pub fn preview_settle(
        &self,
        hold: &RequestHold,
        charge: &WorkCharge,
    ) -> Result<ChargeReceipt, LedgerError> {
        let cost = charge.total().map_err(|_| CommandRejection::InvalidAmount)?;
        let live = self.shared.lock();
        let now = live.query_time(self.shared.now());
        Ok(live.core.preview_settle(hold.id, cost, now)?)
    }

    /// Decides the charge. If it fails, now or when it is written, the work is recorded as
    /// uncharged.
    fn decide_watched(
        &self,
        hold: RequestHold,
        charge: WorkCharge,
        also: Vec<StoreWrite>,
    ) -> Result<(ChargeReceipt, Option<CommitWatch>), LedgerError> {
        let work = UnchargedWork::from_charge(&charge);
        let decided = self.decide_charge(hold, charge, also);
        if let (Err(error), Some(work)) = (&decided, &work) {
            work.record_loss(error);
        }
        decided.map(|(receipt, watched)| {
            (receipt, watched.map(|watched| watched.with_uncharged_work(work)))
        })
    }

    fn decide_charge(
        &self,
        mut hold: RequestHold,
        charge: WorkCharge,
        also: Vec<StoreWrite>,
    ) -> Result<(ChargeReceipt, Option<CommitWatch>), LedgerError> {
        // An error from here on drops the hold, which releases it: after the lock, which is
        // declared later and so dropped first.
        let draft =
            charge.into_usage_draft(&hold.payer).map_err(|_| CommandRejection::InvalidAmount)?;
        let writes = Vec::with_capacity(RECORDS_USUAL + draft.len() + also.len());
        let mut live = self.shared.lock();
        if live.generation != hold.generation {
            hold.close();
            renew_hold(&self.shared, &mut live, &hold)?;
        }
        let entry = EntryId(hold.id.0);
        let command = CreditCommand::Settle { entry, hold: hold.id, cost: draft.total() };
        let settled =
            self.shared.apply_and_write(&mut live, &command, writes, |applied, now, writes| {
                if let CommandOutcome::Settled(receipt) = &applied.outcome {
                    writes.extend(
                        draft.into_paid_rows(receipt, now).into_iter().map(StoreWrite::AddUsage),
                    );
                }
                writes.extend(also);
            });
        if settled.is_ok() {
            hold.close();
        }
        let (applied, watched) = settled?;
        Ok((live.count_settled(applied.outcome), watched))
    }
}

/// Holds again because the core was reloaded since the hold was made and does not know it. The cost
/// is charged as far as the balance allows; the rest is written off like any overrun.
pub(crate) fn renew_hold(
    shared: &Arc<LedgerInner>,
    live: &mut LedgerState,
    hold: &RequestHold,
) -> Result<(), HoldRefused> {
    let want = HoldRange::UpTo { least: WorkCost::ZERO, most: hold.amount().into() };
    let kind = HoldKind::Request;
    let command = CreditCommand::Hold { hold: hold.id, payer: hold.payer, want, kind };
    let (_, watched) = shared.apply_and_write(live, &command, Vec::new(), |_, _, _| {})?;
    if let Some(opened) = watched {
        opened.leave_to_ledger(&mut live.unwatched);
    }
    Ok(())
}

impl LedgerState {
    /// Counts a settled charge for the metrics.
    pub(crate) fn count_settled(&mut self, outcome: CommandOutcome) -> ChargeReceipt {
        let CommandOutcome::Settled(receipt) = outcome else {
            unreachable!("a settle is answered by a receipt");
        };
        self.settled += 1;
        let written_off = receipt.written_off.nanos();
        self.written_off_nano = self.written_off_nano.saturating_add(written_off);
        if 0 < written_off {
            let charge = receipt.charge.0;
            tracing::warn!(
                %charge, written_off, "a charge exceeded its owner's money: the rest is written off"
            );
        }
        receipt
    }
}
