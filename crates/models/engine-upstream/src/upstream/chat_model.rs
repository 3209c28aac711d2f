//! Creates chat engines from the properties of a model in the catalogue.

use std::sync::Arc;

use engine::ChatEngine;

use super::{ProviderProtocol, ProviderSetupError, UpstreamProvider};
use crate::fan_out::FanOut;
use crate::openai_responses::ResponsesChat;
use crate::quirks::{OpenAiChatApi, ServerQuirks};

/// The smallest `max_output_tokens` that OpenAI accepts.
const OPENAI_OUTPUT_TOKENS_MIN: u64 = 16;

/// Properties of a chat model that some protocols need in every request.
#[derive(Debug, Clone, Copy)]
pub struct ChatModelSettings<'a> {
    /// The provider's id of the model.
    pub upstream_id: &'a str,
    /// Length limit of an answer if the caller gives none, for protocols that require one.
    pub completion_tokens_max: u64,
    /// The model reasons, so its encrypted reasoning is requested where a protocol has it.
    pub has_reasoning: bool,
}

impl UpstreamProvider {
    /// Creates the engine of a chat model of the catalogue.
    pub fn create_model_engine(
        &self,
        model: ChatModelSettings<'_>,
    ) -> Result<Arc<dyn ChatEngine>, ProviderSetupError> {
        match self.protocol {
            ProviderProtocol::OpenAi(ServerQuirks {
                chat_api: OpenAiChatApi::Responses, ..
            }) => Ok(self.create_responses_engine(model.upstream_id, model.has_reasoning)),
            _ => self.create_chat_engine(model.upstream_id, model.completion_tokens_max),
        }
    }

    /// Creates an engine over the Responses API, which returns one choice per request.
    pub(super) fn create_responses_engine(
        &self,
        model: &str,
        has_reasoning: bool,
    ) -> Arc<dyn ChatEngine> {
        let is_openai = match self.protocol {
            ProviderProtocol::OpenAi(quirks) => !quirks.takes_extensions,
            _ => false,
        };
        Arc::new(FanOut::by_choice(ResponsesChat {
            endpoint: self.endpoint("responses"),
            model: model.to_owned(),
            has_reasoning,
            output_tokens_min: if is_openai { OPENAI_OUTPUT_TOKENS_MIN } else { 1 },
        }))
    }
}
