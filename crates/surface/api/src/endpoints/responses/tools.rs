//! Functions that a model may call.

use engine::ToolChoicePolicy;
use schema_check::{PathStep, ValidationFaults};
use serde_json::value::to_raw_value;
use wire::chat::{Function, ToolChoiceMode, ToolKind};
use wire::responses::{EchoedTool, EchoedToolChoice, ResponseTool, ResponseToolChoice};

/// The fields of the request that a response repeats.
#[derive(Debug, Clone)]
pub(super) struct ResponseEcho {
    pub(super) parallel_tool_calls: bool,
    pub(super) tool_choice: EchoedToolChoice,
    pub(super) tools: Vec<EchoedTool>,
}

impl ResponseEcho {
    pub(super) fn build(
        offered: &[Function],
        has_search: bool,
        choice: Option<&ToolChoicePolicy>,
        parallel_tool_calls: Option<bool>,
    ) -> ResponseEcho {
        let tool_choice = match choice {
            None | Some(ToolChoicePolicy::Auto) => EchoedToolChoice::Mode("auto"),
            Some(ToolChoicePolicy::None) => EchoedToolChoice::Mode("none"),
            Some(ToolChoicePolicy::Required) => EchoedToolChoice::Mode("required"),
            Some(ToolChoicePolicy::Function(name)) => {
                EchoedToolChoice::Function { kind: ToolKind::Function, name: name.clone() }
            }
        };
        let tools = offered.iter().map(|function| EchoedTool::Function {
            name: function.name.clone(),
            description: function.description.clone(),
            parameters: function.parameters.clone(),
            strict: function.strict,
        });
        let tools = tools.chain(has_search.then_some(EchoedTool::WebSearch {})).collect();
        let parallel_tool_calls = parallel_tool_calls.unwrap_or(true);
        ResponseEcho { parallel_tool_calls, tool_choice, tools }
    }
}

/// The functions among the tools. Other kinds of tools are not passed to the model.
pub(super) fn list_functions(
    tools: Vec<ResponseTool>,
    faults: &mut ValidationFaults,
) -> Vec<Function> {
    let mut offered = Vec::new();
    for (index, tool) in tools.into_iter().enumerate() {
        if tool.kind != "function" {
            continue;
        }
        let ResponseTool { name, description, parameters, strict, function, .. } = tool;
        let flat = name.map(|name| Function { name, description, parameters, strict });
        match function.or(flat) {
            Some(function) => offered.push(function),
            None => {
                let place =
                    [PathStep::from("tools"), PathStep::from(index), PathStep::from("name")];
                faults.at(place).push("Required");
            }
        }
    }
    offered
}

pub(super) fn to_tool_choice(
    choice: Option<ResponseToolChoice>,
    faults: &mut ValidationFaults,
) -> Option<ToolChoicePolicy> {
    match choice? {
        ResponseToolChoice::Mode(ToolChoiceMode::Auto) => Some(ToolChoicePolicy::Auto),
        ResponseToolChoice::Mode(ToolChoiceMode::None) => Some(ToolChoicePolicy::None),
        ResponseToolChoice::Mode(ToolChoiceMode::Required) => Some(ToolChoicePolicy::Required),
        ResponseToolChoice::Function(named) => {
            let name = named.name.or(named.function.map(|function| function.name));
            if name.is_none() {
                faults.at(["tool_choice", "name"]).push("Required");
            }
            name.map(ToolChoicePolicy::Function)
        }
    }
}

pub(super) fn engine_tool(function: Function) -> engine::ChatTool {
    engine::ChatTool {
        name: function.name,
        description: function.description,
        parameters: function.parameters.and_then(|schema| to_raw_value(&schema).ok()),
        strict: function.strict,
    }
}
