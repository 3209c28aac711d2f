//! Encodes a chat request for the Messages API.
//!
//! The API has no penalties, seed or logit bias; these are hints and are left out. Fields that it
//! lacks and that would change the meaning of the answer are rejected instead.

use engine::{
    ChatRequest, ChatResponseFormat, ChatTool, EffortLevel, EngineError, ToolChoicePolicy,
};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::ThinkingStyle;
use super::blocks::{self, ContentBlock};
use super::turns::{AnthropicTurn, build_conversation};
use crate::dropped_fields;

/// Settings common to all requests to one model.
pub(crate) struct MessageEncoder<'a> {
    pub(crate) model: &'a str,
    pub(crate) thinking: ThinkingStyle,
    pub(crate) caches_system_prompt: bool,
    pub(crate) completion_tokens_max: u64,
}

impl MessageEncoder<'_> {
    pub(crate) fn encode_whole(&self, request: &ChatRequest) -> Result<Vec<u8>, EngineError> {
        encode_body(&self.build_body(request)?)
    }

    pub(crate) fn encode_streamed(&self, request: &ChatRequest) -> Result<Vec<u8>, EngineError> {
        encode_body(&AnthropicRequestBody { stream: Some(true), ..self.build_body(request)? })
    }

    fn build_body<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> Result<AnthropicRequestBody<'a>, EngineError> {
        if request.logprobs.is_some() {
            return Err(reject_request("This model does not return logprobs"));
        }
        let max_tokens = request.completion_tokens_max.unwrap_or(self.completion_tokens_max);
        let (mut system, messages) = build_conversation(&request.messages)?;
        if self.caches_system_prompt && !engine::marks_cache(&request.messages) {
            blocks::mark_last(&mut system);
        }
        let (thinking, effort) = self.build_thinking(request, max_tokens)?;
        // With thinking enabled, the API does not allow sampling parameters.
        let sampling = if thinking.is_some() { None } else { Some(&request.sampling) };
        Ok(AnthropicRequestBody {
            model: self.model,
            max_tokens,
            system,
            messages,
            // The API's temperature range ends at 1, ours at 2.
            temperature: sampling.and_then(|it| it.temperature).map(|it| it.min(1.0)),
            top_p: sampling.and_then(|it| it.top_p),
            top_k: sampling.and_then(|it| it.top_k),
            stop_sequences: &request.stop,
            tools: request.tools.iter().map(AnthropicToolBody::from_tool).collect(),
            tool_choice: tool_choice(request),
            thinking,
            output_config: encode_output(&request.response_format, effort)?,
            stream: None,
        })
    }

    /// Returns the `thinking` member, and the effort for models that take it separately.
    fn build_thinking(
        &self,
        request: &ChatRequest,
        max_tokens: u64,
    ) -> Result<(Option<Value>, Option<&'static str>), EngineError> {
        let asked = &request.reasoning;
        let is_wanted = asked.enabled == Some(true) || asked.effort.is_some();
        if asked.is_off() || !is_wanted {
            return Ok((None, None));
        }
        let effort = asked.effort.unwrap_or(EffortLevel::Medium);
        match self.thinking {
            ThinkingStyle::Adaptive => {
                Ok((Some(json!({"type": "adaptive"})), Some(adaptive_word(effort))))
            }
            ThinkingStyle::Budget => {
                let budget = budget_tokens(effort, max_tokens)?;
                Ok((Some(json!({"type": "enabled", "budget_tokens": budget})), None))
            }
        }
    }
}

#[derive(Serialize)]
struct AnthropicRequestBody<'a> {
    model: &'a str,
    max_tokens: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<ContentBlock<'a>>,
    messages: Vec<AnthropicTurn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<AnthropicToolBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

#[derive(Serialize)]
struct AnthropicToolBody<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    input_schema: SchemaBody<'a>,
}

/// The API requires a schema even for a tool without parameters.
#[derive(Serialize)]
#[serde(untagged)]
enum SchemaBody<'a> {
    Given(&'a RawValue),
    Nothing { r#type: &'static str },
}

#[derive(Serialize)]
struct OutputBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<FormatBody<'a>>,
}

#[derive(Serialize)]
struct FormatBody<'a> {
    r#type: &'static str,
    schema: &'a RawValue,
}

impl<'a> AnthropicToolBody<'a> {
    fn from_tool(tool: &'a ChatTool) -> AnthropicToolBody<'a> {
        let input_schema = match &tool.parameters {
            Some(schema) => SchemaBody::Given(schema),
            None => SchemaBody::Nothing { r#type: "object" },
        };
        AnthropicToolBody {
            name: &tool.name,
            description: tool.description.as_deref(),
            input_schema,
        }
    }
}

fn tool_choice(request: &ChatRequest) -> Option<Value> {
    if request.tools.is_empty() {
        return None;
    }
    let one_at_a_time = request.parallel_tool_calls == Some(false);
    let mut choice = match &request.tool_choice {
        None if one_at_a_time => json!({"type": "auto"}),
        None => return None,
        Some(ToolChoicePolicy::None) => return Some(json!({"type": "none"})),
        Some(ToolChoicePolicy::Auto) => json!({"type": "auto"}),
        Some(ToolChoicePolicy::Required) => json!({"type": "any"}),
        Some(ToolChoicePolicy::Function(name)) => json!({"type": "tool", "name": name}),
    };
    if one_at_a_time {
        choice["disable_parallel_tool_use"] = json!(true);
    }
    Some(choice)
}

fn encode_output<'a>(
    format: &'a ChatResponseFormat,
    effort: Option<&'static str>,
) -> Result<Option<OutputBody<'a>>, EngineError> {
    let format = match format {
        ChatResponseFormat::Text => None,
        ChatResponseFormat::JsonSchema { schema, .. } => {
            Some(FormatBody { r#type: "json_schema", schema })
        }
        ChatResponseFormat::JsonObject => {
            return Err(reject_request(
                "This model needs a JSON schema; send response_format json_schema",
            ));
        }
    };
    let says_something = format.is_some() || effort.is_some();
    Ok(says_something.then_some(OutputBody { effort, format }))
}

fn adaptive_word(effort: EffortLevel) -> &'static str {
    match effort {
        EffortLevel::None | EffortLevel::Minimal | EffortLevel::Low => "low",
        EffortLevel::Medium => "medium",
        EffortLevel::High | EffortLevel::ExtraHigh => "high",
        EffortLevel::Max => "max",
    }
}

/// The API's minimum thinking budget.
const BUDGET_TOKENS_MIN: u64 = 1024;

/// A share of the answer's limit, because thinking tokens count towards it.
fn budget_tokens(effort: EffortLevel, max_tokens: u64) -> Result<u64, EngineError> {
    if max_tokens <= BUDGET_TOKENS_MIN {
        return Err(reject_request(
            "Thinking needs tokens: set max_completion_tokens above 1024, or reasoning.effort to none",
        ));
    }
    let percent = match effort {
        EffortLevel::None | EffortLevel::Minimal => 10,
        EffortLevel::Low => 20,
        EffortLevel::Medium => 50,
        EffortLevel::High => 80,
        EffortLevel::ExtraHigh | EffortLevel::Max => 95,
    };
    let share = max_tokens.saturating_mul(percent) / 100;
    Ok(share.clamp(BUDGET_TOKENS_MIN, max_tokens - 1))
}

/// Names of the requested fields that this protocol lacks or, with thinking enabled, does not
/// allow.
pub(super) fn list_dropped_fields(request: &ChatRequest) -> Vec<String> {
    let (sampling, reasoning) = (&request.sampling, &request.reasoning);
    let is_wanted = reasoning.enabled == Some(true) || reasoning.effort.is_some();
    let thinks = is_wanted && !reasoning.is_off();
    let absent = [
        ("temperature", thinks && sampling.temperature.is_some()),
        ("top_p", thinks && sampling.top_p.is_some()),
        ("top_k", thinks && sampling.top_k.is_some()),
        ("min_p", sampling.min_p.is_some()),
        ("min_temp", sampling.temperature_min.is_some()),
        ("max_temp", sampling.temperature_max.is_some()),
        ("frequency_penalty", is_set(sampling.frequency_penalty)),
        ("presence_penalty", is_set(sampling.presence_penalty)),
        ("repetition_penalty", sampling.repetition_penalty.is_some()),
        ("seed", sampling.seed.is_some()),
        ("stop_token_ids", !request.stop_token_ids.is_empty()),
        ("reasoning.summary", reasoning.summary.is_some()),
        ("verbosity", request.verbosity.is_some()),
        ("prompt_cache_key", request.prompt_cache_key.is_some()),
        ("prompt_cache_retention", request.prompt_cache_retention.is_some()),
    ];
    let ours = absent.into_iter().filter(|(_, is_asked)| *is_asked);
    let ours = ours.map(|(name, _)| name.to_owned());
    ours.chain(dropped_fields::list_unknown_fields(&request.rest)).collect()
}

/// A penalty of zero has no effect.
fn is_set(penalty: Option<f64>) -> bool {
    penalty.is_some_and(|penalty| penalty != 0.0)
}

pub(super) fn reject_request(message: &str) -> EngineError {
    EngineError::Rejected { message: message.to_owned() }
}

fn encode_body(body: &AnthropicRequestBody<'_>) -> Result<Vec<u8>, EngineError> {
    serde_json::to_vec(body)
        .map_err(|error| reject_request(&format!("The request cannot be written as JSON: {error}")))
}
