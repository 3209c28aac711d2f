//! Responses of `/messages`: refusals in the shape of Anthropic's API, and its headers.
//!
//! Clients of that API print an error only in its own shape, and decide by its type, its message
//! and a few headers whether to retry the request.

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use moment::Timestamp;
use serde_json::Value;
use wire::messages::{MessagesError, MessagesFault};

use crate::base_paths::{BASE_PATH, OPENAI_BASE_PATH};
use crate::refusal::inference::{CONTEXT_OVERFLOW, InferenceFailure};
use crate::refusal::render::{RefusalBody, RefusalDetail, read_message};
use crate::request_id::RequestId;

/// The header that makes the shape of `GET /models` Anthropic's.
pub const VERSION_HEADER: &str = "anthropic-version";
const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
/// Issues listed in a message; of the rest, only the number is given.
const ISSUES_SHOWN_MAX: usize = 8;
/// `Retry-After` for a spending limit that is never reset, or whose reset is unknown.
const LIMIT_WAIT_S: i64 = 24 * 60 * 60;

const OVERFLOW_WORDS: &str = "prompt is too long";
/// Smaller numbers in a message are no counts of tokens.
const CONTEXT_MIN: u64 = 256;

/// Our header with a limit, and the names of the protocol that get its value.
struct LimitHeader {
    ours: &'static str,
    theirs: &'static [&'static str],
}

const LIMIT_HEADERS: [LimitHeader; 4] = [
    LimitHeader {
        ours: "x-ratelimit-limit-requests",
        theirs: &["anthropic-ratelimit-requests-limit"],
    },
    LimitHeader {
        ours: "x-ratelimit-remaining-requests",
        theirs: &["anthropic-ratelimit-requests-remaining"],
    },
    LimitHeader {
        ours: "x-ratelimit-limit-tokens",
        theirs: &[
            "anthropic-ratelimit-tokens-limit",
            "anthropic-ratelimit-input-tokens-limit",
            "anthropic-ratelimit-output-tokens-limit",
        ],
    },
    LimitHeader {
        ours: "x-ratelimit-remaining-tokens",
        theirs: &[
            "anthropic-ratelimit-tokens-remaining",
            "anthropic-ratelimit-input-tokens-remaining",
            "anthropic-ratelimit-output-tokens-remaining",
        ],
    },
];
const TOKEN_RESETS: [&str; 3] = [
    "anthropic-ratelimit-tokens-reset",
    "anthropic-ratelimit-input-tokens-reset",
    "anthropic-ratelimit-output-tokens-reset",
];

/// True for `/messages` and the paths below it, under both prefixes of the API.
pub(crate) fn is_messages_path(path: &str) -> bool {
    let below = path.strip_prefix(BASE_PATH).or_else(|| path.strip_prefix(OPENAI_BASE_PATH));
    below.and_then(|rest| rest.strip_prefix("/messages")).is_some_and(is_path_end)
}

/// True if responses to this request have Anthropic's shape.
pub(crate) fn is_anthropic_request(path: &str, headers: &HeaderMap) -> bool {
    if is_messages_path(path) {
        return true;
    }
    let below = path.strip_prefix(BASE_PATH).or_else(|| path.strip_prefix(OPENAI_BASE_PATH));
    let is_models = below.and_then(|rest| rest.strip_prefix("/models")).is_some_and(is_path_end);
    is_models && headers.contains_key(VERSION_HEADER)
}

fn is_path_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

/// Writes the protocol's headers, and a refusal of ours in its shape.
pub(crate) fn write_anthropic_response(
    mut response: Response,
    request_id: &RequestId,
    now: Timestamp,
) -> Response {
    if let Some(RefusalBody(body)) = response.extensions_mut().remove::<RefusalBody>() {
        write_error(&mut response, &body, request_id, now);
    }
    write_limit_headers(response.headers_mut());
    if let Ok(id) = HeaderValue::from_str(request_id.as_str()) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

fn write_error(response: &mut Response, body: &Value, request_id: &RequestId, now: Timestamp) {
    let detail = response.extensions_mut().remove::<RefusalDetail>();
    if detail == Some(RefusalDetail::ServiceOverloaded)
        && let Ok(overloaded) = StatusCode::from_u16(529)
    {
        *response.status_mut() = overloaded;
    }
    let is_key_limit = is_key_limit(response.status(), body);
    if is_key_limit {
        *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        let wait_s = compute_wait_s(&body["resetsAt"], now);
        response.headers_mut().insert(RETRY_AFTER, wait_s.into());
        response.headers_mut().insert(SHOULD_RETRY, HeaderValue::from_static("false"));
    }
    let kind = if is_key_limit { "billing_error" } else { error_type(response.status()) };
    let message = match detail {
        Some(RefusalDetail::ContextExcess(excess)) => excess.to_string(),
        Some(RefusalDetail::ServiceOverloaded) | None => write_error_message(body),
    };
    let error = MessagesError {
        kind: "error",
        error: MessagesFault { kind, message },
        request_id: request_id.as_str().to_owned(),
    };
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = Body::from(serde_json::to_string(&error).unwrap_or_default());
}

/// True for a key that has reached its own spending limit.
fn is_key_limit(status: StatusCode, body: &Value) -> bool {
    let is_limit = |code: &str| code.ends_with("_SPEND_LIMIT_EXCEEDED");
    status == StatusCode::PAYMENT_REQUIRED && body["code"].as_str().is_some_and(is_limit)
}

/// Seconds until a spending limit is reset.
fn compute_wait_s(resets_at: &Value, now: Timestamp) -> i64 {
    let resets_at = resets_at.as_str().and_then(Timestamp::parse);
    resets_at.map_or(LIMIT_WAIT_S, |at| at.ms().saturating_sub(now.ms()).div_euclid(1000) + 1)
}

fn error_type(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 | 410 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

/// The message of a refusal. For a prompt that does not fit, the phrase by which clients recognise
/// it and compact their history.
fn write_error_message(body: &Value) -> String {
    let message = write_message(body);
    if body["error"]["code"] == CONTEXT_OVERFLOW { write_overflow(&message) } else { message }
}

/// The protocol's message for a prompt that does not fit, with the numbers of another message: the
/// larger one is the prompt's, the smaller one the context's.
fn write_overflow(message: &str) -> String {
    if message.starts_with(OVERFLOW_WORDS) {
        return message.to_owned();
    }
    let digits = message.split(|it: char| !it.is_ascii_digit());
    let numbers = digits.filter_map(|it| it.parse::<u64>().ok()).filter(|it| CONTEXT_MIN <= *it);
    let (mut prompt, mut context) = (0, u64::MAX);
    for number in numbers {
        (prompt, context) = (prompt.max(number), context.min(number));
    }
    if context < prompt {
        format!("{OVERFLOW_WORDS}: {prompt} tokens > {context} maximum")
    } else {
        format!("{OVERFLOW_WORDS}: {message}")
    }
}

/// The message of any envelope; for a validation error all faults with their places.
fn write_message(body: &Value) -> String {
    let issues = body["issues"].as_array().map(Vec::as_slice).unwrap_or_default();
    if issues.is_empty() {
        return read_message(body).unwrap_or_default().to_owned();
    }
    let shown = issues.iter().take(ISSUES_SHOWN_MAX).map(|issue| {
        let message = issue["message"].as_str().unwrap_or_default();
        match write_path(&issue["path"]) {
            path if path.is_empty() => message.to_owned(),
            path => format!("{path}: {message}"),
        }
    });
    let mut message = shown.collect::<Vec<_>>().join("; ");
    if let Some(more) = issues.len().checked_sub(ISSUES_SHOWN_MAX).filter(|more| 0 < *more) {
        message.push_str(&format!("; and {more} more"));
    }
    message
}

/// A path as the protocol writes it: `messages.0.content`.
fn write_path(path: &Value) -> String {
    let steps = path.as_array().map(Vec::as_slice).unwrap_or_default().iter();
    let steps = steps.map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned));
    steps.collect::<Vec<_>>().join(".")
}

/// Copies our limits into the protocol's headers. Both kinds of limits are reset at the same time.
fn write_limit_headers(headers: &mut HeaderMap) {
    for LimitHeader { ours, theirs } in LIMIT_HEADERS {
        let Some(value) = headers.get(ours).cloned() else { continue };
        for name in theirs {
            headers.insert(HeaderName::from_static(name), value.clone());
        }
    }
    let resets_at_s = headers.get("x-ratelimit-reset-requests").and_then(|it| it.to_str().ok());
    let Some(at_s) = resets_at_s.and_then(|it| it.parse::<i64>().ok()) else { return };
    let at = Timestamp::from_ms(at_s.saturating_mul(1000)).to_string();
    let Ok(at) = HeaderValue::from_str(&at) else { return };
    if headers.contains_key("x-ratelimit-limit-tokens") {
        for name in TOKEN_RESETS {
            headers.insert(HeaderName::from_static(name), at.clone());
        }
    }
    headers.insert(HeaderName::from_static("anthropic-ratelimit-requests-reset"), at);
}

/// The error of a stream whose status was already sent. Logs the cause.
pub fn to_stream_fault(failure: InferenceFailure, request_id: &RequestId) -> MessagesFault {
    let fault = failure.into_event(request_id).error;
    let kind = match fault.code {
        "insufficient_quota" => "billing_error",
        "model_overloaded" | "model_not_ready" => "overloaded_error",
        "timeout" => "timeout_error",
        "upstream_error" | "unavailable" | "internal_error" => "api_error",
        _ => "invalid_request_error",
    };
    let is_overflow = fault.code == CONTEXT_OVERFLOW;
    let message = if is_overflow { write_overflow(&fault.message) } else { fault.message };
    MessagesFault { kind, message }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::refusal::Refusal;
    use axum::response::IntoResponse;

    #[test]
    fn the_paths_of_the_protocol_are_known_under_both_prefixes() {
        for path in ["/api/v1/messages", "/v1/messages", "/v1/messages/count_tokens"] {
            assert!(is_messages_path(path), "{path}");
        }
        for path in ["/api/v1/messagesx", "/messages", "/v2/messages", "/api/v1/models"] {
            assert!(!is_messages_path(path), "{path}");
        }
        let mut headers = HeaderMap::new();
        assert!(!is_anthropic_request("/v1/models", &headers));
        headers.insert(VERSION_HEADER, HeaderValue::from_static("2023-06-01"));
        assert!(is_anthropic_request("/v1/models/a/b", &headers));
        assert!(!is_anthropic_request("/v1/chat/completions", &headers));
    }

    #[test]
    fn each_status_has_its_type() {
        for (status, expected) in [
            (400, "invalid_request_error"),
            (401, "authentication_error"),
            (402, "billing_error"),
            (403, "permission_error"),
            (404, "not_found_error"),
            (405, "invalid_request_error"),
            (409, "conflict_error"),
            (413, "request_too_large"),
            (422, "invalid_request_error"),
            (429, "rate_limit_error"),
            (500, "api_error"),
            (503, "api_error"),
            (504, "timeout_error"),
            (529, "overloaded_error"),
        ] {
            assert_eq!(error_type(StatusCode::from_u16(status).unwrap()), expected);
        }
    }

    #[test]
    fn all_faults_are_told_with_their_places() {
        let issue = |path: Value| json!({"path": path, "message": "Field required"});
        let body = json!({"error": "Invalid request parameters", "issues":
            [issue(json!(["messages", 0, "content", 1, "text"])), issue(json!([]))]});
        assert_eq!(
            write_message(&body),
            "messages.0.content.1.text: Field required; Field required"
        );
    }

    #[test]
    fn a_prompt_that_does_not_fit_is_told_in_words_that_clients_know() {
        for (message, expected) in [
            (
                "This model's maximum context length is 8192 tokens. However, your messages \
                 resulted in about 9000 tokens. Please reduce the length of the messages.",
                "prompt is too long: 9000 tokens > 8192 maximum",
            ),
            (
                "prompt is too long: 210000 tokens > 200000 maximum",
                "prompt is too long: 210000 tokens > 200000 maximum",
            ),
            ("too many tokens", "prompt is too long: too many tokens"),
        ] {
            let body = json!({"error": {"message": message, "code": "context_length_exceeded"}});
            assert_eq!(write_error_message(&body), expected);
        }
        let other = json!({"error": {"message": "9000 and 300", "code": "x"}});
        assert_eq!(write_error_message(&other), "9000 and 300");
    }

    #[test]
    fn a_keys_spending_limit_is_429_and_must_not_be_retried() {
        let now = Timestamp::parse("2026-11-15T12:00:00.000Z").unwrap();
        let refused = Refusal::spend_limit(&wire::errors::SpendLimitError {
            error: "Spent".to_owned(),
            code: "API_KEY_USD_SPEND_LIMIT_EXCEEDED",
            limit: 1.0,
            limit_period: "MONTH",
            resets_at: Some("2026-11-15T12:01:00.000Z".to_owned()),
        });
        let request_id = RequestId::new("r".to_owned());
        let response = write_anthropic_response(refused.into_response(), &request_id, now);
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(
            (header("x-should-retry"), header("retry-after"), header("request-id")),
            ("false".to_owned(), "61".to_owned(), "r".to_owned())
        );
    }

    #[test]
    fn limits_are_copied_and_their_reset_is_a_date() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("x-ratelimit-limit-requests", "20"),
            ("x-ratelimit-remaining-tokens", "7"),
            ("x-ratelimit-limit-tokens", "9"),
            ("x-ratelimit-reset-requests", "1763208000"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        write_limit_headers(&mut headers);
        assert_eq!(headers["anthropic-ratelimit-requests-limit"], "20");
        assert_eq!(headers["anthropic-ratelimit-output-tokens-remaining"], "7");
        for name in ["requests", "tokens", "input-tokens", "output-tokens"] {
            let reset = headers[format!("anthropic-ratelimit-{name}-reset").as_str()].clone();
            assert_eq!(reset, "2025-11-15T12:00:00.000Z");
        }
    }
}
