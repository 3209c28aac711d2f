//! The response headers in the OpenAPI document: defined once and referenced by responses.

use serde_json::{Map, Value, json};

/// A header with its type and description.
struct DocumentedHeader {
    name: &'static str,
    kind: &'static str,
    meaning: &'static str,
}

const fn documented_header(
    name: &'static str,
    kind: &'static str,
    meaning: &'static str,
) -> DocumentedHeader {
    DocumentedHeader { name, kind, meaning }
}

/// For every response.
const ALWAYS: [DocumentedHeader; 7] = [
    documented_header(
        "CF-RAY",
        "string",
        "The request's id, for support. Also sent as `x-request-id`.",
    ),
    documented_header("x-request-id", "string", "The request's id, for support."),
    documented_header("x-service-version", "string", "The version of this document."),
    documented_header("x-service-timestamp", "string", "The time of the response (ISO 8601)."),
    documented_header(
        "x-ratelimit-limit-requests",
        "integer",
        "The number of requests allowed in a window of 60 seconds.",
    ),
    documented_header(
        "x-ratelimit-remaining-requests",
        "integer",
        "The number of requests remaining in this window.",
    ),
    documented_header(
        "x-ratelimit-reset-requests",
        "integer",
        "The end of the window in Unix seconds.",
    ),
];

/// For responses of models.
const OF_MODELS: [DocumentedHeader; 4] = [
    documented_header("x-service-model-id", "string", "The model that answered."),
    documented_header("x-service-model-name", "string", "The name of the model that answered."),
    documented_header(
        "x-service-model-router",
        "string",
        "The provider that answered. If that is not known: the providers of the model.",
    ),
    documented_header("X-Balance-Remaining", "string", "The remaining balance in US dollars."),
];

const RETRY_AFTER: DocumentedHeader =
    documented_header("Retry-After", "integer", "The number of seconds to wait before a retry.");
const PAYMENT_REQUIRED: DocumentedHeader = documented_header(
    "PAYMENT-REQUIRED",
    "string",
    "The payment terms for wallets: x402 requirements in base64.",
);

/// The definitions that responses reference.
pub(super) fn build_definitions() -> Value {
    let all = ALWAYS.iter().chain(&OF_MODELS).chain([&RETRY_AFTER, &PAYMENT_REQUIRED]);
    let definition = |it: &DocumentedHeader| {
        let schema = json!({ "type": it.kind });
        (it.name.to_owned(), json!({ "description": it.meaning, "schema": schema }))
    };
    Value::Object(all.map(definition).collect())
}

/// Adds the header references to each response of an operation.
pub(super) fn add_headers(operation: &mut Value, is_answered_by_model: bool) {
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
    for (status, response) in responses.into_iter().flatten() {
        let further: &[DocumentedHeader] = match status.as_str() {
            "200" if is_answered_by_model => &OF_MODELS,
            "402" => &[PAYMENT_REQUIRED],
            "429" | "503" => &[RETRY_AFTER],
            _ => &[],
        };
        let reference = |it: &DocumentedHeader| {
            let target = format!("#/components/headers/{}", it.name);
            (it.name.to_owned(), json!({ "$ref": target }))
        };
        let headers: Map<String, Value> = ALWAYS.iter().chain(further).map(reference).collect();
        response["headers"] = Value::Object(headers);
    }
}
