//! Sends a caller's own Messages request: the body as it came, but for the model's id.

use engine::{ChatRequest, EngineError, NativeHeader, NativeProtocol, NativeRequest};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::request::reject_request;
use crate::transport::UpstreamEndpoint;

/// Headers that belong to the connection or to our own account and are never a caller's to set.
const OWN_HEADERS: [&str; 14] = [
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "proxy-authorization",
    "te",
    "transfer-encoding",
    "x-api-key",
];

/// The caller's request in this protocol, if the request is to be passed through.
pub(super) fn find_messages_request(request: &ChatRequest) -> Option<&NativeRequest> {
    request.native.as_deref().filter(|native| native.protocol == NativeProtocol::Messages)
}

/// Replaces the bytes of the model's id, and no others.
pub(super) fn encode_body(native: &NativeRequest, model: &str) -> Result<Vec<u8>, EngineError> {
    let no_span = || reject_request("The request's model cannot be found in its body");
    let before = native.body.get(..native.model_span.start).ok_or_else(no_span)?;
    let after = native.body.get(native.model_span.end..).ok_or_else(no_span)?;
    let id = serde_json::to_vec(model).map_err(|_| no_span())?;
    let mut body = Vec::with_capacity(before.len() + id.len() + after.len());
    body.extend_from_slice(before);
    body.extend_from_slice(&id);
    body.extend_from_slice(after);
    Ok(body)
}

/// The endpoint with the caller's headers, which replace defaults such as `anthropic-version`.
pub(super) fn add_headers(endpoint: &UpstreamEndpoint, native: &NativeRequest) -> UpstreamEndpoint {
    let mut endpoint = endpoint.clone();
    endpoint.target.set_headers(read_headers(&native.headers));
    endpoint
}

fn read_headers(headers: &[NativeHeader]) -> HeaderMap {
    let mut read = HeaderMap::with_capacity(headers.len());
    for NativeHeader { name, value } in headers {
        let is_own = OWN_HEADERS.iter().any(|own| name.eq_ignore_ascii_case(own));
        let header = (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str()));
        if let (false, (Ok(name), Ok(value))) = (is_own, header) {
            // A header sent twice, such as two lines of betas, stays two lines.
            read.append(name, value);
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn native(body: &'static str, model: &str) -> NativeRequest {
        let start = body.find(model).unwrap();
        NativeRequest {
            protocol: NativeProtocol::Messages,
            body: Bytes::from_static(body.as_bytes()),
            model_span: start..start + model.len(),
            headers: Vec::new(),
        }
    }

    #[test]
    fn only_the_bytes_of_the_model_change() {
        let asked =
            native("{ \"max_tokens\" : 1e2,\n \"model\":\"sonnet\", \"x\":[ ] }", "\"sonnet\"");
        let sent = encode_body(&asked, "claude-\"5\"").unwrap();
        let expected = "{ \"max_tokens\" : 1e2,\n \"model\":\"claude-\\\"5\\\"\", \"x\":[ ] }";
        assert_eq!(String::from_utf8(sent).unwrap(), expected);
    }

    #[test]
    fn a_span_outside_of_the_body_is_refused() {
        let asked = NativeRequest { model_span: 5..99, ..native("{\"model\":\"m\"}", "\"m\"") };
        assert!(matches!(encode_body(&asked, "m"), Err(EngineError::Rejected { .. })));
    }

    #[test]
    fn headers_of_the_connection_and_of_credentials_are_not_forwarded() {
        let header = |name: &str, value: &str| NativeHeader {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let headers = read_headers(&[
            header("anthropic-beta", "one"),
            header("anthropic-beta", "two"),
            header("anthropic-future", "yes"),
            header("x-api-key", "theirs"),
            header("authorization", "theirs"),
            header("content-length", "0"),
            header("bad name", "x"),
            header("anthropic-bad", "a\nb"),
        ]);
        let lines: Vec<_> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        assert_eq!(lines, ["anthropic-beta: one", "anthropic-beta: two", "anthropic-future: yes"]);
    }
}
