//! Paid work with a whole result. Runs to its end and is charged, even if the caller disconnects.

use std::future::Future;

use credits::Receipt;
use engine::EngineError;
use ledger::Charge;

use crate::outlasting::Outlasting;
use crate::paid::HeldFunds;
use crate::refusal::inference::Failure;

/// The result of a piece of work, and its charge.
pub(crate) struct Produced<T> {
    pub(crate) output: T,
    /// Counted against the limits of models that limit tokens.
    pub(crate) tokens: u64,
    /// [`Charge::default`] costs nothing.
    pub(crate) charge: Charge,
}

/// A result whose charge is durable.
#[derive(Debug)]
pub(crate) struct Paid<T> {
    pub(crate) output: T,
    pub(crate) receipt: Receipt,
}

impl<T> Paid<T> {
    pub(crate) fn map<U>(self, made: impl FnOnce(T) -> U) -> Paid<U> {
        Paid { output: made(self.output), receipt: self.receipt }
    }
}

impl HeldFunds {
    /// Runs the work and charges for its result. Failed work costs nothing.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl Future<Output = Result<Produced<T>, EngineError>> + Send + 'static,
    ) -> Result<Paid<T>, Failure> {
        self.run_or(work).await?.map_err(Failure::Engine)
    }

    /// The same for work without an engine, with its own error type.
    pub(crate) async fn run_or<T: Send + 'static, E: Send + 'static>(
        self,
        work: impl Future<Output = Result<Produced<T>, E>> + Send + 'static,
    ) -> Result<Result<Paid<T>, E>, Failure> {
        let tasks = self.app.tasks.clone();
        let to_the_end = async move {
            match work.await {
                Ok(Produced { output, tokens, charge }) => {
                    let receipt = self.pay(tokens, charge).await?;
                    Ok(Ok(Paid { output, receipt }))
                }
                Err(error) => {
                    self.release();
                    Ok(Err(error))
                }
            }
        };
        Outlasting::new(&tasks, to_the_end).await
    }
}
