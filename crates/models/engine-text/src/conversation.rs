//! Converts messages in OpenAI's format to what chat templates expect.

use serde_json::{Map, Value, json};

use crate::refusal::TextRefusal;
use crate::request::PromptTool;

/// Converts each message to plain text content and tool arguments as JSON values.
pub(crate) fn convert_messages(messages: &[Value]) -> Result<Vec<Value>, TextRefusal> {
    messages.iter().map(convert_message).collect()
}

/// Tools in the form that templates print.
pub(crate) fn convert_tools(tools: &[PromptTool]) -> Vec<Value> {
    tools.iter().map(convert_tool).collect()
}

fn convert_message(message: &Value) -> Result<Value, TextRefusal> {
    let invalid = |message: &str| TextRefusal::invalid("messages", message);
    let said = message.as_object().ok_or_else(|| invalid("A message must be an object."))?;
    let role = said.get("role").and_then(Value::as_str);
    let role = match role.ok_or_else(|| invalid("A message needs a role."))? {
        // Templates know only the older role name.
        "developer" => "system",
        other => other,
    };
    let mut plain = Map::new();
    plain.insert("role".to_owned(), role.into());
    plain.insert("content".to_owned(), convert_content(said.get("content"))?.into());
    for name in ["name", "tool_call_id", "reasoning_content"] {
        if let Some(value) = said.get(name).filter(|value| !value.is_null()) {
            plain.insert(name.to_owned(), value.clone());
        }
    }
    let calls = said.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice);
    let calls = calls.unwrap_or_default();
    if !calls.is_empty() {
        plain.insert("tool_calls".to_owned(), calls.iter().map(convert_call).collect());
    }
    Ok(Value::Object(plain))
}

/// An assistant message with only tool calls has no content; templates get an empty string.
fn convert_content(content: Option<&Value>) -> Result<String, TextRefusal> {
    match content {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => {
            let texts: Option<Vec<&str>> = parts.iter().map(text_of).collect();
            let texts = texts.ok_or_else(|| {
                TextRefusal::invalid("messages", "This model reads text only: send text parts.")
            })?;
            Ok(texts.join("\n"))
        }
        Some(_) => {
            Err(TextRefusal::invalid("messages", "A message's content must be a text or parts."))
        }
    }
}

fn text_of(part: &Value) -> Option<&str> {
    part.get("text").and_then(Value::as_str)
}

/// Templates encode the arguments as JSON themselves, so a JSON string would be quoted twice.
fn convert_call(call: &Value) -> Value {
    let function = call.get("function").unwrap_or(call);
    let arguments = function.get("arguments").cloned().unwrap_or_else(|| json!({}));
    let arguments = match arguments {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    let name = function.get("name").cloned().unwrap_or_default();
    json!({
        "id": call.get("id"),
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    })
}

fn convert_tool(tool: &PromptTool) -> Value {
    let mut function = Map::new();
    function.insert("name".to_owned(), tool.name.clone().into());
    if let Some(description) = &tool.description {
        function.insert("description".to_owned(), description.clone().into());
    }
    let parameters = tool.parameters.clone();
    function.insert(
        "parameters".to_owned(),
        parameters.unwrap_or_else(|| json!({"type": "object", "properties": {}})),
    );
    json!({"type": "function", "function": function})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sent: Value, expected: Result<Value, &str>) {
        let read = convert_messages(&[sent]).map(|mut messages| messages.remove(0));
        assert_eq!(read.map_err(|refusal| refusal.to_string()), expected.map_err(str::to_owned));
    }

    #[test]
    fn parts_become_one_text() {
        let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        check(
            json!({"role": "user", "content": parts}),
            Ok(json!({"role": "user", "content": "a\nb"})),
        );
    }

    #[test]
    fn a_picture_is_refused() {
        let parts = json!([{"type": "image_url", "image_url": {"url": "https://example.com"}}]);
        check(
            json!({"role": "user", "content": parts}),
            Err("This model reads text only: send text parts."),
        );
    }

    #[test]
    fn a_developer_speaks_as_the_system() {
        check(
            json!({"role": "developer", "content": "Be brief."}),
            Ok(json!({"role": "system", "content": "Be brief."})),
        );
    }

    #[test]
    fn arguments_of_calls_become_json() {
        let function = json!({"name": "add", "arguments": "{\"a\":1}"});
        let calls = json!([{"id": "call_1", "type": "function", "function": function}]);
        let plain = json!({"name": "add", "arguments": {"a": 1}});
        check(
            json!({"role": "assistant", "content": null, "tool_calls": calls}),
            Ok(json!({
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "call_1", "type": "function", "function": plain}],
            })),
        );
    }

    #[test]
    fn what_is_no_message_is_refused() {
        check(json!("hello"), Err("A message must be an object."));
        check(json!({"content": "hello"}), Err("A message needs a role."));
        check(
            json!({"role": "user", "content": 5}),
            Err("A message's content must be a text or parts."),
        );
    }
}
