//! What a caller wants written.

use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub struct Request {
    pub prompt: Prompt,
    /// Without it the answer may fill the context.
    pub completion_tokens_max: Option<u32>,
    pub sampling: Sampling,
    /// The answer ends before the first of these.
    pub stop: Vec<String>,
    pub stop_token_ids: Vec<u32>,
    pub choices: u32,
    /// For every token its likelihood, with so many alternatives.
    pub logprobs: Option<u32>,
    pub format: Format,
    /// Requests with the same key prefer the same part of the prompt cache.
    pub cache_key: Option<String>,
    /// Equal seeds give equal answers to equal requests.
    pub seed: u64,
    /// For templates that tell the model the date, in seconds since 1970.
    pub now_s: i64,
}

#[derive(Debug, Clone)]
pub enum Prompt {
    Chat(Chat),
    /// Continued as it is, without a template.
    Text(String),
    /// What stands between two texts, for models that were trained to fill it in.
    Middle {
        before: String,
        after: String,
    },
}

#[derive(Debug, Clone, Default)]
pub struct Chat {
    /// In OpenAI's shape.
    pub messages: Vec<Value>,
    pub tools: Vec<Tool>,
    pub tool_choice: ToolChoice,
    pub is_one_call_enough: bool,
    /// Further variables of the template, such as `enable_thinking`.
    pub switches: Map<String, Value>,
}

#[derive(Debug, Clone)]
pub struct Tool {
    pub name: String,
    pub description: Option<String>,
    /// A JSON schema; none means that any object will do.
    pub parameters: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    #[default]
    Auto,
    None,
    Required,
    Function(String),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub enum Format {
    #[default]
    Text,
    JsonObject,
    JsonSchema(Value),
}

/// How a token is drawn from what the model says about all of them. What is absent is not applied.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sampling {
    /// 0 always takes the likeliest token.
    pub temperature: Option<f32>,
    /// With these the temperature follows the entropy: low where the model is sure.
    pub temperature_min: Option<f32>,
    pub temperature_max: Option<f32>,
    pub top_k: Option<u32>,
    pub top_p: Option<f32>,
    pub min_p: Option<f32>,
    /// Divides the logits of whatever the prompt or the answer has already.
    pub repetition_penalty: Option<f32>,
    /// Lowers the logits of whatever the answer has already.
    pub presence_penalty: Option<f32>,
    /// The same, once for every time.
    pub frequency_penalty: Option<f32>,
}
