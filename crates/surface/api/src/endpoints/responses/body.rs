//! The body of a request: checked, and as it was sent, for providers that have the same API.

use std::collections::BTreeSet;
use std::ops::Range;

use axum::body::Body;
use axum::http::request::Parts;
use bytes::Bytes;
use http_frame::input::{
    BodyLimits, HandlerInput, InputRejection, LARGE_BYTES, check_content_type, read_body,
    run_blocking,
};
use http_frame::operation::OpenApiOperation;
use http_frame::refusal::Refusal;
use schemars::SchemaGenerator;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use wire::chat::InferenceError;
use wire::responses::ResponseRequest;

use super::reasoning_seal::is_own_seal;
use super::stored::turn::is_turn;
use crate::endpoints::inference_body::InferenceBody;

/// Header with the name of the client.
const ORIGINATOR: &str = "originator";

#[derive(Debug)]
pub(super) struct ResponseBody {
    pub(super) request: ResponseRequest,
    /// The request for engines that take it as it is, if they may.
    pub(super) native: Option<NativeBody>,
    pub(super) is_codex: bool,
    /// The request as it was sent, if it keeps or continues something.
    pub(super) turn: Option<Value>,
}

#[derive(Debug)]
pub(super) struct UncheckedBody {
    value: Value,
    bytes: Bytes,
    is_codex: bool,
}

impl HandlerInput for ResponseBody {
    type Raw = UncheckedBody;

    async fn read(parts: &mut Parts, body: Body, limits: BodyLimits) -> Result<Self::Raw, Refusal> {
        check_content_type(&parts.headers)?;
        let originator = parts.headers.get(ORIGINATOR).and_then(|it| it.to_str().ok());
        let is_codex = originator.is_some_and(|it| it.starts_with("codex"));
        let bytes = read_body(&parts.headers, body, limits).await?;
        let is_large = LARGE_BYTES <= bytes.len();
        let source = bytes.clone();
        let parse = move || serde_json::from_slice(&source).map_err(|_| Refusal::not_json());
        let value = if is_large { run_blocking(parse).await?? } else { parse()? };
        Ok(UncheckedBody { value, bytes, is_codex })
    }

    fn check(raw: UncheckedBody) -> Result<ResponseBody, InputRejection> {
        let UncheckedBody { value, bytes, is_codex } = raw;
        let native = NativeBody::find(&value, &bytes);
        let turn = is_turn(&value).then(|| value.clone());
        let InferenceBody(request) = InferenceBody::check(value)?;
        Ok(ResponseBody { request, native, is_codex, turn })
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        InferenceBody::<ResponseRequest>::describe(operation, generator);
        let meaning = "The balance or the key's limit is used up, for clients that retry a 402";
        operation.refusal::<InferenceError>(429, meaning, generator);
    }
}

impl ResponseBody {
    /// A request with all items of its dialogue. It is not passed through: a provider does not know
    /// the items of its earlier answers.
    pub(super) fn from_expanded(value: Value, is_codex: bool) -> Result<ResponseBody, Refusal> {
        let InferenceBody(request) = InferenceBody::check(value)?;
        Ok(ResponseBody { request, native: None, is_codex, turn: None })
    }
}

/// A body that an engine may send unchanged but for the model.
#[derive(Debug)]
pub(super) struct NativeBody {
    pub(super) bytes: Bytes,
    /// The place of the model's id, with its quotes.
    pub(super) model_span: Range<usize>,
}

/// Fields that mean the same to a provider and to us, and cost the operator nothing besides tokens.
/// With any other field the request is translated.
const NATIVE_FIELDS: [&str; 24] = [
    "model",
    "input",
    "instructions",
    "include",
    "max_output_tokens",
    "temperature",
    "top_p",
    "top_logprobs",
    "reasoning",
    "text",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stream",
    "stream_options",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "store",
    "metadata",
    "user",
    "safety_identifier",
    "truncation",
    "client_metadata",
];

/// Tools that a provider runs and bills by itself. They are not passed on.
const HOSTED_TOOLS: [&str; 10] = [
    "web_search",
    "web_search_preview",
    "file_search",
    "code_interpreter",
    "image_generation",
    "computer",
    "computer_use",
    "computer_use_preview",
    "mcp",
    "x_search",
];

/// The members of a body whose places are needed, and those that decide about passing it on. A
/// repeated one is an error: the provider might read the other one.
#[derive(Deserialize)]
struct BodyPlaces<'a> {
    #[serde(borrow)]
    model: &'a RawValue,
    #[serde(borrow, rename = "input")]
    _input: &'a RawValue,
    #[serde(borrow, default, rename = "store")]
    _store: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "stream")]
    _stream: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "tools")]
    _tools: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "max_output_tokens")]
    _max_output_tokens: Option<&'a RawValue>,
}

impl NativeBody {
    /// None if the request uses something of this service, or something stored at the provider: all
    /// callers share the operator's account there.
    fn find(value: &Value, bytes: &Bytes) -> Option<NativeBody> {
        let fields = value.as_object()?;
        let is_stateless = fields.get("store") == Some(&Value::Bool(false));
        let known = BTreeSet::from(NATIVE_FIELDS);
        let tools = fields.get("tools").and_then(Value::as_array);
        let is_passable = is_stateless
            && fields.keys().all(|name| known.contains(name.as_str()))
            && !tools.into_iter().flatten().any(is_hosted)
            && !fields.get("input").is_some_and(has_stored_data);
        if !is_passable {
            return None;
        }
        let has_own_seal =
            |item: &Value| item["encrypted_content"].as_str().is_some_and(is_own_seal);
        let items = fields.get("input").and_then(Value::as_array);
        if !items.into_iter().flatten().any(has_own_seal) {
            return NativeBody::from_bytes(bytes.clone());
        }
        // Reasoning that this service sealed means nothing to a provider.
        let mut changed = value.clone();
        changed["input"].as_array_mut()?.retain(|item| !has_own_seal(item));
        NativeBody::from_bytes(Bytes::from(serde_json::to_vec(&changed).ok()?))
    }

    fn from_bytes(bytes: Bytes) -> Option<NativeBody> {
        let text = std::str::from_utf8(&bytes).ok()?;
        let places: BodyPlaces<'_> = serde_json::from_str(text).ok()?;
        let model = places.model.get();
        let start = model.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        let model_span = start..start.checked_add(model.len())?;
        (text.get(model_span.clone()) == Some(model)).then_some(())?;
        Some(NativeBody { bytes, model_span })
    }
}

fn is_hosted(tool: &Value) -> bool {
    let kind = tool["type"].as_str().unwrap_or_default();
    let is_idle = kind == "web_search" && tool["external_web_access"] == Value::Bool(false);
    HOSTED_TOOLS.contains(&kind) && !is_idle
}

/// True if the value refers to items or files in the operator's account, declares a hosted tool, or
/// belongs to a call that this service made.
fn has_stored_data(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_stored_data),
        Value::Object(members) => {
            let tools = members.get("tools").and_then(Value::as_array);
            let kind = value["type"].as_str().unwrap_or_default();
            members.contains_key("file_id")
                || kind == "item_reference"
                || kind.starts_with("mcp_")
                || tools.into_iter().flatten().any(is_hosted)
                || members.values().any(has_stored_data)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn find(body: &Value) -> Option<NativeBody> {
        let bytes = Bytes::from(body.to_string());
        NativeBody::find(body, &bytes)
    }

    #[test]
    fn a_body_is_passed_on_with_the_place_of_its_model() {
        let text = r#"{"input": [{"model": "x"}], "model" : "public", "store": false}"#;
        let bytes = Bytes::from(text);
        let native = NativeBody::find(&serde_json::from_str(text).unwrap(), &bytes).unwrap();
        assert_eq!(&text[native.model_span], "\"public\"");
        assert_eq!(native.bytes, bytes);
    }

    #[test]
    fn what_would_use_or_leave_data_at_the_provider_is_translated() {
        let plain = json!({"model": "m", "input": "Hi", "store": false});
        assert!(find(&plain).is_some());
        let changes = [
            ("store", json!(true)),
            ("conversation", json!("conv_1")),
            ("service_tier", json!("priority")),
            ("web_search", json!(true)),
            ("tools", json!([{"type": "web_search"}])),
            ("tools", json!([{"type": "mcp"}])),
            ("input", json!([{"type": "item_reference", "id": "x"}])),
            (
                "input",
                json!([{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]),
            ),
            ("input", json!([{"type": "additional_tools", "tools": [{"type": "file_search"}]}])),
        ];
        for (field, value) in changes {
            let mut body = plain.clone();
            body[field] = value;
            assert!(find(&body).is_none(), "{body}");
        }
        let mut idle = plain.clone();
        idle["tools"] = json!([{"type": "web_search", "external_web_access": false},
            {"type": "custom", "name": "c"}, {"type": "of_tomorrow"}]);
        assert!(find(&idle).is_some());
        let twice = r#"{"model": "m", "input": "Hi", "store": true, "store": false}"#;
        let value = serde_json::from_str(twice).unwrap();
        assert!(NativeBody::find(&value, &Bytes::from(twice)).is_none());
    }

    #[test]
    fn reasoning_that_this_service_sealed_is_not_passed_on() {
        let foreign = json!({"type": "reasoning", "encrypted_content": "gAAAA"});
        let own = json!({"type": "reasoning", "encrypted_content": "tgr1.AAAA"});
        let body = json!({"model": "m", "store": false, "input": [foreign, own]});
        let sent: Value = serde_json::from_slice(&find(&body).unwrap().bytes).unwrap();
        assert_eq!(sent["input"], json!([foreign]));
    }
}
