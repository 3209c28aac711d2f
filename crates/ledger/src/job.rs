//! Holds of jobs: in the journal, because a job continues after a restart.

use credits::{Command, EntryId, Held, HoldId, HoldKind, Outcome, Payer, Receipt, Rejection, Want};
use moment::Timestamp;
use store::write::Write;
use uuid::Uuid;

use crate::charge::Charge;
use crate::error::LedgerError;
use crate::live::Ledger;

/// XOR mask on the random half of a hold's id: a job's charge sorts next to its hold and has
/// another id.
const CHARGE_BITS: u128 = 0x0000_0000_0000_0000_15d3_8a6c_f02b_497e;

/// The ledger's view of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    pub hold: HoldId,
    pub payer: Payer,
}

impl Job {
    /// The id of the job's charge, derived from the hold, so that there can be only one.
    pub fn charge(&self) -> EntryId {
        EntryId(Uuid::from_u128(self.hold.0.as_u128() ^ CHARGE_BITS))
    }
}

impl Ledger {
    /// Holds money durably, with `also` (the job's own row) in the same group.
    ///
    /// A job that was held before is [`Rejection::Duplicate`].
    pub async fn hold_job(
        &self,
        job: Job,
        want: Want,
        also: Vec<Write>,
    ) -> Result<Held, LedgerError> {
        let command = Command::Hold { hold: job.hold, payer: job.payer, want, kind: HoldKind::Job };
        let outcome = self.write_out(&command, |_, _| also).await?;
        match outcome {
            Outcome::Held(held) => Ok(held),
            _ => unreachable!("a hold is answered by what was held"),
        }
    }

    /// Charges the cost of the job. A job that was settled before is [`Rejection::Duplicate`].
    pub async fn settle_job(
        &self,
        job: Job,
        charge: Charge,
        also: Vec<Write>,
    ) -> Result<Receipt, LedgerError> {
        self.bring_home(job.payer.owner).await?;
        let entry = job.charge();
        let draft = charge.draft(&job.payer).map_err(|_| Rejection::InvalidAmount)?;
        if self.shared.store.is_recorded(entry).await? {
            return Err(Rejection::Duplicate { earlier: None }.into());
        }
        let command = Command::Settle { entry, hold: job.hold, cost: draft.total() };
        let outcome = self
            .write_out(&command, |outcome, now| {
                let mut writes = also;
                if let Outcome::Settled(receipt) = outcome {
                    writes.extend(draft.paid(receipt, now).into_iter().map(Write::AddUsage));
                }
                writes
            })
            .await?;
        Ok(self.shared.lock().count(outcome))
    }

    /// Releases a job's whole hold. A hold that has ended is [`Rejection::NoSuchHold`].
    pub async fn release_job(&self, job: Job, also: Vec<Write>) -> Result<(), LedgerError> {
        self.bring_home(job.payer.owner).await?;
        self.write_out(&Command::Release { hold: job.hold }, |_, _| also).await.map(|_| ())
    }

    async fn write_out(
        &self,
        command: &Command,
        also: impl FnOnce(&Outcome, Timestamp) -> Vec<Write> + Send,
    ) -> Result<Outcome, LedgerError> {
        let (applied, watched) = {
            let mut live = self.shared.lock();
            self.shared.carry_out(&mut live, command, Vec::new(), |applied, now, writes| {
                writes.extend(also(&applied.outcome, now));
            })?
        };
        if let Some(watched) = watched {
            watched.await?;
        }
        Ok(applied.outcome)
    }
}
