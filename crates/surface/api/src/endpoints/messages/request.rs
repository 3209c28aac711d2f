//! Turns a request of the Messages API into an engine request.

use engine::{
    ChatRequest, ChatResponseFormat, EffortLevel, ReasoningParameters, SamplingParameters,
    ToolChoicePolicy,
};
use schema_check::ValidationFaults;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};
use wire::messages::MessagesRequest;

use super::blocks::BlockPolicy;
use super::fields::{FieldPath, REQUIRED, describe_unknown_tag, read_text};
use super::thinking_seal::{ThinkingDisplay, ThinkingSeal};
use super::tools::{self, RunnableTools};
use super::turns::TurnTranslator;

const SCHEMA_NAME: &str = "response";
/// Budgets of thinking below which the effort is low or medium.
const BUDGET_LOW_BELOW: u64 = 4_096;
const BUDGET_MEDIUM_BELOW: u64 = 16_384;

/// A request for an engine, and what the reply needs to know of it.
pub(super) struct TranslatedMessages {
    pub(super) chat: ChatRequest,
    /// The places of images and documents, in the order of the parts in `chat`.
    pub(super) media_paths: Vec<FieldPath>,
    pub(super) display: ThinkingDisplay,
    pub(super) faults: ValidationFaults,
}

/// Translates a request. With [`BlockPolicy::Lenient`] the result is good for counting only.
pub(super) fn translate_request(
    mut request: MessagesRequest,
    policy: BlockPolicy,
    seal: &ThinkingSeal,
    runnable: RunnableTools,
) -> TranslatedMessages {
    let mut turns = TurnTranslator::new(policy, seal);
    if let Some(system) = request.system.take() {
        turns.read_system(system);
    }
    turns.read_messages(std::mem::take(&mut request.messages));
    let TurnTranslator { messages, mut faults, media_paths, tool_changes, output_config, .. } =
        turns;
    let declared = request.tools.take().unwrap_or_default();
    let has_search = declared.iter().any(tools::is_search);
    let offered = tools::build_tools(tool_changes.apply(declared), policy, runnable, &mut faults);
    let mut choice = tools::read_tool_choice(&request, policy, &mut faults);
    // A required search is made by the service before the model is asked.
    let is_searchs = matches!(&choice.policy, Some(ToolChoicePolicy::Function(name))
        if has_search && offered.iter().all(|tool| tool.name != *name));
    if is_searchs || (offered.is_empty() && !runnable.mcp) {
        choice.policy = None;
    }
    let mut options = OptionReader { policy, faults: &mut faults };
    let output = output_config.as_ref().or(request.output_config.as_ref());
    let effort = options.read_effort(output, output_config.is_some());
    let format = request.output_config.as_ref().and_then(|it| it.get("format"));
    let format = options.read_format(format, request.output_format.as_ref());
    let (reasoning, display) = options.read_thinking(request.thinking.as_ref(), effort);
    options.check_rest(&request);
    let chat = ChatRequest {
        messages,
        completion_tokens_max: Some(request.max_tokens.max(1)),
        sampling: SamplingParameters {
            temperature: request.temperature,
            top_p: request.top_p,
            top_k: request.top_k,
            ..SamplingParameters::default()
        },
        stop: request.stop_sequences.unwrap_or_default(),
        tools: offered,
        tool_choice: choice.policy,
        parallel_tool_calls: choice.parallel,
        response_format: format,
        reasoning,
        ..ChatRequest::default()
    };
    TranslatedMessages { chat, media_paths, display, faults }
}

/// Reads options of the request.
struct OptionReader<'a> {
    policy: BlockPolicy,
    faults: &'a mut ValidationFaults,
}

impl OptionReader<'_> {
    fn read_effort(
        &mut self,
        output: Option<&Map<String, Value>>,
        is_of_message: bool,
    ) -> Option<EffortLevel> {
        let effort = output?.get("effort").filter(|it| !it.is_null())?;
        let level = effort.as_str().and_then(parse_effort);
        if level.is_none() {
            let top = FieldPath::top(if is_of_message { "messages" } else { "output_config" });
            let path = if is_of_message { top.join("output_config") } else { top };
            let message = "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'";
            self.add_fault(&path.join("effort"), message);
        }
        level
    }

    /// The schema of the answer, from `output_config.format` or its earlier place.
    fn read_format(
        &mut self,
        format: Option<&Value>,
        old: Option<&Map<String, Value>>,
    ) -> ChatResponseFormat {
        let new_path = FieldPath::top("output_config").join("format");
        let (format, path) = match (format.filter(|it| !it.is_null()), old) {
            (Some(Value::Object(format)), _) => (format, new_path),
            (Some(_), _) => {
                self.add_fault(&new_path, "Input should be a valid dictionary");
                return ChatResponseFormat::Text;
            }
            (None, Some(old)) => (old, FieldPath::top("output_format")),
            (None, None) => return ChatResponseFormat::Text,
        };
        let kind = read_text(format, "type").unwrap_or_default();
        let schema = format.get("schema").filter(|it| it.is_object());
        match (kind, schema.and_then(|schema| to_raw_value(schema).ok())) {
            ("text", _) => ChatResponseFormat::Text,
            ("json_schema", Some(schema)) => {
                let name = SCHEMA_NAME.to_owned();
                ChatResponseFormat::JsonSchema { name, schema, strict: Some(true) }
            }
            ("json_schema", None) => {
                self.add_fault(&path.join("schema"), REQUIRED);
                ChatResponseFormat::Text
            }
            _ => {
                self.add_fault(&path, &describe_unknown_tag(kind, &["json_schema"]));
                ChatResponseFormat::Text
            }
        }
    }

    fn read_thinking(
        &mut self,
        thinking: Option<&Map<String, Value>>,
        effort: Option<EffortLevel>,
    ) -> (ReasoningParameters, ThinkingDisplay) {
        let plain = ReasoningParameters { effort, ..ReasoningParameters::default() };
        let Some(thinking) = thinking else { return (plain, ThinkingDisplay::Shown) };
        let display = match read_text(thinking, "display") {
            Some("omitted" | "updates") => ThinkingDisplay::Omitted,
            _ => ThinkingDisplay::Shown,
        };
        match read_text(thinking, "type").unwrap_or_default() {
            "disabled" => {
                let off = ReasoningParameters { enabled: Some(false), ..Default::default() };
                (off, ThinkingDisplay::Absent)
            }
            "adaptive" => (plain, display),
            "enabled" => {
                let budget = thinking.get("budget_tokens").and_then(Value::as_u64);
                let effort = effort.or(budget.map(effort_of_budget));
                (ReasoningParameters { effort, enabled: Some(true), summary: None }, display)
            }
            kind => {
                let expected = ["adaptive", "disabled", "enabled"];
                let message = describe_unknown_tag(kind, &expected);
                self.add_fault(&FieldPath::top("thinking"), &message);
                (plain, display)
            }
        }
    }

    fn check_rest(&mut self, request: &MessagesRequest) {
        if request.max_tokens == 0 {
            let message = "Input should be greater than or equal to 1";
            self.add_fault(&FieldPath::top("max_tokens"), message);
        }
    }

    fn add_fault(&mut self, path: &FieldPath, message: &str) {
        if self.policy == BlockPolicy::Strict {
            path.push_fault(self.faults, message);
        }
    }
}

fn parse_effort(effort: &str) -> Option<EffortLevel> {
    use EffortLevel::{ExtraHigh, High, Low, Max, Medium, Minimal, None};
    [None, Minimal, Low, Medium, High, ExtraHigh, Max]
        .into_iter()
        .find(|level| level.as_str() == effort)
}

fn effort_of_budget(budget: u64) -> EffortLevel {
    match budget {
        0..BUDGET_LOW_BELOW => EffortLevel::Low,
        BUDGET_LOW_BELOW..BUDGET_MEDIUM_BELOW => EffortLevel::Medium,
        _ => EffortLevel::High,
    }
}

#[cfg(test)]
mod tests;
