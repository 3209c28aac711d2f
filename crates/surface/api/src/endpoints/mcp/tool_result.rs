//! Turns the response of an endpoint into the result of a tool.

use axum::body::to_bytes;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_frame::payment::BALANCE_REMAINING;
use http_frame::refusal::mcp::describe_refusal;
use serde_json::{Map, Value, json};

use super::tools::ToolWork;

/// Above the largest answer of an endpoint: four pictures or one recording.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Metadata of a result: the cost of the call, and the credits that are left.
const COST: &str = "tollgate/cost";
const BALANCE: &str = "tollgate/balance";

/// The result of a tool, or its failure.
#[derive(Debug)]
pub(super) struct ToolOutcome {
    content: Vec<Value>,
    structure: Option<Value>,
    is_error: bool,
    meta: Map<String, Value>,
}

impl ToolOutcome {
    pub(super) fn from_failure(message: &str) -> ToolOutcome {
        ToolOutcome { is_error: true, ..ToolOutcome::from_text(message) }
    }

    /// A failure that programs read: the object, and its JSON as text.
    pub(super) fn from_structure(structure: Value) -> ToolOutcome {
        ToolOutcome { is_error: true, ..ToolOutcome::from_data(structure) }
    }

    fn from_text(text: &str) -> ToolOutcome {
        let content = vec![json!({ "type": "text", "text": text })];
        ToolOutcome { content, structure: None, is_error: false, meta: Map::new() }
    }

    fn from_data(data: Value) -> ToolOutcome {
        let text = ToolOutcome::from_text(&data.to_string());
        ToolOutcome { structure: Some(data), ..text }
    }

    fn from_content(content: Vec<Value>) -> ToolOutcome {
        ToolOutcome { content, ..ToolOutcome::from_text("") }
    }

    pub(super) fn with_meta(mut self, name: &str, value: Value) -> ToolOutcome {
        self.meta.insert(name.to_owned(), value);
        self
    }

    /// The text of the first item.
    pub(super) fn first_text(&self) -> String {
        let first = self.content.first().and_then(|item| item["text"].as_str());
        first.unwrap_or_default().to_owned()
    }

    pub(super) fn into_value(self) -> Value {
        let mut result = json!({ "content": self.content, "isError": self.is_error });
        if let Some(structure) = self.structure {
            result["structuredContent"] = structure;
        }
        if !self.meta.is_empty() {
            result["_meta"] = Value::Object(self.meta);
        }
        result
    }
}

/// Reads the response of the endpoint behind a tool.
pub(super) async fn read_response(
    work: ToolWork,
    arguments: &Map<String, Value>,
    response: Response,
) -> ToolOutcome {
    let (parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, ANSWER_BYTES_MAX).await else {
        return ToolOutcome::from_failure("The answer was lost on its way.");
    };
    if !parts.status.is_success() {
        let refusal = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        return ToolOutcome::from_failure(&describe_refusal(&refusal));
    }
    let outcome = match work {
        ToolWork::Speech => read_speech(&parts.headers, &bytes),
        ToolWork::Transcription => read_transcript(&parts.headers, &bytes),
        _ => read_data(work, arguments, parse_json(&bytes)),
    };
    let balance = parts.headers.get(BALANCE_REMAINING).and_then(|it| it.to_str().ok());
    match balance {
        Some(balance) => outcome.with_meta(BALANCE, json!(balance)),
        None => outcome,
    }
}

/// The JSON of a response; null if it is none.
pub(super) async fn read_json(response: Response) -> Value {
    let bytes = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await;
    bytes.map_or(Value::Null, |bytes| parse_json(&bytes))
}

fn parse_json(bytes: &Bytes) -> Value {
    serde_json::from_slice(bytes).unwrap_or(Value::Null)
}

fn read_data(work: ToolWork, arguments: &Map<String, Value>, mut data: Value) -> ToolOutcome {
    match work {
        ToolWork::Chat => read_chat(&data),
        ToolWork::Image => {
            let format = arguments.get("format").and_then(Value::as_str).unwrap_or("webp");
            let mime_type = format!("image/{format}");
            let images = data["images"].as_array_mut().into_iter().flatten().map(Value::take);
            let build =
                |image| json!({ "type": "image", "data": image, "mimeType": mime_type.clone() });
            ToolOutcome::from_content(images.map(build).collect())
        }
        ToolWork::Scrape => ToolOutcome::from_text(data["content"].as_str().unwrap_or_default()),
        ToolWork::Models => {
            let models = data["data"].as_array().into_iter().flatten().map(shorten_model);
            ToolOutcome::from_data(json!({ "models": models.collect::<Vec<_>>() }))
        }
        // A key's balances are among its limits, which are not asked for.
        ToolWork::Balance => ToolOutcome::from_data(match data["data"].get("balances") {
            Some(balances) => balances.clone(),
            None => data["data"].take(),
        }),
        ToolWork::TopUp => ToolOutcome::from_data(data["data"].take()),
        ToolWork::Search | ToolWork::Speech | ToolWork::Transcription => {
            ToolOutcome::from_data(data)
        }
    }
}

/// The text of the answer. An answer that was cut short says so.
fn read_chat(completion: &Value) -> ToolOutcome {
    let choice = &completion["choices"][0];
    let text = choice["message"]["content"].as_str().unwrap_or_default();
    let mut outcome = ToolOutcome::from_text(text);
    if choice["finish_reason"] == "length" {
        let note = "The answer was cut off at its maximum of tokens.";
        outcome.content.push(json!({ "type": "text", "text": note }));
    }
    outcome.with_meta(COST, completion["cost"].clone())
}

fn read_speech(headers: &HeaderMap, bytes: &Bytes) -> ToolOutcome {
    let mime_type = content_type(headers);
    let data = STANDARD.encode(bytes);
    ToolOutcome::from_content(vec![json!({ "type": "audio", "data": data, "mimeType": mime_type })])
}

/// The text; with timestamps or details also all of the answer.
fn read_transcript(headers: &HeaderMap, bytes: &Bytes) -> ToolOutcome {
    if content_type(headers) != "application/json" {
        return ToolOutcome::from_text(&String::from_utf8_lossy(bytes));
    }
    let transcript = parse_json(bytes);
    let text = ToolOutcome::from_text(transcript["text"].as_str().unwrap_or_default());
    ToolOutcome { structure: Some(transcript), ..text }
}

/// The facts from which a model can choose a model.
fn shorten_model(model: &Value) -> Value {
    let spec = &model["model_spec"];
    let mut short = json!({ "id": model["id"], "type": model["type"] });
    if let Some(length) = model.get("context_length").filter(|it| !it.is_null()) {
        short["context_length"] = length.clone();
    }
    for name in ["name", "description", "traits", "pricing", "voices", "offline"] {
        if let Some(value) = spec.get(name) {
            short[name] = value.clone();
        }
    }
    short
}

fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_owned()
}
