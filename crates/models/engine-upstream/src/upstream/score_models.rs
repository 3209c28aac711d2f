//! Engines of rerank and moderation models.

use std::sync::Arc;

use engine::{ModerationEngine, RerankEngine};

use super::{ProviderProtocol, ProviderSetupError, UpstreamProvider};
use crate::openai::{OpenAiModeration, OpenAiRerank};
use crate::tei::TeiRerank;

impl UpstreamProvider {
    /// Creates the engine of a rerank model.
    pub fn create_rerank_engine(
        &self,
        model: &str,
    ) -> Result<Arc<dyn RerankEngine>, ProviderSetupError> {
        let endpoint = self.endpoint("rerank");
        match self.protocol {
            ProviderProtocol::OpenAi(_) => {
                Ok(Arc::new(OpenAiRerank { endpoint, model: model.to_owned() }))
            }
            ProviderProtocol::Tei => {
                Ok(Arc::new(TeiRerank { endpoint, documents_max: self.embedding_inputs_max }))
            }
            _ => Err(self.unsupported_work("reranking")),
        }
    }

    /// Creates the engine of a moderation model.
    pub fn create_moderation_engine(
        &self,
        model: &str,
    ) -> Result<Arc<dyn ModerationEngine>, ProviderSetupError> {
        match self.protocol {
            ProviderProtocol::OpenAi(_) => Ok(Arc::new(OpenAiModeration {
                endpoint: self.endpoint("moderations"),
                model: model.to_owned(),
            })),
            _ => Err(self.unsupported_work("moderation")),
        }
    }
}
