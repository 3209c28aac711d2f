//! Rewrites requests of related APIs into ours before the schema check.
//!
//! None of it is documented: it makes existing clients work. Anything unknown is left for the
//! schema check to report.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

pub(super) fn rewrite_request(body: &mut Value) {
    let Value::Object(body) = body else { return };
    if let Some(Value::String(text)) = body.get("input") {
        let message = json!([{"role": "user", "content": text}]);
        body.insert("input".to_owned(), message);
    }
    rename_field(body, "input", "messages");
    rename_field(body, "max_output_tokens", "max_tokens");
    rename_field(body, "promptCacheKey", "prompt_cache_key");
    rename_field(body, "venice_parameters", "service_parameters");
    let asks_search = body.shift_remove("web_search") == Some(Value::Bool(true));
    if asks_search {
        let parameters = body.entry("service_parameters").or_insert_with(|| json!({}));
        if let Value::Object(parameters) = parameters {
            parameters.entry("enable_web_search").or_insert_with(|| json!("on"));
        }
    }
    if let Some(Value::Object(parameters)) = body.get_mut("service_parameters") {
        rename_field(parameters, "include_venice_system_prompt", "include_service_system_prompt");
    }
    if let Some(Value::Array(tools)) = body.get_mut("tools") {
        tools.iter_mut().for_each(rewrite_tool);
    }
    if let Some(Value::Array(messages)) = body.get_mut("messages") {
        let sent = std::mem::take(messages);
        messages.extend(sent.into_iter().flat_map(rewrite_message));
    }
}

/// Renames a field, unless the new name is also present.
fn rename_field(object: &mut Map<String, Value>, old: &str, new: &str) {
    let Some(value) = object.shift_remove(old) else { return };
    if object.get(new).is_none_or(Value::is_null) {
        object.insert(new.to_owned(), value);
    }
}

/// Nests a flat tool definition (Responses API, Anthropic) under `function`.
fn rewrite_tool(tool: &mut Value) {
    let Value::Object(flat) = tool else { return };
    if flat.contains_key("function") || !flat.contains_key("name") {
        return;
    }
    let parameters = flat.get("parameters").or(flat.get("input_schema"));
    let mut function = json!({"name": flat["name"]});
    if let Some(parameters) = parameters {
        function["parameters"] = parameters.clone();
    }
    for name in ["description", "strict"] {
        if let Some(value) = flat.get(name) {
            function[name] = value.clone();
        }
    }
    *tool = json!({"type": "function", "function": function});
}

/// Returns one message, or several: Anthropic puts tool results into a user's turn.
fn rewrite_message(mut message: Value) -> Vec<Value> {
    let Some(Value::Array(parts)) = message.get_mut("content") else { return vec![message] };
    let mut calls = Vec::new();
    let mut results = Vec::new();
    let mut kept = Vec::new();
    for part in std::mem::take(parts) {
        match part.get("type").and_then(Value::as_str) {
            Some("tool_use") => calls.push(to_tool_call(&part)),
            Some("tool_result") => results.push(to_tool_result(&part)),
            _ => kept.push(rewrite_part(part)),
        }
    }
    let has_moved = !calls.is_empty() || !results.is_empty();
    let is_empty = kept.is_empty();
    *parts = kept;
    if !calls.is_empty() {
        if is_empty {
            message["content"] = Value::Null;
        }
        message["tool_calls"] = Value::Array(calls);
        return vec![message];
    }
    if !(has_moved && is_empty) {
        results.push(message);
    }
    results
}

fn to_tool_call(part: &Value) -> Value {
    let arguments = part.get("input").unwrap_or(&Value::Null).to_string();
    let function = json!({"name": part["name"], "arguments": arguments});
    json!({"id": part["id"], "type": "function", "function": function})
}

fn to_tool_result(part: &Value) -> Value {
    let content = match part.get("content") {
        None | Some(Value::Null) => json!(""),
        Some(content) => content.clone(),
    };
    json!({"role": "tool", "tool_call_id": part["tool_use_id"], "content": content})
}

/// Renames content parts of Anthropic's API and the Responses API.
fn rewrite_part(mut part: Value) -> Value {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "input_text" | "output_text" => part["type"] = json!("text"),
        "input_image" => part["type"] = json!("image_url"),
        "input_file" => {
            let file = json!({"file_data": part["file_data"], "filename": part["filename"]});
            part = with_cache_control(json!({"type": "file", "file": file}), &part);
        }
        "document" => {
            if let Some(url) = to_source_url(&part) {
                let file = json!({"file_data": url, "filename": part["title"]});
                part = with_cache_control(json!({"type": "file", "file": file}), &part);
            }
        }
        "image" => {
            if let Some(url) = to_source_url(&part) {
                let image = json!({"type": "image_url", "image_url": {"url": url}});
                part = with_cache_control(image, &part);
            }
        }
        _ => {}
    }
    if let Some(url @ Value::String(_)) = part.get("image_url") {
        part["image_url"] = json!({"url": url});
    }
    part
}

fn with_cache_control(mut part: Value, before: &Value) -> Value {
    part["cache_control"] = before.get("cache_control").cloned().unwrap_or_default();
    part
}

/// The file of an Anthropic part, as a data URL or a public URL. Their plain text is not in base64.
fn to_source_url(part: &Value) -> Option<String> {
    let source = part.get("source")?;
    if let Some(url) = source.get("url").and_then(Value::as_str) {
        return Some(url.to_owned());
    }
    let media_type = source.get("media_type").and_then(Value::as_str)?;
    let data = source.get("data").and_then(Value::as_str)?;
    if source.get("type").and_then(Value::as_str) == Some("text") {
        return Some(format!("data:{media_type};base64,{}", STANDARD.encode(data)));
    }
    Some(format!("data:{media_type};base64,{data}"))
}

#[cfg(test)]
mod tests;
