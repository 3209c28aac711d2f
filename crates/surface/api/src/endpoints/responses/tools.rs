//! The choice of tools, and the tools that a response repeats.

use engine::ToolChoicePolicy;
use schema_check::{PathStep, ValidationFaults};
use wire::chat::ToolChoiceMode;
use wire::responses::{
    EchoedSelection, EchoedTool, EchoedToolChoice, EchoedToolFormat, ResponseTool,
    ResponseToolChoice, ToolSelection,
};

use super::tool_table::{CallForm, DeclaredTool, ToolTable, shorten};
use super::web::{is_search, is_search_type};

const NOT_OFFERED: &str = "No such tool is offered; list it in `tools`";

/// The fields of the request that a response repeats.
#[derive(Debug, Clone)]
pub(super) struct ResponseEcho {
    pub(super) parallel_tool_calls: bool,
    pub(super) tool_choice: EchoedToolChoice,
    pub(super) tools: Vec<EchoedTool>,
}

impl ResponseEcho {
    pub(super) fn build(
        tools: &[ResponseTool],
        choice: Option<&ResponseToolChoice>,
        parallel_tool_calls: Option<bool>,
    ) -> ResponseEcho {
        ResponseEcho {
            parallel_tool_calls: parallel_tool_calls.unwrap_or(true),
            tool_choice: echo_choice(choice),
            tools: tools.iter().filter_map(echo_tool).collect(),
        }
    }
}

const fn mode_name(mode: ToolChoiceMode) -> &'static str {
    match mode {
        ToolChoiceMode::Auto => "auto",
        ToolChoiceMode::None => "none",
        ToolChoiceMode::Required => "required",
    }
}

fn echo_choice(choice: Option<&ResponseToolChoice>) -> EchoedToolChoice {
    match choice {
        None => EchoedToolChoice::Mode("auto"),
        Some(ResponseToolChoice::Mode(mode)) => EchoedToolChoice::Mode(mode_name(*mode)),
        Some(ResponseToolChoice::Selection(chosen)) => {
            EchoedToolChoice::Selection(echo_selection(chosen))
        }
    }
}

fn echo_selection(chosen: &ToolSelection) -> EchoedSelection {
    EchoedSelection {
        kind: chosen.kind.clone(),
        name: selected_name(chosen).map(str::to_owned),
        namespace: chosen.namespace.clone(),
        server_label: chosen.server_label.clone(),
        mode: chosen.mode.map(mode_name),
        tools: chosen.tools.as_ref().map(|tools| tools.iter().map(echo_selection).collect()),
    }
}

/// A tool as it was offered; None for one that was left out.
fn echo_tool(tool: &ResponseTool) -> Option<EchoedTool> {
    let ResponseTool { kind, name, description, parameters, strict, function, .. } = tool;
    let description = description.clone();
    match (kind.as_str(), function) {
        ("function", Some(function)) => Some(EchoedTool::Function {
            name: function.name.clone(),
            description: function.description.clone(),
            parameters: function.parameters.clone(),
            strict: function.strict,
        }),
        ("function", None) => Some(EchoedTool::Function {
            name: name.clone()?,
            description,
            parameters: parameters.clone(),
            strict: *strict,
        }),
        ("custom", _) => Some(EchoedTool::Custom {
            name: name.clone()?,
            description,
            format: tool.format.clone().map(|format| EchoedToolFormat {
                kind: format.kind,
                syntax: format.syntax,
                definition: format.definition,
            }),
        }),
        ("namespace", _) => Some(EchoedTool::Namespace {
            name: name.clone()?,
            description,
            tools: tool.tools.iter().flatten().filter_map(echo_tool).collect(),
        }),
        ("tool_search", _) => Some(EchoedTool::ToolSearch {
            execution: "client",
            description,
            parameters: parameters.clone(),
        }),
        ("mcp", _) => Some(EchoedTool::Mcp {
            server_label: tool.mcp.server_label.clone()?,
            server_description: tool.mcp.server_description.clone(),
            allowed_tools: tool.mcp.allowed_tools.clone(),
            require_approval: tool.mcp.require_approval.clone(),
        }),
        _ => is_search(tool).then_some(EchoedTool::WebSearch {}),
    }
}

fn selected_name(chosen: &ToolSelection) -> Option<&str> {
    chosen.name.as_deref().or(chosen.function.as_ref().map(|function| function.name.as_str()))
}

/// The choice as a chat has it. `allowed_tools` leaves only those tools in the table.
pub(super) fn to_tool_choice(
    choice: Option<&ResponseToolChoice>,
    table: &mut ToolTable,
    has_search: bool,
    faults: &mut ValidationFaults,
) -> Option<ToolChoicePolicy> {
    let chosen = match choice? {
        ResponseToolChoice::Mode(mode) => return Some(to_policy(*mode)),
        ResponseToolChoice::Selection(chosen) => chosen,
    };
    let place = [PathStep::from("tool_choice")];
    if chosen.kind != "allowed_tools" {
        let tool = find_tool(chosen, &place, table, has_search, faults)?;
        return Some(ToolChoicePolicy::Function(table.function_name(&tool)));
    }
    let mut allowed = Vec::new();
    for (index, tool) in chosen.tools.iter().flatten().enumerate() {
        let place = [PathStep::from("tool_choice"), "tools".into(), index.into()];
        allowed.extend(find_tool(tool, &place, table, has_search, faults));
    }
    if chosen.tools.as_ref().is_none_or(Vec::is_empty) {
        faults.at(["tool_choice", "tools"]).push("Required");
    }
    table.retain_tools(&allowed);
    Some(to_policy(chosen.mode.unwrap_or(ToolChoiceMode::Auto)))
}

fn to_policy(mode: ToolChoiceMode) -> ToolChoicePolicy {
    match mode {
        ToolChoiceMode::Auto => ToolChoicePolicy::Auto,
        ToolChoiceMode::None => ToolChoicePolicy::None,
        ToolChoiceMode::Required => ToolChoicePolicy::Required,
    }
}

/// The chosen tool. None for the web search, which was made before, and for faults.
fn find_tool(
    chosen: &ToolSelection,
    place: &[PathStep],
    table: &ToolTable,
    has_search: bool,
    faults: &mut ValidationFaults,
) -> Option<DeclaredTool> {
    let mut refuse = |field: &str, message: &str| {
        faults.at(place.iter().cloned().chain([field.into()])).push(message);
    };
    let form = match chosen.kind.as_str() {
        "function" => CallForm::Function,
        "custom" => CallForm::Custom,
        // The tools of MCP servers are not known yet (`McpRequest`).
        "mcp" => return None,
        "tool_search" if table.contains(&DeclaredTool::tool_search()) => {
            return Some(DeclaredTool::tool_search());
        }
        kind if is_search_type(kind) && has_search => return None,
        kind if is_search_type(kind) || kind == "tool_search" => {
            refuse("type", NOT_OFFERED);
            return None;
        }
        kind => {
            refuse("type", &format!("A tool of type `{}` cannot be chosen", shorten(kind)));
            return None;
        }
    };
    let Some(name) = selected_name(chosen) else {
        refuse("name", "Required");
        return None;
    };
    let (namespace, name) = (chosen.namespace.clone(), name.to_owned());
    let tool = DeclaredTool { namespace, name, form };
    if !table.contains(&tool) {
        refuse("name", NOT_OFFERED);
        return None;
    }
    Some(tool)
}
