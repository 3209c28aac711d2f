//! A request for generated text.

use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub struct TextRequest {
    pub prompt: TextPrompt,
    /// `None`: the answer may fill the context.
    pub completion_tokens_max: Option<u32>,
    pub sampling: SamplingSettings,
    /// Stop strings, which are not part of the answer.
    pub stop: Vec<String>,
    pub stop_token_ids: Vec<u32>,
    pub choices: u32,
    /// Return log probabilities, with this number of alternatives per token.
    pub logprobs: Option<u32>,
    pub format: GenerationFormat,
    /// Requests with the same key prefer the same slot of the prompt cache.
    pub cache_key: Option<String>,
    /// The same request with the same seed gives the same answer.
    pub seed: u64,
    /// The current Unix time in seconds, for templates that print the date.
    pub now_s: i64,
}

#[derive(Debug, Clone)]
pub enum TextPrompt {
    Chat(ChatPrompt),
    /// Continued as it is, without a chat template.
    Text(String),
    /// The text between two given texts, for models trained to fill in the middle.
    Middle {
        before: String,
        after: String,
    },
}

#[derive(Debug, Clone, Default)]
pub struct ChatPrompt {
    /// Messages in OpenAI's format.
    pub messages: Vec<Value>,
    pub tools: Vec<PromptTool>,
    pub tool_choice: ToolCallPolicy,
    pub is_one_call_enough: bool,
    /// Further template variables, such as `enable_thinking`.
    pub switches: Map<String, Value>,
}

#[derive(Debug, Clone)]
pub struct PromptTool {
    pub name: String,
    pub description: Option<String>,
    /// A JSON schema; `None` allows any object.
    pub parameters: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolCallPolicy {
    #[default]
    Auto,
    None,
    Required,
    Function(String),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub enum GenerationFormat {
    #[default]
    Text,
    JsonObject,
    JsonSchema(Value),
}

/// Sampling parameters. A parameter that is `None` is not applied.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SamplingSettings {
    /// 0 always selects the most likely token.
    pub temperature: Option<f32>,
    /// With a minimum and a maximum, the temperature follows the entropy: low if the model is
    /// certain.
    pub temperature_min: Option<f32>,
    pub temperature_max: Option<f32>,
    pub top_k: Option<u32>,
    pub top_p: Option<f32>,
    pub min_p: Option<f32>,
    /// Divides the logits of tokens that are in the prompt or the answer.
    pub repetition_penalty: Option<f32>,
    /// Subtracted from the logits of tokens that are in the answer.
    pub presence_penalty: Option<f32>,
    /// Subtracted from the logits once per occurrence in the answer.
    pub frequency_penalty: Option<f32>,
}
