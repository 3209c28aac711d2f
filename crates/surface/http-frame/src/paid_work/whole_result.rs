//! Paid work with a whole result. Runs to its end and is charged, even if the caller disconnects.

use std::future::Future;

use engine::EngineError;
use ledger::WorkCharge;
use ledger_core::ChargeReceipt;

use crate::detach_on_drop::DetachOnDrop;
use crate::paid_work::HeldFunds;
use crate::refusal::inference::InferenceFailure;

/// The result of a piece of work, and its charge.
pub struct WorkResult<T> {
    pub output: T,
    /// Counted against the limits of models that limit tokens.
    pub tokens: u64,
    /// [`WorkCharge::default`] costs nothing.
    pub charge: WorkCharge,
}

/// A result whose charge is durable.
#[derive(Debug)]
pub struct PaidResult<T> {
    pub output: T,
    pub receipt: ChargeReceipt,
}

impl<T> PaidResult<T> {
    pub fn map<U>(self, made: impl FnOnce(T) -> U) -> PaidResult<U> {
        PaidResult { output: made(self.output), receipt: self.receipt }
    }
}

impl HeldFunds {
    /// Runs the work and charges for its result. Failed work costs nothing.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl Future<Output = Result<WorkResult<T>, EngineError>> + Send + 'static,
    ) -> Result<PaidResult<T>, InferenceFailure> {
        self.run_or(work).await?.map_err(InferenceFailure::Engine)
    }

    /// The same for work without an engine, with its own error type.
    pub async fn run_or<T: Send + 'static, E: Send + 'static>(
        self,
        work: impl Future<Output = Result<WorkResult<T>, E>> + Send + 'static,
    ) -> Result<Result<PaidResult<T>, E>, InferenceFailure> {
        let tasks = self.app.tasks.clone();
        let to_the_end = async move {
            match work.await {
                Ok(WorkResult { output, tokens, charge }) => {
                    let receipt = self.pay(tokens, charge).await?;
                    Ok(Ok(PaidResult { output, receipt }))
                }
                Err(error) => {
                    self.release();
                    Ok(Err(error))
                }
            }
        };
        DetachOnDrop::new(&tasks, to_the_end).await
    }
}
