//! The result of a line, as a line of an output or error file.

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
struct ResultLine<'a> {
    id: &'a str,
    custom_id: &'a str,
    response: Option<ResultResponse<'a>>,
    error: Option<ResultError<'a>>,
}

#[derive(Serialize)]
struct ResultResponse<'a> {
    status_code: u16,
    request_id: &'a str,
    body: &'a RawValue,
}

#[derive(Serialize)]
struct ResultError<'a> {
    code: &'a str,
    message: &'a str,
}

/// The names of a line.
pub(crate) struct LineNames<'a> {
    pub(crate) custom_id: &'a str,
    pub(crate) request_id: &'a str,
}

impl LineNames<'_> {
    /// The line for a reply of the endpoint, without a line feed.
    pub(crate) fn write_reply(&self, status_code: u16, body: &Bytes) -> Vec<u8> {
        let text = std::str::from_utf8(body).unwrap_or("null");
        // A reply of several lines would be several lines of the file.
        let is_one_line = !text.contains(['\n', '\r']);
        let parsed = if is_one_line {
            serde_json::from_str::<Box<RawValue>>(text)
        } else {
            let value: Result<serde_json::Value, _> = serde_json::from_str(text);
            value.and_then(|value| serde_json::value::to_raw_value(&value))
        };
        let body = parsed.unwrap_or_else(|_| RawValue::NULL.to_owned());
        let request_id = self.request_id;
        let response = ResultResponse { status_code, request_id, body: &body };
        self.write(Some(response), None)
    }

    /// The line for a call that was not made.
    pub(crate) fn write_error(&self, code: &str, message: &str) -> Vec<u8> {
        self.write(None, Some(ResultError { code, message }))
    }

    fn write(
        &self,
        response: Option<ResultResponse<'_>>,
        error: Option<ResultError<'_>>,
    ) -> Vec<u8> {
        let id = format!("batch_req_{}", self.request_id);
        let line = ResultLine { id: &id, custom_id: self.custom_id, response, error };
        serde_json::to_vec(&line).unwrap_or_default()
    }
}
