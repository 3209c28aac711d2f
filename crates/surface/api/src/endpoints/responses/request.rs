//! Turns a response request into an engine request, and into the fields that the response repeats.

use engine::{
    ChatContent, ChatMessage, ChatRequest, ChatResponseFormat, ReasoningParameters,
    SamplingParameters,
};
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use serde_json::value::to_raw_value;
use wire::chat::ReasoningOptions;
use wire::responses::{ResponseRequest, ResponseTextFormat};

use super::history::{ChatHistory, HistoryContext, RequestFaults, read_history};
use super::mcp_history::McpHistory;
use super::mcp_request::McpRequest;
use super::reasoning_seal::ReasoningSealer;
use super::tool_table::{ToolPlace, ToolTable};
use super::tools::{self, ResponseEcho};
use super::turns::{self, CheckedMedia, DocumentReplacement};
use super::unsupported::{self, AvailableSearches, ENCRYPTED_REASONING, SEARCH_SOURCES};
use super::web::{is_search, x_search};
use crate::endpoints::chat::request::options::from_wire_effort;
use crate::endpoints::persona::SurroundingPrompts;

/// Default name of a schema.
const SCHEMA_NAME: &str = "response";

pub(super) struct TranslatedRequest {
    pub(super) chat: ChatRequest,
    /// Replacements of documents for models that cannot read them, in the order of the documents.
    pub(super) stand_ins: Vec<DocumentReplacement>,
    pub(super) echo: ResponseEcho,
    /// The tools behind the names of functions.
    pub(super) table: ToolTable,
    /// The MCP servers of the request, if it has some.
    pub(super) mcp: Option<McpRequest>,
    /// True if `<think>` blocks are removed from the text, and reasoning with them.
    pub(super) strips_thoughts: bool,
    /// True if reasoning is returned for the caller to send back.
    pub(super) seals_reasoning: bool,
    /// True if web searches list the pages that they found.
    pub(super) lists_sources: bool,
}

/// The data needed to translate a request.
pub(super) struct TranslationContext<'a> {
    pub(super) call: &'a PaidCall,
    pub(super) preamble: &'a SurroundingPrompts,
    pub(super) media: &'a CheckedMedia<'a>,
    pub(super) sealer: &'a ReasoningSealer,
    /// The id of the requested model.
    pub(super) model: &'a str,
    pub(super) searchable: AvailableSearches,
    /// True if the engine gets the request as it is. The translation is then only counted.
    pub(super) is_native: bool,
}

pub(super) fn translate_request(
    body: ResponseRequest,
    context: &TranslationContext<'_>,
) -> Result<TranslatedRequest, Refusal> {
    let mut faults = RequestFaults::default();
    unsupported::refuse_unsupported(&body, context.searchable, &mut faults.for_all);
    unsupported::refuse_includes(&body, &mut faults.for_chat);
    let includes = |name: &str| body.include.iter().flatten().any(|it| it == name);
    let seals_reasoning = includes(ENCRYPTED_REASONING);
    let lists_sources = includes(SEARCH_SOURCES);
    let options = body.service_parameters.unwrap_or_default();
    let declared = body.tools.unwrap_or_default();
    let mut table = ToolTable::default();
    let place = ToolPlace { path: vec!["tools".into()], is_history: false };
    table.add_tools(&declared, &place, &mut faults.for_all);
    let mcp_history = McpHistory::collect(&body.input, &mut faults.for_all);
    let TranslationContext { media, sealer, model, .. } = *context;
    let history = HistoryContext { media, sealer, model, mcp: &mcp_history };
    let ChatHistory { messages, stand_ins } =
        read_history(body.input, history, &mut table, &mut faults);
    let preamble = context.preamble;
    let system = [Some(preamble.system_prompt.as_str()), body.instructions.as_deref()];
    let mut messages = turns::merge_system_messages(system, messages);
    if !preamble.last_words.is_empty() {
        let content = ChatContent::Text(preamble.last_words.clone());
        messages.push(ChatMessage::System { content, name: None });
    }
    let x_search = x_search(&declared, options.enable_x_search == Some(true));
    let has_search = declared.iter().any(is_search);
    let choice = body.tool_choice.as_ref();
    let tool_choice = tools::to_tool_choice(choice, &mut table, has_search, &mut faults.for_chat);
    let mcp = McpRequest::read(context.call, &declared, choice, mcp_history, &mut faults.for_all);
    let mcp = mcp.map(|mcp| mcp.with_calls_max(body.max_tool_calls));
    let mut all_faults = faults.for_all;
    if !context.is_native {
        all_faults.merge(faults.for_chat);
    }
    all_faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let echo = ResponseEcho::build(&declared, choice, body.parallel_tool_calls);
    // A required search was already made by us.
    let has_tools = !table.is_empty() || mcp.is_some();
    let tool_choice = tool_choice.filter(|_| !has_search || has_tools);
    let dropped = table.take_dropped();
    let offered = table.list_functions();
    let (format, verbosity) = body.text.map_or((None, None), |text| (text.format, text.verbosity));
    let (temperature, top_p) = (body.temperature, body.top_p);
    let sampling = SamplingParameters { temperature, top_p, ..SamplingParameters::default() };
    let disables_thinking = options.disable_thinking == Some(true);
    let thinking = build_reasoning(body.reasoning, disables_thinking);
    let chat = ChatRequest {
        messages,
        completion_tokens_max: body.max_output_tokens,
        sampling,
        tools: offered,
        tool_choice,
        parallel_tool_calls: body.parallel_tool_calls,
        response_format: response_format(format)?,
        reasoning: thinking,
        verbosity: verbosity.map(|it| it.name().to_owned()),
        prompt_cache_key: body.prompt_cache_key,
        x_search,
        dropped,
        ..ChatRequest::default()
    };
    Ok(TranslatedRequest {
        chat,
        stand_ins,
        echo,
        table,
        mcp,
        strips_thoughts: options.strip_thinking_response == Some(true) || disables_thinking,
        seals_reasoning,
        lists_sources,
    })
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

fn build_reasoning(options: Option<ReasoningOptions>, is_disabled: bool) -> ReasoningParameters {
    if is_disabled {
        return ReasoningParameters { enabled: Some(false), ..ReasoningParameters::default() };
    }
    let Some(options) = options else { return ReasoningParameters::default() };
    let effort = options.effort.map(from_wire_effort);
    let summary = options.summary.map(|it| it.name().to_owned());
    ReasoningParameters { effort, summary, enabled: options.enabled }
}
