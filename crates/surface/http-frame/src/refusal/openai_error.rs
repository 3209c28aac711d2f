//! Errors below `/v1`: the refusal of any envelope, written as OpenAI's error object.
//!
//! OpenAI's SDKs print an error only in their own shape,
//! `{"error": {"message", "type", "param", "code"}}`. Status and headers stay as they are.

use axum::body::Body;
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use moment::Timestamp;
use serde_json::{Map, Value, json};

use crate::base_paths::OPENAI_BASE_PATH;
use crate::refusal::anthropic_error::{is_anthropic_request, write_anthropic_response};
use crate::refusal::render::{RefusalBody, read_message};
use crate::request_id::RequestId;

/// Members that callers use besides the message. They move into the error object.
const KEPT: [&str; 5] =
    ["request_id", "credits_refunded", "suggested_prompt", "recommended_model", "hint"];

/// Issues listed in a message; of the rest, only the number is given.
const ISSUES_SHOWN_MAX: usize = 8;

/// A change applied to a response before it is compressed.
#[derive(Debug, Clone)]
pub(crate) enum ResponseShape {
    Unchanged,
    OpenAi,
    Anthropic { request_id: RequestId, now: Timestamp },
}

impl ResponseShape {
    /// The change for responses to this request: Anthropic's shape on its paths, OpenAI's error
    /// shape elsewhere below `/v1`.
    pub(crate) fn for_request(
        path: &str,
        headers: &HeaderMap,
        request_id: &RequestId,
        now: impl FnOnce() -> Timestamp,
    ) -> ResponseShape {
        if is_anthropic_request(path, headers) {
            return ResponseShape::Anthropic { request_id: request_id.clone(), now: now() };
        }
        let below = path.strip_prefix(OPENAI_BASE_PATH);
        if below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
            ResponseShape::OpenAi
        } else {
            ResponseShape::Unchanged
        }
    }

    pub(crate) fn apply(&self, response: Response) -> Response {
        match self {
            ResponseShape::Unchanged => response,
            ResponseShape::OpenAi => write_openai_error(response),
            ResponseShape::Anthropic { request_id, now } => {
                write_anthropic_response(response, request_id, *now)
            }
        }
    }
}

/// Writes a refusal of ours in OpenAI's shape. Any other response is returned as it is.
fn write_openai_error(mut response: Response) -> Response {
    let Some(RefusalBody(body)) = response.extensions_mut().remove::<RefusalBody>() else {
        return response;
    };
    let error = error_object(response.status(), &body);
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = Body::from(json!({ "error": error }).to_string());
    response
}

fn error_object(status: StatusCode, body: &Value) -> Map<String, Value> {
    let mut error = body["error"].as_object().cloned().unwrap_or_default();
    let first = body["issues"].get(0);
    let message = match first {
        Some(_) => issues_message(body),
        None => read_message(body).unwrap_or_default().to_owned(),
    };
    let param = first.map(|issue| field_path(&issue["path"])).filter(|path| !path.is_empty());
    let mut put = |name: &str, value: Value| {
        error.entry(name).or_insert(value);
    };
    put("message", message.into());
    put("type", error_type(status).into());
    put("param", param.into());
    put("code", error_code(status, body).map_or(Value::Null, Value::from));
    for name in KEPT {
        if let Some(value) = body.get(name) {
            put(name, value.clone());
        }
    }
    error
}

/// All faults with their fields, in order: SDK exceptions show nothing but this message.
pub(super) fn issues_message(body: &Value) -> String {
    let issues = body["issues"].as_array().map(Vec::as_slice).unwrap_or_default();
    let shown = issues.iter().take(ISSUES_SHOWN_MAX).map(|issue| {
        let message = issue["message"].as_str().unwrap_or_default();
        match field_path(&issue["path"]) {
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

/// A path as OpenAI writes it: `messages[0].content`.
fn field_path(path: &Value) -> String {
    let mut written = String::new();
    for step in path.as_array().into_iter().flatten() {
        match step.as_str() {
            Some(name) if written.is_empty() => written.push_str(name),
            Some(name) => written.push_str(&format!(".{name}")),
            None => written.push_str(&format!("[{step}]")),
        }
    }
    written
}

fn error_type(status: StatusCode) -> &'static str {
    match status.as_u16() {
        402 => "insufficient_quota",
        403 => "permission_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

/// The refusal's own code, which the x402 endpoints put in `error`, or OpenAI's code.
fn error_code(status: StatusCode, body: &Value) -> Option<&str> {
    let own = body["code"].as_str();
    let own = own.or_else(|| body["error"].as_str().filter(|_| body["message"].is_string()));
    own.or(match status.as_u16() {
        401 => Some("invalid_api_key"),
        429 => Some("rate_limit_exceeded"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(status: u16, body: &Value) -> String {
        let status = StatusCode::from_u16(status).unwrap();
        Value::Object(error_object(status, body)).to_string()
    }

    #[test]
    fn only_paths_below_v1_have_it() {
        let is_openai = |path: &str| {
            let refused = crate::refusal::Refusal::not_json();
            let (headers, id) = (HeaderMap::new(), RequestId::default());
            let shape = ResponseShape::for_request(path, &headers, &id, Timestamp::default);
            let shaped = shape.apply(axum::response::IntoResponse::into_response(refused));
            shaped.extensions().get::<RefusalBody>().is_none()
        };
        assert!(is_openai("/v1") && is_openai("/v1/models"));
        assert!(!is_openai("/api/v1/models") && !is_openai("/v1x") && !is_openai("/"));
    }

    #[test]
    fn each_envelope_becomes_the_object() {
        let standard = json!({"error": "No such model", "code": "MODEL_NOT_FOUND"});
        let expected = r#"{"message":"No such model","type":"invalid_request_error","param":null,"code":"MODEL_NOT_FOUND"}"#;
        assert_eq!(written(404, &standard), expected);
        let x402 = json!({"error": "X402_INVALID_PAYMENT", "message": "Bad", "details": {}});
        let expected = r#"{"message":"Bad","type":"insufficient_quota","param":null,"code":"X402_INVALID_PAYMENT"}"#;
        assert_eq!(written(402, &x402), expected);
        let policy = json!({"error": {"message": "No", "type": "provider_content_policy",
            "credits_refunded": true}});
        let expected = r#"{"message":"No","type":"provider_content_policy","credits_refunded":true,"param":null,"code":null}"#;
        assert_eq!(written(422, &policy), expected);
        let key = json!({"error": "Authentication failed"});
        let expected = r#"{"message":"Authentication failed","type":"invalid_request_error","param":null,"code":"invalid_api_key"}"#;
        assert_eq!(written(401, &key), expected);
        let rejected = json!({"error": "temperature is odd", "request_id": "r"});
        let expected = r#"{"message":"temperature is odd","type":"invalid_request_error","param":null,"code":null,"request_id":"r"}"#;
        assert_eq!(written(400, &rejected), expected);
    }

    #[test]
    fn validation_names_the_first_field_and_tells_of_all() {
        let issue = |path: Value| json!({"path": path, "message": "Required"});
        let mut issues = vec![issue(json!(["messages", 0, "content"])), issue(json!([]))];
        let body = json!({"error": "Invalid request parameters", "issues": issues});
        let expected = r#"{"message":"messages[0].content: Required; Required","type":"invalid_request_error","param":"messages[0].content","code":null}"#;
        assert_eq!(written(400, &body), expected);
        issues.resize(11, issue(json!(["n"])));
        let body = json!({"error": "Invalid request parameters", "issues": issues});
        assert!(written(400, &body).contains("n: Required; and 3 more"));
    }
}
