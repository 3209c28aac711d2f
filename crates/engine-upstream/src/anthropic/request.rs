//! Encodes a chat request for the Messages API.
//!
//! The API has no penalties, seed or logit bias; these are hints and are left out. Fields that it
//! lacks and that would change the meaning of the answer are rejected instead.

use engine::{ChatRequest, Effort, EngineError, ResponseFormat, Tool, ToolChoice};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Thinking;
use super::blocks::{self, Block};
use super::turns::{Turn, conversation};
use crate::dropped;

/// Settings common to all requests to one model.
pub(crate) struct Writer<'a> {
    pub(crate) model: &'a str,
    pub(crate) thinking: Thinking,
    pub(crate) caches_system_prompt: bool,
    pub(crate) completion_tokens_max: u64,
}

impl Writer<'_> {
    pub(crate) fn whole(&self, request: &ChatRequest) -> Result<Vec<u8>, EngineError> {
        encode(&self.body(request)?)
    }

    pub(crate) fn streamed(&self, request: &ChatRequest) -> Result<Vec<u8>, EngineError> {
        encode(&Body { stream: Some(true), ..self.body(request)? })
    }

    fn body<'a>(&'a self, request: &'a ChatRequest) -> Result<Body<'a>, EngineError> {
        if request.logprobs.is_some() {
            return Err(rejected("This model does not give logprobs"));
        }
        let max_tokens = request.completion_tokens_max.unwrap_or(self.completion_tokens_max);
        let (mut system, messages) = conversation(&request.messages)?;
        if self.caches_system_prompt && !engine::marks_cache(&request.messages) {
            blocks::mark_last(&mut system);
        }
        let (thinking, effort) = self.thinking(request, max_tokens)?;
        // With thinking enabled, the API does not allow sampling parameters.
        let sampling = if thinking.is_some() { None } else { Some(&request.sampling) };
        Ok(Body {
            model: self.model,
            max_tokens,
            system,
            messages,
            // The API's temperature range ends at 1, ours at 2.
            temperature: sampling.and_then(|it| it.temperature).map(|it| it.min(1.0)),
            top_p: sampling.and_then(|it| it.top_p),
            top_k: sampling.and_then(|it| it.top_k),
            stop_sequences: &request.stop,
            tools: request.tools.iter().map(ToolBody::of).collect(),
            tool_choice: tool_choice(request),
            thinking,
            output_config: output(&request.response_format, effort)?,
            stream: None,
        })
    }

    /// Returns the `thinking` member, and the effort for models that take it separately.
    fn thinking(
        &self,
        request: &ChatRequest,
        max_tokens: u64,
    ) -> Result<(Option<Value>, Option<&'static str>), EngineError> {
        let asked = &request.reasoning;
        let is_wanted = asked.enabled == Some(true) || asked.effort.is_some();
        if asked.is_off() || !is_wanted {
            return Ok((None, None));
        }
        let effort = asked.effort.unwrap_or(Effort::Medium);
        match self.thinking {
            Thinking::Adaptive => {
                Ok((Some(json!({"type": "adaptive"})), Some(adaptive_word(effort))))
            }
            Thinking::Budget => {
                let budget = budget_tokens(effort, max_tokens)?;
                Ok((Some(json!({"type": "enabled", "budget_tokens": budget})), None))
            }
        }
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolBody<'a>>,
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
struct ToolBody<'a> {
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

impl<'a> ToolBody<'a> {
    fn of(tool: &'a Tool) -> ToolBody<'a> {
        let input_schema = match &tool.parameters {
            Some(schema) => SchemaBody::Given(schema),
            None => SchemaBody::Nothing { r#type: "object" },
        };
        ToolBody { name: &tool.name, description: tool.description.as_deref(), input_schema }
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
        Some(ToolChoice::None) => return Some(json!({"type": "none"})),
        Some(ToolChoice::Auto) => json!({"type": "auto"}),
        Some(ToolChoice::Required) => json!({"type": "any"}),
        Some(ToolChoice::Function(name)) => json!({"type": "tool", "name": name}),
    };
    if one_at_a_time {
        choice["disable_parallel_tool_use"] = json!(true);
    }
    Some(choice)
}

fn output<'a>(
    format: &'a ResponseFormat,
    effort: Option<&'static str>,
) -> Result<Option<OutputBody<'a>>, EngineError> {
    let format = match format {
        ResponseFormat::Text => None,
        ResponseFormat::JsonSchema { schema, .. } => {
            Some(FormatBody { r#type: "json_schema", schema })
        }
        ResponseFormat::JsonObject => {
            return Err(rejected(
                "This model has no free JSON mode; give a schema with response_format json_schema",
            ));
        }
    };
    let says_something = format.is_some() || effort.is_some();
    Ok(says_something.then_some(OutputBody { effort, format }))
}

fn adaptive_word(effort: Effort) -> &'static str {
    match effort {
        Effort::None | Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::ExtraHigh => "high",
        Effort::Max => "max",
    }
}

/// The API's minimum thinking budget.
const BUDGET_TOKENS_MIN: u64 = 1024;

/// A share of the answer's limit, because thinking tokens count towards it.
fn budget_tokens(effort: Effort, max_tokens: u64) -> Result<u64, EngineError> {
    if max_tokens <= BUDGET_TOKENS_MIN {
        return Err(rejected(
            "Thinking needs room: set max_completion_tokens above 1024, or reasoning.effort to none",
        ));
    }
    let percent = match effort {
        Effort::None | Effort::Minimal => 10,
        Effort::Low => 20,
        Effort::Medium => 50,
        Effort::High => 80,
        Effort::ExtraHigh | Effort::Max => 95,
    };
    let share = max_tokens.saturating_mul(percent) / 100;
    Ok(share.clamp(BUDGET_TOKENS_MIN, max_tokens - 1))
}

/// Names of the requested fields that this protocol lacks or, with thinking enabled, does not
/// allow.
pub(super) fn dropped(request: &ChatRequest) -> Vec<String> {
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
    ours.chain(dropped::unknown(&request.rest)).collect()
}

/// A penalty of zero has no effect.
fn is_set(penalty: Option<f64>) -> bool {
    penalty.is_some_and(|penalty| penalty != 0.0)
}

pub(super) fn rejected(message: &str) -> EngineError {
    EngineError::Rejected { message: message.to_owned() }
}

fn encode(body: &Body<'_>) -> Result<Vec<u8>, EngineError> {
    serde_json::to_vec(body)
        .map_err(|error| rejected(&format!("The request cannot be written as JSON: {error}")))
}
