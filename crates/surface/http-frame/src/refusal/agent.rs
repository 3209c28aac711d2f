//! Refusals in the forms that coding agents act upon.

use axum::extract::Request;
use axum::http::header::UPGRADE;
use axum::http::{HeaderMap, StatusCode};
use wire::chat::{InferenceError, InferenceFault};

use crate::base_paths::{BASE_PATH, OPENAI_BASE_PATH};
use crate::refusal::render::read_message;
use crate::refusal::{Refusal, to_value};

/// OpenAI's code for an account without money.
const QUOTA: &str = "insufficient_quota";

impl Refusal {
    /// 429 with OpenAI's object and without `Retry-After`, in place of a 402. Codex repeats a 402 six
    /// times, and shows this one at once.
    pub fn into_quota_refusal(self) -> Refusal {
        let rendered = self.into_rendered();
        let message = read_message(&rendered.body).unwrap_or(rendered.reason);
        let error = InferenceFault {
            message: message.to_owned(),
            kind: QUOTA,
            param: None,
            code: QUOTA,
            retry_after: None,
        };
        let body = to_value(&InferenceError { error });
        Refusal::with_body(StatusCode::TOO_MANY_REQUESTS, rendered.reason, body)
    }

    /// The code and the message of an error object, if the body has one.
    pub fn error_object(&self) -> Option<(&str, &str)> {
        let error = &self.0.body["error"];
        Some((error["code"].as_str()?, error["message"].as_str()?))
    }

    /// The refusal of a method that a path does not have. Clients that ask for a WebSocket on
    /// `/responses` take 426 as a request to use HTTP, and repeat any other.
    pub fn wrong_method(request: &Request) -> Refusal {
        let is_socket = Refusal::asks_for_web_socket(request.headers());
        let bases = [BASE_PATH, OPENAI_BASE_PATH];
        let is_responses = |base| request.uri().path().strip_prefix(base) == Some("/responses");
        if !is_socket || !bases.into_iter().any(is_responses) {
            return Refusal::method_not_allowed();
        }
        Refusal::no_web_socket()
    }

    /// True if a client offers to speak WebSocket, maybe among several protocols.
    pub fn asks_for_web_socket(headers: &HeaderMap) -> bool {
        let upgrade = headers.get(UPGRADE).and_then(|it| it.to_str().ok());
        let mut offered = upgrade.into_iter().flat_map(|it| it.split(','));
        offered.any(|it| it.trim().eq_ignore_ascii_case("websocket"))
    }

    /// 426: the path has no WebSocket.
    pub fn no_web_socket() -> Refusal {
        let message = "This path has no WebSocket. Send the request with POST.";
        Refusal::standard(StatusCode::UPGRADE_REQUIRED, "Upgrade required", message, None)
            .header("upgrade", "HTTP/1.1")
            .header("connection", "upgrade")
    }
}
