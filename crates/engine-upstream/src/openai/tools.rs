//! Encodes tools for an OpenAI-style server.

use engine::{ChatRequest, EngineError, Tool, ToolChoice};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::quirks::Quirks;

/// Returns the tools and the tool choice, as far as the server supports it.
pub(super) fn tools(
    request: &ChatRequest,
    quirks: Quirks,
) -> Result<(Vec<ToolBody<'_>>, Option<Value>), EngineError> {
    let tools = request.tools.iter().map(ToolBody::of).collect();
    // A tool choice without tools is an error for OpenAI and ignored by others.
    let choice = request.tool_choice.as_ref().filter(|_| !request.tools.is_empty());
    let Some(choice) = choice else { return Ok((tools, None)) };
    if quirks.takes_tool_choice {
        return Ok((tools, Some(choice_word(choice))));
    }
    match choice {
        ToolChoice::Auto => Ok((tools, None)),
        ToolChoice::None => Ok((Vec::new(), None)),
        ToolChoice::Required | ToolChoice::Function(_) => Err(EngineError::Rejected {
            message: "This model cannot be made to call a tool; set tool_choice to auto or none"
                .to_owned(),
        }),
    }
}

#[derive(Serialize)]
pub(super) struct ToolBody<'a> {
    r#type: &'static str,
    function: FunctionBody<'a>,
}

#[derive(Serialize)]
struct FunctionBody<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

impl<'a> ToolBody<'a> {
    fn of(tool: &'a Tool) -> ToolBody<'a> {
        let function = FunctionBody {
            name: &tool.name,
            description: tool.description.as_deref(),
            parameters: tool.parameters.as_deref(),
            strict: tool.strict,
        };
        ToolBody { r#type: "function", function }
    }
}

fn choice_word(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Function(name) => json!({"type": "function", "function": {"name": name}}),
    }
}
