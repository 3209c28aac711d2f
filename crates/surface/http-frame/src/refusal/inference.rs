//! Refusals when an engine fails: before the response has begun, and in the middle of it.

use std::time::Duration;

use axum::http::StatusCode;
use engine::EngineError;
use ledger::LedgerError;
use schema_check::ValidationFaults;
use wire::chat::{InferenceError, InferenceFault, InferenceRejection};

use crate::refusal::{Refusal, to_value};
use crate::request_id::RequestId;

/// The reason why an answer was not given, or not completed.
#[derive(Debug, Clone)]
pub enum InferenceFailure {
    Engine(EngineError),
    /// The work was done, but its charge could not be recorded.
    Unrecorded(LedgerError),
    /// The balance, or the limit of the key, was used up in the middle of the answer. What was delivered is charged.
    FundsUsedUp,
    /// A bug ended the work, such as a panic.
    Lost,
}

/// Retry delay if the engine gives none.
const OVERLOAD_WAIT: Duration = Duration::from_secs(30);
const OVERLOADED: &str = "The model is currently overloaded. Please try again later.";
const OFFLINE: &str =
    "The model is temporarily offline. Please try again later or use another model.";
const FAILED: &str = "Inference processing failed";
const TIMED_OUT: &str = "The request took too long to complete and was timed-out. For long-running \
     inference requests, use the streaming API by setting `stream=true` in your request.";
const FUNDS_USED_UP: &str =
    "Your balance or the limit of your key was used up before the answer was complete.";
const POLICY: &str = "Your prompt violates the content policy of the service or the model provider";

impl std::fmt::Display for InferenceFailure {
    /// For the log: without the engine's message to the caller.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InferenceFailure::Engine(error) => write!(f, "{error}"),
            InferenceFailure::Unrecorded(error) => {
                write!(f, "the charge was not recorded: {error}")
            }
            InferenceFailure::FundsUsedUp => f.write_str("the balance was used up"),
            InferenceFailure::Lost => f.write_str("the work ended without a result"),
        }
    }
}

impl InferenceFailure {
    /// The refusal before the response has begun. `field` is the request field with the prompt.
    pub fn into_refusal(self, request_id: &RequestId, field: &'static str) -> Refusal {
        let error = match self {
            InferenceFailure::Engine(error) => error,
            InferenceFailure::Unrecorded(error) => return Refusal::unavailable(error),
            InferenceFailure::FundsUsedUp => return Refusal::insufficient_balance(FUNDS_USED_UP),
            InferenceFailure::Lost => return Refusal::internal("the work ended without a result"),
        };
        match error {
            EngineError::Rejected { message } => {
                let request_id = request_id.as_str().to_owned();
                let body = to_value(&InferenceRejection { error: message, request_id });
                Refusal::with_body(StatusCode::BAD_REQUEST, "Invalid request", body)
            }
            EngineError::FieldMissing { field } => Refusal::field_missing(field),
            EngineError::ContextOverflow { message } => Refusal::context_overflow(field, message),
            EngineError::ContentPolicy { message } => {
                let code = Some("CONTENT_POLICY_VIOLATION");
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                let message = format!("{POLICY}: {message}");
                Refusal::standard(status, "Content policy violation", message, code)
            }
            EngineError::Overloaded { retry_after }
            | EngineError::ServiceOverloaded { retry_after } => {
                let wait = retry_after.unwrap_or(OVERLOAD_WAIT);
                Refusal::rate_limited(OVERLOADED, wait)
            }
            EngineError::NotReady { message, retry_after } => {
                Refusal::model_not_ready(message, retry_after)
            }
            EngineError::Timeout { .. } => {
                let status = StatusCode::GATEWAY_TIMEOUT;
                Refusal::standard(status, "Request timeout", TIMED_OUT, None)
            }
            EngineError::Unreachable { .. } | EngineError::Misconfigured { .. } => {
                Refusal::model_offline(OFFLINE).caused_by(error)
            }
            EngineError::BadAnswer { .. } => {
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                Refusal::standard(status, FAILED, FAILED, None).caused_by(error)
            }
        }
    }

    /// The error event of a stream, whose status was already sent. Logs the cause.
    pub fn into_event(self, request_id: &RequestId) -> InferenceError {
        tracing::warn!(
            http.request_id = request_id.as_str(),
            error = %self,
            "a stream ended with an error: {self}"
        );
        let (message, kind, code) = match &self {
            InferenceFailure::Engine(EngineError::Rejected { message }) => {
                (message.as_str(), "invalid_request_error", "invalid_request")
            }
            InferenceFailure::Engine(EngineError::FieldMissing { .. }) => {
                (FIELD_MISSING, "invalid_request_error", "invalid_request")
            }
            InferenceFailure::Engine(EngineError::ContextOverflow { message }) => {
                (message.as_str(), "invalid_request_error", CONTEXT_OVERFLOW)
            }
            InferenceFailure::Engine(EngineError::ContentPolicy { .. }) => {
                (POLICY, "content_filter_error", "content_blocked_by_provider")
            }
            InferenceFailure::Engine(
                EngineError::Overloaded { .. } | EngineError::ServiceOverloaded { .. },
            ) => (OVERLOADED, "server_error", "model_overloaded"),
            InferenceFailure::Engine(EngineError::NotReady { message, .. }) => {
                (message.as_str(), "server_error", "model_not_ready")
            }
            InferenceFailure::Engine(EngineError::Timeout { .. }) => {
                ("The model stopped answering.", "server_error", "timeout")
            }
            InferenceFailure::Engine(
                EngineError::Unreachable { .. }
                | EngineError::Misconfigured { .. }
                | EngineError::BadAnswer { .. },
            ) => (FAILED, "api_error", "upstream_error"),
            InferenceFailure::Unrecorded(_) => {
                ("The service is temporarily unavailable.", "server_error", "unavailable")
            }
            InferenceFailure::FundsUsedUp => {
                (FUNDS_USED_UP, "insufficient_quota", "insufficient_quota")
            }
            InferenceFailure::Lost => {
                ("An unknown error occurred", "server_error", "internal_error")
            }
        };
        let retry_after = match &self {
            InferenceFailure::Engine(
                EngineError::Overloaded { retry_after }
                | EngineError::ServiceOverloaded { retry_after },
            ) => Some(retry_after.unwrap_or(OVERLOAD_WAIT).as_secs().max(1)),
            InferenceFailure::Engine(EngineError::NotReady { retry_after, .. }) => {
                Some(retry_after.as_secs().max(1))
            }
            _ => None,
        };
        let message = message.to_owned();
        InferenceError { error: InferenceFault { message, kind, param: None, code, retry_after } }
    }
}

pub const CONTEXT_OVERFLOW: &str = "context_length_exceeded";
const FIELD_MISSING: &str = "Required by this model";

impl Refusal {
    /// 400 in the validation shape: a field that is optional elsewhere but required by this model.
    pub fn field_missing(field: &'static str) -> Refusal {
        let mut faults = ValidationFaults::default();
        faults.at([field]).push(FIELD_MISSING);
        Refusal::invalid_request(&faults)
    }

    /// 400: the prompt in `field` and the answer do not fit into the model's context.
    pub(crate) fn context_overflow(field: &'static str, message: impl Into<String>) -> Refusal {
        let error = InferenceFault {
            message: message.into(),
            kind: "invalid_request_error",
            param: Some(field),
            code: CONTEXT_OVERFLOW,
            retry_after: None,
        };
        let body = to_value(&InferenceError { error });
        Refusal::with_body(StatusCode::BAD_REQUEST, "Context length exceeded", body)
    }
}
