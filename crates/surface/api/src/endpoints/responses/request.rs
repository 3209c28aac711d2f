//! Turns a response request into an engine request, and into the fields that the response repeats.

use engine::{
    ChatContent, ChatMessage, ChatRequest, ChatResponseFormat, ReasoningParameters,
    SamplingParameters,
};
use schema_check::ValidationFaults;
use serde_json::value::to_raw_value;
use wire::chat::ReasoningOptions;
use wire::responses::{ResponseRequest, ResponseTextFormat};

use super::tools::{self, ResponseEcho};
use super::turns::{self, CheckedMedia, DocumentReplacement};
use super::unsupported::{self, AvailableSearches};
use super::web::{is_search, x_search};
use crate::endpoints::chat::request::options::from_wire_effort;
use crate::endpoints::persona::SurroundingPrompts;
use crate::refusal::Refusal;

/// Default name of a schema.
const SCHEMA_NAME: &str = "response";

pub(super) struct TranslatedRequest {
    pub(super) chat: ChatRequest,
    /// Replacements of documents for models that cannot read them, in the order of the documents.
    pub(super) stand_ins: Vec<DocumentReplacement>,
    pub(super) echo: ResponseEcho,
    /// True if `<think>` blocks are removed from the text, and reasoning with them.
    pub(super) strips_thoughts: bool,
}

pub(super) fn translate_request(
    body: ResponseRequest,
    preamble: &SurroundingPrompts,
    sent: &CheckedMedia<'_>,
    searchable: AvailableSearches,
) -> Result<TranslatedRequest, Refusal> {
    let mut faults = ValidationFaults::default();
    unsupported::refuse_unsupported(&body, searchable, &mut faults);
    let options = body.service_parameters.unwrap_or_default();
    let system = [Some(preamble.system_prompt.as_str()), body.instructions.as_deref()];
    let mut stand_ins = Vec::new();
    let mut messages = turns::build_messages(system, body.input, sent, &mut stand_ins, &mut faults);
    if !preamble.last_words.is_empty() {
        let content = ChatContent::Text(preamble.last_words.clone());
        messages.push(ChatMessage::System { content, name: None });
    }
    let tools = body.tools.unwrap_or_default();
    let x_search = x_search(&tools, options.enable_x_search == Some(true));
    let has_search = tools.iter().any(is_search);
    let offered = tools::list_functions(tools, &mut faults);
    let tool_choice = tools::to_tool_choice(body.tool_choice, &mut faults);
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let echo =
        ResponseEcho::build(&offered, has_search, tool_choice.as_ref(), body.parallel_tool_calls);
    // A required search was already made by us.
    let tool_choice = tool_choice.filter(|_| !has_search || !offered.is_empty());
    let (format, verbosity) = body.text.map_or((None, None), |text| (text.format, text.verbosity));
    let sampling = SamplingParameters {
        temperature: body.temperature,
        top_p: body.top_p,
        ..SamplingParameters::default()
    };
    let disables_thinking = options.disable_thinking == Some(true);
    let thinking = if disables_thinking {
        ReasoningParameters { enabled: Some(false), ..ReasoningParameters::default() }
    } else {
        body.reasoning.map(build_reasoning).unwrap_or_default()
    };
    let chat = ChatRequest {
        messages,
        completion_tokens_max: body.max_output_tokens,
        sampling,
        tools: offered.into_iter().map(tools::engine_tool).collect(),
        tool_choice,
        parallel_tool_calls: body.parallel_tool_calls,
        response_format: response_format(format)?,
        reasoning: thinking,
        verbosity: verbosity.map(|it| it.name().to_owned()),
        prompt_cache_key: body.prompt_cache_key,
        x_search,
        ..ChatRequest::default()
    };
    let strips_thoughts = options.strip_thinking_response == Some(true) || disables_thinking;
    Ok(TranslatedRequest { chat, stand_ins, echo, strips_thoughts })
}

fn response_format(format: Option<ResponseTextFormat>) -> Result<ChatResponseFormat, Refusal> {
    Ok(match format {
        None | Some(ResponseTextFormat::Text) => ChatResponseFormat::Text,
        Some(ResponseTextFormat::JsonObject) => ChatResponseFormat::JsonObject,
        Some(ResponseTextFormat::JsonSchema { name, schema, strict }) => {
            let name = name.unwrap_or_else(|| SCHEMA_NAME.to_owned());
            let schema = to_raw_value(&schema).map_err(Refusal::internal)?;
            ChatResponseFormat::JsonSchema { name, schema, strict }
        }
    })
}

fn build_reasoning(options: ReasoningOptions) -> ReasoningParameters {
    let effort = options.effort.map(from_wire_effort);
    let summary = options.summary.map(|it| it.name().to_owned());
    ReasoningParameters { effort, summary, enabled: options.enabled }
}
