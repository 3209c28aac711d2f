//! Sampling, tools and the format of the answer.

use engine::{Effort, Logprobs, ResponseFormat, Sampling, Tool, ToolChoice};
use schema_check::Faults;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use wire::chat::{self, ChatCompletionRequest, Stop, ToolChoiceMode};

/// The caller's values only; the model's defaults are added by `Candidate::new`.
pub(super) fn sampling(body: &ChatCompletionRequest) -> Sampling {
    Sampling {
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

pub(super) fn stop(body: &ChatCompletionRequest) -> Vec<String> {
    match &body.stop {
        None => Vec::new(),
        Some(Stop::One(sequence)) => vec![sequence.clone()],
        Some(Stop::Several(sequences)) => sequences.clone(),
    }
}

pub(super) fn logprobs(body: &ChatCompletionRequest) -> Option<Logprobs> {
    let top = body.top_logprobs.filter(|top| 0 < *top);
    (body.logprobs == Some(true) || top.is_some()).then_some(Logprobs { top })
}

pub(super) fn tools(body: &ChatCompletionRequest) -> Vec<Tool> {
    let tool = |tool: &chat::Tool| Tool {
        name: tool.function.name.clone(),
        description: tool.function.description.clone(),
        parameters: tool.function.parameters.as_ref().and_then(raw),
        strict: tool.function.strict,
    };
    body.tools.iter().flatten().map(tool).collect()
}

pub(super) fn tool_choice(body: &ChatCompletionRequest) -> Option<ToolChoice> {
    let choice = body.tool_choice.as_ref()?;
    Some(match choice {
        chat::ToolChoice::Mode(ToolChoiceMode::Auto) => ToolChoice::Auto,
        chat::ToolChoice::Mode(ToolChoiceMode::None) => ToolChoice::None,
        chat::ToolChoice::Mode(ToolChoiceMode::Required) => ToolChoice::Required,
        chat::ToolChoice::Function(choice) => ToolChoice::Function(choice.function.name.clone()),
    })
}

/// OpenAI nests the schema under `schema`; some clients put it directly into `json_schema`.
pub(super) fn response_format(body: &ChatCompletionRequest, faults: &mut Faults) -> ResponseFormat {
    let format = match &body.response_format {
        None | Some(chat::ResponseFormat::Text) => return ResponseFormat::Text,
        Some(chat::ResponseFormat::JsonObject) => return ResponseFormat::JsonObject,
        Some(chat::ResponseFormat::JsonSchema { json_schema }) => json_schema,
    };
    let direct = Some(&format.direct).filter(|schema| !schema.is_empty());
    let Some(schema) = format.schema.as_ref().or(direct).and_then(raw) else {
        faults.at(["response_format", "json_schema", "schema"]).push("Required");
        return ResponseFormat::JsonObject;
    };
    let name = format.name.clone().unwrap_or_else(|| "answer".to_owned());
    ResponseFormat::JsonSchema { name, schema, strict: format.strict }
}

pub(in crate::endpoints) fn effort(effort: chat::Effort) -> Effort {
    match effort {
        chat::Effort::None => Effort::None,
        chat::Effort::Minimal => Effort::Minimal,
        chat::Effort::Low => Effort::Low,
        chat::Effort::Medium => Effort::Medium,
        chat::Effort::High => Effort::High,
        chat::Effort::Xhigh => Effort::ExtraHigh,
        chat::Effort::Max => Effort::Max,
    }
}

/// The schema as raw JSON.
fn raw(schema: &Map<String, Value>) -> Option<Box<RawValue>> {
    to_raw_value(schema).ok()
}
