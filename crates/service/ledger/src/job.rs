//! Holds of jobs: in the journal, because a job continues after a restart.

use ledger_core::{
    ChargeReceipt, CommandOutcome, CommandRejection, CreditCommand, EntryId, HeldAmounts, HoldId,
    HoldKind, HoldPayer, HoldRange,
};
use moment::Timestamp;
use money::CurrencyFunds;
use store::write::StoreWrite;
use uuid::Uuid;

use crate::charge::WorkCharge;
use crate::error::LedgerError;
use crate::state::Ledger;

/// XOR mask on the random half of a hold's id: a job's charge sorts next to its hold and has
/// another id.
const CHARGE_BITS: u128 = 0x0000_0000_0000_0000_15d3_8a6c_f02b_497e;

/// The ledger's view of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerJob {
    pub hold: HoldId,
    pub payer: HoldPayer,
}

impl LedgerJob {
    /// The id of the job's charge, derived from the hold, so that there can be only one.
    pub fn charge_id(&self) -> EntryId {
        EntryId(Uuid::from_u128(self.hold.0.as_u128() ^ CHARGE_BITS))
    }
}

impl Ledger {
    /// Holds money durably, with `also` (the job's own row) in the same group.
    ///
    /// A job that was held before is [`CommandRejection::Duplicate`].
    pub async fn hold_job(
        &self,
        job: LedgerJob,
        want: HoldRange,
        also: Vec<StoreWrite>,
    ) -> Result<HeldAmounts, LedgerError> {
        let command =
            CreditCommand::Hold { hold: job.hold, payer: job.payer, want, kind: HoldKind::Job };
        let outcome = self.write_out(&command, |_, _| also).await?;
        match outcome {
            CommandOutcome::Held(held) => Ok(held),
            _ => unreachable!("a hold is answered by what was held"),
        }
    }

    /// Charges the cost of the job. A job that was settled before is [`CommandRejection::Duplicate`].
    pub async fn settle_job(
        &self,
        job: LedgerJob,
        charge: WorkCharge,
        also: Vec<StoreWrite>,
    ) -> Result<ChargeReceipt, LedgerError> {
        self.settle_job_with(job, charge, |_| also).await
    }

    /// The same, with writes that depend on what was charged.
    pub async fn settle_job_with(
        &self,
        job: LedgerJob,
        charge: WorkCharge,
        also: impl FnOnce(&ChargeReceipt) -> Vec<StoreWrite> + Send,
    ) -> Result<ChargeReceipt, LedgerError> {
        self.move_owner_here(job.payer.owner).await?;
        let entry = job.charge_id();
        let draft =
            charge.into_usage_draft(&job.payer).map_err(|_| CommandRejection::InvalidAmount)?;
        if self.shared.store.is_recorded(entry).await? {
            return Err(CommandRejection::Duplicate { earlier: None }.into());
        }
        let command = CreditCommand::Settle { entry, hold: job.hold, cost: draft.total() };
        let outcome = self
            .write_out(&command, |outcome, now| {
                let mut writes = Vec::new();
                if let CommandOutcome::Settled(receipt) = outcome {
                    writes = also(receipt);
                    writes.extend(
                        draft.into_paid_rows(receipt, now).into_iter().map(StoreWrite::AddUsage),
                    );
                }
                writes
            })
            .await?;
        Ok(self.shared.lock().count_settled(outcome))
    }

    /// Releases a job's whole hold. A hold that has ended is [`CommandRejection::NoSuchHold`].
    pub async fn release_job(
        &self,
        job: LedgerJob,
        also: Vec<StoreWrite>,
    ) -> Result<(), LedgerError> {
        self.move_owner_here(job.payer.owner).await?;
        self.write_out(&CreditCommand::Release { hold: job.hold }, |_, _| also).await.map(|_| ())
    }

    /// The amounts held for a job; None if its hold has ended.
    pub async fn job_means(&self, job: LedgerJob) -> Result<Option<CurrencyFunds>, LedgerError> {
        self.move_owner_here(job.payer.owner).await?;
        Ok(self.shared.lock().core.held_funds(job.hold))
    }

    async fn write_out(
        &self,
        command: &CreditCommand,
        also: impl FnOnce(&CommandOutcome, Timestamp) -> Vec<StoreWrite> + Send,
    ) -> Result<CommandOutcome, LedgerError> {
        let (applied, watched) = {
            let mut live = self.shared.lock();
            self.shared.apply_and_write(
                &mut live,
                command,
                Vec::new(),
                |applied, now, writes| {
                    writes.extend(also(&applied.outcome, now));
                },
            )?
        };
        if let Some(watched) = watched {
            watched.await?;
        }
        Ok(applied.outcome)
    }
}
