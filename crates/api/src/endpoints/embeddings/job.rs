//! The paid work behind an embedding: run, counted and charged, whether or not anybody waits.

use std::sync::Arc;

use credits::Receipt;
use domain::catalogue::Model;
use domain::limits::window::Admission;
use domain::pricing::TokenPrice;
use engine::{EmbeddingAnswer, EmbeddingEngine, EmbeddingRequest, Usage};
use ledger::Hold;
use store::usage::UsageDetails;

use super::count::Tokens;
use crate::app::Shared;
use crate::payment;
use crate::refusal::inference::Failure;
use crate::transport::RequestId;

/// A request whose money is held.
pub(super) struct Job {
    pub(super) app: Shared,
    pub(super) request_id: RequestId,
    pub(super) model: Arc<Model>,
    pub(super) price: TokenPrice,
    pub(super) engine: Arc<dyn EmbeddingEngine>,
    pub(super) admission: Admission,
    pub(super) hold: Hold,
    pub(super) tokens: Tokens,
}

/// Vectors that are paid.
pub(super) struct Done {
    pub(super) answer: EmbeddingAnswer,
    pub(super) usage: Usage,
    pub(super) receipt: Receipt,
}

impl Job {
    pub(super) async fn run(self, request: Arc<EmbeddingRequest>) -> Result<Done, Failure> {
        let started = self.app.clock.now();
        let answer = match self.engine.embed(request).await {
            Ok(answer) => answer,
            Err(error) => {
                // Nothing was made, so nothing is owed and no tokens were used.
                self.app.limiter.correct(self.admission, 0);
                self.app.ledger.release(self.hold);
                return Err(Failure::Engine(error));
            }
        };
        let usage = Usage::of(self.tokens.billed(answer.usage), 0);
        self.app.limiter.correct(self.admission, usage.total());
        let elapsed = self.app.clock.now().since(started);
        let details = UsageDetails {
            request_id: self.request_id.as_str().to_owned(),
            execution_ms: u64::try_from(elapsed.as_millis()).ok(),
            ..UsageDetails::default()
        };
        let charge = payment::token_charge(&self.model, &self.price, usage, details);
        let receipt = self.app.ledger.settle(self.hold, charge).await;
        Ok(Done { answer, usage, receipt: receipt.map_err(Failure::Unrecorded)? })
    }
}
