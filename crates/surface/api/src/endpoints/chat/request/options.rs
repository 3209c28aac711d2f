//! Sampling, tools and the format of the answer.

use engine::{
    ChatResponseFormat, ChatTool, EffortLevel, LogprobParameters, SamplingParameters,
    ToolChoicePolicy,
};
use schema_check::ValidationFaults;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use wire::chat::{self, ChatCompletionRequest, Stop, ToolChoiceMode};

/// The caller's values only; the model's defaults are added by `Candidate::new`.
pub(super) fn build_sampling(body: &ChatCompletionRequest) -> SamplingParameters {
    SamplingParameters {
        temperature: body.temperature,
        temperature_min: body.min_temp,
        temperature_max: body.max_temp,
        top_p: body.top_p,
        top_k: body.top_k,
        min_p: body.min_p,
        frequency_penalty: body.frequency_penalty,
        presence_penalty: body.presence_penalty,
        repetition_penalty: body.repetition_penalty,
        seed: body.seed,
    }
}

pub(super) fn list_stop_sequences(body: &ChatCompletionRequest) -> Vec<String> {
    match &body.stop {
        None => Vec::new(),
        Some(Stop::One(sequence)) => vec![sequence.clone()],
        Some(Stop::Several(sequences)) => sequences.clone(),
    }
}

pub(super) fn build_logprobs(body: &ChatCompletionRequest) -> Option<LogprobParameters> {
    let top = body.top_logprobs.filter(|top| 0 < *top);
    (body.logprobs == Some(true) || top.is_some()).then_some(LogprobParameters { top })
}

pub(super) fn build_tools(body: &ChatCompletionRequest) -> Vec<ChatTool> {
    let tool = |tool: &chat::Tool| ChatTool {
        name: tool.function.name.clone(),
        description: tool.function.description.clone(),
        parameters: tool.function.parameters.as_ref().and_then(to_raw_json),
        strict: tool.function.strict,
    };
    body.tools.iter().flatten().map(tool).collect()
}

pub(super) fn tool_choice(body: &ChatCompletionRequest) -> Option<ToolChoicePolicy> {
    let choice = body.tool_choice.as_ref()?;
    Some(match choice {
        chat::ToolChoice::Mode(ToolChoiceMode::Auto) => ToolChoicePolicy::Auto,
        chat::ToolChoice::Mode(ToolChoiceMode::None) => ToolChoicePolicy::None,
        chat::ToolChoice::Mode(ToolChoiceMode::Required) => ToolChoicePolicy::Required,
        chat::ToolChoice::Function(choice) => {
            ToolChoicePolicy::Function(choice.function.name.clone())
        }
    })
}

/// OpenAI nests the schema under `schema`; some clients put it directly into `json_schema`.
pub(super) fn response_format(
    body: &ChatCompletionRequest,
    faults: &mut ValidationFaults,
) -> ChatResponseFormat {
    let format = match &body.response_format {
        None | Some(chat::ResponseFormat::Text) => return ChatResponseFormat::Text,
        Some(chat::ResponseFormat::JsonObject) => return ChatResponseFormat::JsonObject,
        Some(chat::ResponseFormat::JsonSchema { json_schema }) => json_schema,
    };
    let direct = Some(&format.direct).filter(|schema| !schema.is_empty());
    let Some(schema) = format.schema.as_ref().or(direct).and_then(to_raw_json) else {
        faults.at(["response_format", "json_schema", "schema"]).push("Required");
        return ChatResponseFormat::JsonObject;
    };
    let name = format.name.clone().unwrap_or_else(|| "answer".to_owned());
    ChatResponseFormat::JsonSchema { name, schema, strict: format.strict }
}

pub(in crate::endpoints) fn from_wire_effort(effort: chat::Effort) -> EffortLevel {
    match effort {
        chat::Effort::None => EffortLevel::None,
        chat::Effort::Minimal => EffortLevel::Minimal,
        chat::Effort::Low => EffortLevel::Low,
        chat::Effort::Medium => EffortLevel::Medium,
        chat::Effort::High => EffortLevel::High,
        chat::Effort::Xhigh => EffortLevel::ExtraHigh,
        chat::Effort::Max => EffortLevel::Max,
    }
}

/// The schema as raw JSON.
fn to_raw_json(schema: &Map<String, Value>) -> Option<Box<RawValue>> {
    to_raw_value(schema).ok()
}
