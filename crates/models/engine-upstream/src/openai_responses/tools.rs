//! Encodes tools for the Responses API.

use engine::{ChatRequest, ChatTool, ToolChoicePolicy, XSearch};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ResponsesToolBody<'a> {
    Function {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        parameters: ParametersBody<'a>,
        /// Always sent, because the API's default is true, that of chats false.
        strict: bool,
    },
    /// xAI's search of posts on X.
    XSearch {
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        allowed_x_handles: &'a [String],
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        excluded_x_handles: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        from_date: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        to_date: Option<&'a str>,
    },
}

/// The API requires a schema even for a tool without parameters.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ParametersBody<'a> {
    Given(&'a RawValue),
    Empty(Value),
}

pub(super) fn encode_tools(request: &ChatRequest) -> Vec<ResponsesToolBody<'_>> {
    let functions = request.tools.iter().map(encode_function);
    functions.chain(request.x_search.as_ref().map(encode_search)).collect()
}

pub(super) fn encode_tool_choice(choice: &ToolChoicePolicy) -> Value {
    match choice {
        ToolChoicePolicy::Auto => json!("auto"),
        ToolChoicePolicy::None => json!("none"),
        ToolChoicePolicy::Required => json!("required"),
        ToolChoicePolicy::Function(name) => json!({"type": "function", "name": name}),
    }
}

fn encode_function(tool: &ChatTool) -> ResponsesToolBody<'_> {
    let parameters = match &tool.parameters {
        Some(schema) => ParametersBody::Given(schema),
        None => ParametersBody::Empty(json!({"type": "object", "properties": {}})),
    };
    ResponsesToolBody::Function {
        name: &tool.name,
        description: tool.description.as_deref(),
        parameters,
        strict: tool.strict.unwrap_or(false),
    }
}

fn encode_search(search: &XSearch) -> ResponsesToolBody<'_> {
    ResponsesToolBody::XSearch {
        allowed_x_handles: &search.handles,
        excluded_x_handles: &search.excluded_handles,
        from_date: search.from_date.as_deref(),
        to_date: search.to_date.as_deref(),
    }
}
