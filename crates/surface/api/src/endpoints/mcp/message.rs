//! JSON-RPC messages: requests, notifications and responses.

use http_frame::refusal::mcp::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND};
use serde_json::{Map, Value};
use wire::mcp::McpError;

/// Characters of a caller's text that an error repeats.
const ECHO_CHARS_MAX: usize = 64;

/// One message of a client.
#[derive(Debug, PartialEq)]
pub(super) enum RpcMessage {
    Request(RpcRequest),
    Notification,
    /// A response to a request of ours. None is ever sent, so it is accepted and means nothing.
    Response,
}

/// A message that needs an answer.
#[derive(Debug, PartialEq)]
pub(super) struct RpcRequest {
    /// A text or an integer.
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
}

/// A message that cannot be read, with its id if that can.
#[derive(Debug, PartialEq)]
pub(super) struct MessageFault {
    pub(super) id: Value,
    pub(super) error: Box<McpError>,
}

impl RpcMessage {
    pub(super) fn parse(body: Value) -> Result<RpcMessage, MessageFault> {
        let Value::Object(mut members) = body else {
            return Err(refuse_message(Value::Null, "A message is a JSON object."));
        };
        let id = members.remove("id");
        let known_id = id.clone().filter(is_id).unwrap_or(Value::Null);
        if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(refuse_message(known_id, "`jsonrpc` must be \"2.0\"."));
        }
        let Some(method) = members.remove("method") else {
            let is_response = members.contains_key("result") || members.contains_key("error");
            return match is_response && !known_id.is_null() {
                true => Ok(RpcMessage::Response),
                false => Err(refuse_message(known_id, "`method` is missing.")),
            };
        };
        let Value::String(method) = method else {
            return Err(refuse_message(known_id, "`method` must be a text."));
        };
        let Some(id) = id else { return Ok(RpcMessage::Notification) };
        if !is_id(&id) {
            return Err(refuse_message(Value::Null, "`id` must be a text or an integer."));
        }
        let params = match members.remove("params") {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => {
                let error = refuse_params("`params` must be an object.");
                return Err(MessageFault { id, error: Box::new(error) });
            }
        };
        Ok(RpcMessage::Request(RpcRequest { id, method, params }))
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

fn refuse_message(id: Value, message: &str) -> MessageFault {
    let error = McpError { code: INVALID_REQUEST, message: message.to_owned(), data: None };
    MessageFault { id, error: Box::new(error) }
}

pub(super) fn refuse_params(message: impl Into<String>) -> McpError {
    McpError { code: INVALID_PARAMS, message: message.into(), data: None }
}

pub(super) fn refuse_method(method: &str) -> McpError {
    let message = format!("There is no method `{}`.", shorten(method));
    McpError { code: METHOD_NOT_FOUND, message, data: None }
}

/// The beginning of a caller's text, for a message.
pub(super) fn shorten(text: &str) -> String {
    text.chars().take(ECHO_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn code(body: Value) -> (Value, i32) {
        let fault = RpcMessage::parse(body).unwrap_err();
        (fault.id, fault.error.code)
    }

    #[test]
    fn messages_are_told_apart_by_their_members() {
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
        let RpcMessage::Request(request) = RpcMessage::parse(request).unwrap() else { panic!() };
        assert_eq!((request.id, request.method.as_str()), (json!(7), "ping"));
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(RpcMessage::parse(notification), Ok(RpcMessage::Notification));
        let response = json!({"jsonrpc": "2.0", "id": "a", "result": {}});
        assert_eq!(RpcMessage::parse(response), Ok(RpcMessage::Response));
    }

    #[test]
    fn what_is_no_message_is_refused_with_its_id_where_it_has_one() {
        assert_eq!(code(json!(3)), (Value::Null, INVALID_REQUEST));
        assert_eq!(code(json!({"id": 1, "method": "ping"})), (json!(1), INVALID_REQUEST));
        assert_eq!(code(json!({"jsonrpc": "2.0", "id": 1})), (json!(1), INVALID_REQUEST));
        for id in [json!(null), json!(1.5), json!([1]), json!({})] {
            let body = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
            assert_eq!(code(body), (Value::Null, INVALID_REQUEST));
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]});
        assert_eq!(code(body), (json!(1), INVALID_PARAMS));
    }
}
