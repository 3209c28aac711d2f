//! The request of `POST /responses`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{ConversationReference, Input, ResponseTool, ResponseToolChoice};
use crate::chat::{Fallback, ReasoningOptions, ServiceParameters, Verbosity};

/// The body of `POST /responses`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ResponseRequest {
    /// A model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// A text, or the items of the conversation so far.
    pub input: Input,
    /// Inserted before the conversation as a system message.
    pub instructions: Option<String>,
    /// Output that is returned only if it is named here: `reasoning.encrypted_content`, which makes
    /// reasoning fit to be sent back, and `web_search_call.action.sources`.
    #[schemars(length(max = 32))]
    pub include: Option<Vec<String>>,
    /// The maximum number of tokens to generate, including reasoning.
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<u64>,
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    #[schemars(range(min = 0, max = 1))]
    pub top_p: Option<f64>,
    /// Models to try, in order, if the requested model cannot answer.
    #[schemars(length(max = 10))]
    pub fallbacks: Option<Vec<Fallback>>,
    pub reasoning: Option<ReasoningOptions>,
    pub text: Option<ResponseTextOptions>,
    /// The tools that the model may call. Types that the model cannot use are left out, and named
    /// in the header `x-service-dropped-parameters`.
    #[schemars(length(max = 1024))]
    pub tools: Option<Vec<ResponseTool>>,
    pub tool_choice: Option<ResponseToolChoice>,
    pub parallel_tool_calls: Option<bool>,
    /// The maximum number of calls of MCP servers, at most that of the operator.
    #[schemars(range(min = 1))]
    pub max_tool_calls: Option<u64>,
    /// Searches the web; the same as `service_parameters.enable_web_search`.
    pub web_search: Option<bool>,
    /// Streams the response as server-sent events.
    pub stream: Option<bool>,
    /// A routing hint that raises the cache hit rate.
    #[schemars(length(max = 512))]
    pub prompt_cache_key: Option<String>,
    /// A stored response that this one continues: its input and output, and those of the responses
    /// before it, come before `input`. Its `instructions` do not.
    #[schemars(length(min = 1))]
    pub previous_response_id: Option<String>,
    /// A conversation that this response continues: its items come before `input`, and the items of
    /// this turn are added to it once the response has ended.
    pub conversation: Option<ConversationReference>,
    /// Runs the response without a connection; fetch it with `GET /responses/{response_id}`. It is
    /// stored, so `store: false` is refused.
    pub background: Option<bool>,
    /// Stores the response, so that it can be read and continued later. Default: false, because
    /// nothing is kept unless it is asked for; `background` stores it too.
    pub store: Option<bool>,
    /// Notes of the caller, which a stored response shows again.
    pub metadata: Option<BTreeMap<String, String>>,
    /// Accepted and discarded.
    pub user: Option<String>,
    /// Accepted and discarded: a client's notes about itself.
    pub client_metadata: Option<Map<String, Value>>,
    /// Options of this service.
    pub service_parameters: Option<ServiceParameters>,
}

/// Text options of a response.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ResponseTextOptions {
    pub format: Option<ResponseTextFormat>,
    /// The verbosity of the response.
    pub verbosity: Option<Verbosity>,
}

/// Plain text, any JSON object, or JSON that matches a schema.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResponseTextFormat {
    Text,
    JsonObject,
    JsonSchema {
        #[schemars(length(max = 64))]
        name: Option<String>,
        schema: Map<String, Value>,
        strict: Option<bool>,
    },
}
