//! Encodes tools for an OpenAI-style server.

use engine::{ChatRequest, ChatTool, EngineError, ToolChoicePolicy};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::quirks::ServerQuirks;

/// Returns the tools and the tool choice, as far as the server supports it.
pub(super) fn encode_tools(
    request: &ChatRequest,
    quirks: ServerQuirks,
) -> Result<(Vec<OpenAiToolBody<'_>>, Option<Value>), EngineError> {
    let tools = request.tools.iter().map(OpenAiToolBody::from_tool).collect();
    // A tool choice without tools is an error for OpenAI and ignored by others.
    let choice = request.tool_choice.as_ref().filter(|_| !request.tools.is_empty());
    let Some(choice) = choice else { return Ok((tools, None)) };
    if quirks.takes_tool_choice {
        return Ok((tools, Some(encode_tool_choice(choice))));
    }
    match choice {
        ToolChoicePolicy::Auto => Ok((tools, None)),
        ToolChoicePolicy::None => Ok((Vec::new(), None)),
        ToolChoicePolicy::Required | ToolChoicePolicy::Function(_) => Err(EngineError::Rejected {
            message: "This model cannot be made to call a tool; set tool_choice to auto or none"
                .to_owned(),
        }),
    }
}

#[derive(Serialize)]
pub(super) struct OpenAiToolBody<'a> {
    r#type: &'static str,
    function: OpenAiFunctionBody<'a>,
}

#[derive(Serialize)]
struct OpenAiFunctionBody<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

impl<'a> OpenAiToolBody<'a> {
    fn from_tool(tool: &'a ChatTool) -> OpenAiToolBody<'a> {
        let function = OpenAiFunctionBody {
            name: &tool.name,
            description: tool.description.as_deref(),
            parameters: tool.parameters.as_deref(),
            strict: tool.strict,
        };
        OpenAiToolBody { r#type: "function", function }
    }
}

fn encode_tool_choice(choice: &ToolChoicePolicy) -> Value {
    match choice {
        ToolChoicePolicy::Auto => json!("auto"),
        ToolChoicePolicy::None => json!("none"),
        ToolChoicePolicy::Required => json!("required"),
        ToolChoicePolicy::Function(name) => json!({"type": "function", "function": {"name": name}}),
    }
}
