//! The tools of a request, and the choice among them.

use engine::{ChatTool, ToolChoicePolicy};
use schema_check::ValidationFaults;
use serde_json::Value;
use serde_json::value::to_raw_value;
use wire::messages::{MessagesRequest, MessagesTool};

use super::blocks::BlockPolicy;
use super::fields::{FieldPath, REQUIRED, describe_unknown_tag, read_text};
use super::mcp::is_tool_set;

/// Bytes of all names, descriptions and schemas. More would not fit into any context window.
const TOOL_BYTES_MAX: usize = 4 * 1024 * 1024;
const NAME_CHARACTERS_MAX: usize = 128;
const SEARCH_PREFIX: &str = "web_search_";

/// The kinds of tools that this service can run itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunnableTools {
    /// True if the service searches the web.
    pub(super) search: bool,
    /// True if tools of MCP servers will be added.
    pub(super) mcp: bool,
}

/// True for the service's web search.
pub(super) fn is_search(tool: &MessagesTool) -> bool {
    tool.kind.as_deref().is_some_and(|kind| kind.starts_with(SEARCH_PREFIX))
}

fn is_custom(tool: &MessagesTool) -> bool {
    matches!(tool.kind.as_deref(), None | Some("custom"))
}

/// The functions for the model. Tools that this service runs are not among them.
pub(super) fn build_tools(
    tools: Vec<MessagesTool>,
    policy: BlockPolicy,
    runnable: RunnableTools,
    faults: &mut ValidationFaults,
) -> Vec<ChatTool> {
    let path = FieldPath::top("tools");
    let (mut bytes, mut offered) = (0_usize, Vec::new());
    for (index, tool) in tools.into_iter().enumerate() {
        let place = path.join(index);
        if policy == BlockPolicy::Strict {
            check_tool(&tool, &place, runnable, faults);
        }
        if policy == BlockPolicy::Strict && !is_custom(&tool) {
            continue;
        }
        let built = build_tool(tool);
        let schema = built.parameters.as_deref().map_or(0, |schema| schema.get().len());
        let described = built.description.as_deref().map_or(0, str::len);
        bytes = bytes.saturating_add(schema + described + built.name.len());
        offered.push(built);
    }
    if TOOL_BYTES_MAX < bytes {
        let message = format!(
            "The names, descriptions and schemas have {bytes} bytes; at most {TOOL_BYTES_MAX} are \
             allowed"
        );
        path.push_fault(faults, message);
    }
    offered
}

/// Adds faults of a tool that cannot be translated.
fn check_tool(
    tool: &MessagesTool,
    path: &FieldPath,
    runnable: RunnableTools,
    faults: &mut ValidationFaults,
) {
    if !is_custom(tool) {
        // Tools of MCP servers are added once their servers have listed them.
        if !(is_tool_set(tool) || runnable.search && is_search(tool)) {
            let kind = tool.kind.as_deref().unwrap_or_default();
            let expected: &[&str] =
                if runnable.search { &["custom", "web_search_20250305"] } else { &["custom"] };
            path.push_fault(faults, describe_unknown_tag(kind, expected));
        }
        return;
    }
    match tool.name.as_deref() {
        None | Some("") => path.join("name").push_fault(faults, REQUIRED),
        Some(name) if NAME_CHARACTERS_MAX < name.chars().count() => {
            let message = format!("String should have at most {NAME_CHARACTERS_MAX} characters");
            path.join("name").push_fault(faults, message);
        }
        Some(_) => {}
    }
    match &tool.input_schema {
        None | Some(Value::Null) => path.join("input_schema").push_fault(faults, REQUIRED),
        Some(Value::Object(_)) => {}
        Some(_) => {
            path.join("input_schema").push_fault(faults, "Input should be a valid dictionary");
        }
    }
}

fn build_tool(tool: MessagesTool) -> ChatTool {
    ChatTool {
        name: tool.name.unwrap_or_default(),
        description: tool.description,
        parameters: tool.input_schema.and_then(|schema| to_raw_value(&schema).ok()),
        strict: tool.strict,
    }
}

/// The choice among tools, and whether several calls at once are allowed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ToolChoiceOptions {
    pub(super) policy: Option<ToolChoicePolicy>,
    pub(super) parallel: Option<bool>,
}

pub(super) fn read_tool_choice(
    request: &MessagesRequest,
    policy: BlockPolicy,
    faults: &mut ValidationFaults,
) -> ToolChoiceOptions {
    let Some(choice) = &request.tool_choice else { return ToolChoiceOptions::default() };
    let path = FieldPath::top("tool_choice");
    let kind = read_text(choice, "type").unwrap_or_default();
    let asked = match kind {
        "auto" => Some(ToolChoicePolicy::Auto),
        "any" => Some(ToolChoicePolicy::Required),
        "none" => Some(ToolChoicePolicy::None),
        "tool" => match read_text(choice, "name") {
            Some(name) => Some(ToolChoicePolicy::Function(name.to_owned())),
            None => {
                if policy == BlockPolicy::Strict {
                    path.join("name").push_fault(faults, REQUIRED);
                }
                None
            }
        },
        _ => {
            if policy == BlockPolicy::Strict {
                let expected = ["any", "auto", "none", "tool"];
                path.push_fault(faults, describe_unknown_tag(kind, &expected));
            }
            None
        }
    };
    let is_single = choice.get("disable_parallel_tool_use").and_then(Value::as_bool) == Some(true);
    ToolChoiceOptions { policy: asked, parallel: is_single.then_some(false) }
}
