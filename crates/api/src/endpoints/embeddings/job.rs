//! The paid work behind an embedding: run, counted and charged, whether or not anybody waits.

use std::sync::Arc;

use credits::Receipt;
use domain::catalogue::Model;
use domain::pricing::TokenPrice;
use engine::{EmbeddingAnswer, EmbeddingEngine, EmbeddingRequest, Usage};

use super::count::Tokens;
use crate::payment;
use crate::purse::Purse;
use crate::refusal::inference::Failure;

/// A request whose money is held.
pub(super) struct Job {
    pub(super) purse: Purse,
    pub(super) model: Arc<Model>,
    pub(super) price: TokenPrice,
    pub(super) engine: Arc<dyn EmbeddingEngine>,
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
        let answer = match self.engine.embed(request).await {
            Ok(answer) => answer,
            Err(error) => {
                self.purse.release();
                return Err(Failure::Engine(error));
            }
        };
        let usage = Usage::of(self.tokens.billed(answer.usage), 0);
        let charge = |details| payment::token_charge(&self.model, &self.price, usage, details);
        let receipt = self.purse.pay(usage.total(), charge).await?;
        Ok(Done { answer, usage, receipt })
    }
}
