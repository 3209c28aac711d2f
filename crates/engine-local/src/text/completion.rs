//! The body of `POST /v1/completions`.

use engine_text::{Format, Prompt, Request};
use moment::Timestamp;
use serde::Deserialize;

use super::asked::Common;
use super::{Asked, Shape};
use crate::refusal::Refusal;

#[derive(Debug, Deserialize)]
pub(crate) struct CompletionBody {
    model: String,
    prompt: PromptBody,
    suffix: Option<String>,
    echo: Option<bool>,
    /// Number of alternatives to return per token.
    logprobs: Option<u32>,
    #[serde(flatten)]
    common: Common,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum PromptBody {
    One(String),
    Many(Vec<String>),
}

impl CompletionBody {
    pub(crate) fn read(self, now: Timestamp) -> Result<Asked, Refusal> {
        if self.echo == Some(true) {
            return Err(Refusal::invalid(Some("echo"), "This engine does not repeat the prompt."));
        }
        let prompt = match self.prompt {
            PromptBody::One(prompt) => prompt,
            PromptBody::Many(prompts) => match <[String; 1]>::try_from(prompts) {
                Ok([prompt]) => prompt,
                Err(_) => return Err(Refusal::invalid(Some("prompt"), "Send one prompt.")),
            },
        };
        let prompt = match self.suffix.filter(|suffix| !suffix.is_empty()) {
            Some(after) => Prompt::Middle { before: prompt, after },
            None => Prompt::Text(prompt),
        };
        let common = self.common;
        let request = Request {
            prompt,
            completion_tokens_max: common.max_tokens,
            sampling: common.sampling(),
            stop: common.stops(),
            choices: common.n.unwrap_or(1),
            logprobs: self.logprobs,
            format: Format::Text,
            seed: common.seed(),
            now_s: now.seconds(),
            stop_token_ids: common.stop_token_ids,
            cache_key: common.prompt_cache_key,
        };
        let is_streamed = common.stream.unwrap_or(false);
        Ok(Asked { model: self.model, shape: Shape::Text, is_streamed, request })
    }
}
