//! Converts log probabilities of the Responses API to those of a chat completion.

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

/// Returns the `logprobs` member of a chat's choice; `None` for an empty or malformed list.
pub(super) fn convert_logprobs(tokens: &Value) -> Option<Box<RawValue>> {
    let tokens = tokens.as_array().filter(|tokens| !tokens.is_empty())?;
    let content: Vec<Value> = tokens.iter().map(convert_token).collect();
    to_raw_value(&json!({"content": content, "refusal": null})).ok()
}

/// A chat requires `bytes`, which deltas of the Responses API leave out.
fn convert_token(token: &Value) -> Value {
    let mut converted = keep_fields(token);
    let top = token.get("top_logprobs").and_then(Value::as_array);
    let top = top.into_iter().flatten().map(|it| Value::Object(keep_fields(it))).collect();
    converted.insert("top_logprobs".to_owned(), Value::Array(top));
    Value::Object(converted)
}

fn keep_fields(token: &Value) -> Map<String, Value> {
    let field = |name: &str| (name.to_owned(), token.get(name).cloned().unwrap_or_default());
    ["token", "logprob", "bytes"].into_iter().map(field).collect()
}
