//! JSON-RPC: requests that are written, and the answer that is found in a body.

use serde_json::{Map, Value, json};

use crate::MESSAGE_CHARS_MAX;
use crate::fault::McpFault;
use crate::nesting::is_too_deep;

/// The number of a request within its connection.
pub(crate) type RequestNumber = u64;

pub(crate) fn write_request(
    number: RequestNumber,
    method: &str,
    params: Map<String, Value>,
) -> String {
    json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params }).to_string()
}

pub(crate) fn write_notification(method: &str) -> String {
    json!({ "jsonrpc": "2.0", "method": method }).to_string()
}

/// A message of a server.
#[derive(Debug, PartialEq)]
pub(crate) enum ServerMessage {
    /// The answer to the request.
    Answer(Result<Value, McpFault>),
    /// A notification, a request to us or an answer to something else.
    Other,
}

/// Reads one message.
pub(crate) fn read_message(bytes: &[u8], number: RequestNumber) -> Result<ServerMessage, McpFault> {
    if is_too_deep(bytes) {
        return Err(McpFault::TooDeep);
    }
    let message: Value = serde_json::from_slice(bytes).map_err(|_| McpFault::NotJson)?;
    let is_answer = message.get("result").is_some() || message.get("error").is_some();
    // A server that could not read the request answers with the id null.
    let is_ours =
        message["id"] == number || (message["id"].is_null() && message.get("error").is_some());
    if !is_answer || !is_ours || message.get("method").is_some() {
        return Ok(ServerMessage::Other);
    }
    Ok(ServerMessage::Answer(read_answer(message)))
}

fn read_answer(mut message: Value) -> Result<Value, McpFault> {
    if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
        return Err(McpFault::Rpc {
            code: error["code"].as_i64().unwrap_or_default(),
            message: shorten_message(error["message"].as_str().unwrap_or_default()),
        });
    }
    let result = message["result"].take();
    match result["resultType"].as_str() {
        None | Some("complete") => Ok(result),
        Some(_) => Err(McpFault::NeedsInput),
    }
}

/// The error in the body of an answer with an HTTP status of a failure, if it is readable.
pub(crate) fn read_error_detail(bytes: &[u8]) -> Option<String> {
    if is_too_deep(bytes) {
        return None;
    }
    let message: Value = serde_json::from_slice(bytes).ok()?;
    let text = message["error"]["message"].as_str()?;
    Some(shorten_message(text)).filter(|text| !text.is_empty())
}

/// The start of a server's text, without control characters.
fn shorten_message(text: &str) -> String {
    let plain = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    plain.take(MESSAGE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_to_the_request_counts() {
        let read = |message: Value| read_message(message.to_string().as_bytes(), 7);
        let answer = |result| Ok(ServerMessage::Answer(result));
        assert_eq!(read(json!({"id": 7, "result": {"a": 1}})), answer(Ok(json!({"a": 1}))));
        let fault = McpFault::Rpc { code: -32601, message: "no method".to_owned() };
        let error = json!({"code": -32601, "message": "no\nmethod"});
        assert_eq!(read(json!({"id": 7, "error": error})), answer(Err(fault.clone())));
        assert_eq!(read(json!({"id": null, "error": error})), answer(Err(fault)));
        for other in [
            json!({"id": 8, "result": {}}),
            json!({"id": "7", "result": {}}),
            json!({"id": null, "result": {}}),
            json!({"id": 7, "method": "ping"}),
            json!({"method": "notifications/progress"}),
            json!([]),
            json!(null),
        ] {
            assert_eq!(read(other.clone()), Ok(ServerMessage::Other), "{other}");
        }
        let asks = json!({"id": 7, "result": {"resultType": "input_required"}});
        assert_eq!(read(asks), answer(Err(McpFault::NeedsInput)));
    }

    #[test]
    fn what_is_no_message_is_a_fault() {
        assert_eq!(read_message(b"<html>", 1), Err(McpFault::NotJson));
        let deep = format!("{{\"id\":1,\"result\":{}{}}}", "[".repeat(900), "]".repeat(900));
        assert_eq!(read_message(deep.as_bytes(), 1), Err(McpFault::TooDeep));
    }

    #[test]
    fn the_detail_of_a_failure_is_its_message() {
        let body = br#"{"error": {"code": 1, "message": "no session"}}"#;
        assert_eq!(read_error_detail(body).as_deref(), Some("no session"));
        assert_eq!(read_error_detail(b"<html>"), None);
    }
}
