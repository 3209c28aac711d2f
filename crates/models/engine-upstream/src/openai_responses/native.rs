//! Passes a request of the Responses API through: the body with another model id, and its headers.

use engine::{ChatAnswer, EngineError, NativeEvent, NativeRequest};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::answer;
use crate::transport::{UpstreamEndpoint, bad_answer};

/// Returns the caller's body with the upstream's model id in the place of the caller's.
pub(super) fn write_body(native: &NativeRequest, model: &str) -> Result<Vec<u8>, EngineError> {
    let span = &native.model_span;
    let before = native.body.get(..span.start);
    let after = native.body.get(span.end..);
    let (Some(before), Some(after)) = (before, after) else {
        return Err(rejected_request("The request has no `model` that can be replaced."));
    };
    let model = Value::from(model).to_string();
    Ok([before, model.as_bytes(), after].concat())
}

/// Adds the caller's headers of the protocol.
pub(super) fn add_headers(
    endpoint: &UpstreamEndpoint,
    native: &NativeRequest,
) -> Result<UpstreamEndpoint, EngineError> {
    let mut endpoint = endpoint.clone();
    if native.headers.is_empty() {
        return Ok(endpoint);
    }
    let mut headers = HeaderMap::new();
    for header in &native.headers {
        let name = HeaderName::try_from(header.name.as_str());
        let value = HeaderValue::try_from(header.value.as_str());
        let (Ok(name), Ok(value)) = (name, value) else {
            return Err(rejected_request("A header of the request cannot be sent on."));
        };
        headers.append(name, value);
    }
    endpoint.target.set_headers(headers);
    Ok(endpoint)
}

/// Decodes a complete response for metering, and keeps it unchanged for the caller.
pub(super) fn read_response(body: &[u8]) -> Result<ChatAnswer, EngineError> {
    let decoded = answer::read_response(body)?;
    let native: Box<RawValue> = serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not JSON: {error}")))?;
    Ok(ChatAnswer { native: Some(native), ..decoded })
}

/// Keeps an event unchanged. One of several lines is written on one, because it is sent to the
/// caller as one line.
pub(super) fn keep_event(kind: &str, data: &str) -> Result<NativeEvent, EngineError> {
    let malformed = |error| bad_answer(format!("an event is malformed: {error}"));
    let data = if data.contains(['\n', '\r']) {
        let value: Value = serde_json::from_str(data).map_err(malformed)?;
        to_raw_value(&value).map_err(malformed)?
    } else {
        RawValue::from_string(data.to_owned()).map_err(malformed)?
    };
    Ok(NativeEvent { kind: kind.to_owned(), data })
}

fn rejected_request(message: &str) -> EngineError {
    EngineError::Rejected { message: message.to_owned() }
}
