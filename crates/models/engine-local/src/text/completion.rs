//! The body of `POST /v1/completions`.

use engine_text::{GenerationFormat, TextPrompt, TextRequest};
use moment::Timestamp;
use serde::Deserialize;

use super::common_fields::CommonFields;
use super::{CompletionCall, CompletionEndpoint};
use crate::refusal::EngineRefusal;

#[derive(Debug, Deserialize)]
pub(crate) struct CompletionBody {
    model: String,
    prompt: PromptBody,
    suffix: Option<String>,
    echo: Option<bool>,
    /// Number of alternatives to return per token.
    logprobs: Option<u32>,
    #[serde(flatten)]
    common: CommonFields,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum PromptBody {
    One(String),
    Many(Vec<String>),
}

impl CompletionBody {
    pub(crate) fn read(self, now: Timestamp) -> Result<CompletionCall, EngineRefusal> {
        if self.echo == Some(true) {
            return Err(EngineRefusal::invalid(
                Some("echo"),
                "This engine does not repeat the prompt.",
            ));
        }
        let prompt = match self.prompt {
            PromptBody::One(prompt) => prompt,
            PromptBody::Many(prompts) => match <[String; 1]>::try_from(prompts) {
                Ok([prompt]) => prompt,
                Err(_) => return Err(EngineRefusal::invalid(Some("prompt"), "Send one prompt.")),
            },
        };
        let prompt = match self.suffix.filter(|suffix| !suffix.is_empty()) {
            Some(after) => TextPrompt::Middle { before: prompt, after },
            None => TextPrompt::Text(prompt),
        };
        let common = self.common;
        let request = TextRequest {
            prompt,
            completion_tokens_max: common.max_tokens,
            sampling: common.sampling(),
            stop: common.stop_strings(),
            choices: common.n.unwrap_or(1),
            logprobs: self.logprobs,
            format: GenerationFormat::Text,
            seed: common.seed_or_random(),
            now_s: now.seconds(),
            stop_token_ids: common.stop_token_ids,
            cache_key: common.prompt_cache_key,
        };
        let is_streamed = common.stream.unwrap_or(false);
        Ok(CompletionCall {
            model: self.model,
            shape: CompletionEndpoint::Text,
            is_streamed,
            request,
        })
    }
}
