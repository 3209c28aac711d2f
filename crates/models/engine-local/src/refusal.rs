//! Error responses in OpenAI's format.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// `Retry-After` of temporary errors, in seconds.
const RETRY_AFTER_S: u16 = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EngineRefusal {
    status: StatusCode,
    code: &'static str,
    param: Option<&'static str>,
    message: String,
    retry_after_s: Option<u16>,
}

impl EngineRefusal {
    pub(crate) fn invalid(
        param: Option<&'static str>,
        message: impl Into<String>,
    ) -> EngineRefusal {
        let code = "invalid_request";
        let status = StatusCode::BAD_REQUEST;
        EngineRefusal { status, code, param, message: message.into(), retry_after_s: None }
    }

    pub(crate) fn too_large(message: impl Into<String>) -> EngineRefusal {
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        EngineRefusal { status, code: "payload_too_large", ..EngineRefusal::invalid(None, message) }
    }

    pub(crate) fn unknown_model(message: impl Into<String>) -> EngineRefusal {
        let status = StatusCode::NOT_FOUND;
        let message = message.into();
        EngineRefusal {
            status,
            code: "model_not_found",
            ..EngineRefusal::invalid(Some("model"), message)
        }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> EngineRefusal {
        let status = StatusCode::NOT_FOUND;
        EngineRefusal { status, code: "not_found", ..EngineRefusal::invalid(None, message) }
    }

    /// The model is present, but the operator must repair it before it can be loaded.
    pub(crate) fn broken_model(message: impl Into<String>) -> EngineRefusal {
        EngineRefusal { code: "model_broken", ..EngineRefusal::unknown_model(message) }
    }

    pub(crate) fn is_broken_model(&self) -> bool {
        self.code == "model_broken"
    }

    /// The model is not downloaded yet, or there is no memory for it now.
    pub(crate) fn unavailable(code: &'static str, message: impl Into<String>) -> EngineRefusal {
        EngineRefusal {
            status: StatusCode::SERVICE_UNAVAILABLE,
            code,
            param: None,
            message: message.into(),
            retry_after_s: Some(RETRY_AFTER_S),
        }
    }

    pub(crate) fn context_overflow(
        param: &'static str,
        message: impl Into<String>,
    ) -> EngineRefusal {
        EngineRefusal {
            code: "context_length_exceeded",
            ..EngineRefusal::invalid(Some(param), message)
        }
    }

    /// The model lacks the ability.
    pub(crate) fn unsupported(message: impl Into<String>) -> EngineRefusal {
        let status = StatusCode::NOT_IMPLEMENTED;
        EngineRefusal { status, code: "unsupported", ..EngineRefusal::invalid(None, message) }
    }

    pub(crate) fn engine_failure(message: impl Into<String>) -> EngineRefusal {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        EngineRefusal { status, code: "engine_failed", ..EngineRefusal::invalid(None, message) }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The error body; also sent as an event of a stream whose status was already sent.
    pub(crate) fn body(&self) -> Value {
        let kind = match self.status {
            StatusCode::SERVICE_UNAVAILABLE => "overloaded_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        json!({"error": {
            "message": self.message,
            "type": kind,
            "code": self.code,
            "param": self.param,
        }})
    }
}

impl From<engine_text::TextRefusal> for EngineRefusal {
    fn from(refusal: engine_text::TextRefusal) -> EngineRefusal {
        let message = refusal.to_string();
        match refusal {
            engine_text::TextRefusal::ContextOverflow { .. } => {
                EngineRefusal::context_overflow("messages", message)
            }
            engine_text::TextRefusal::Invalid { param, .. } => {
                EngineRefusal::invalid(Some(param), message)
            }
            engine_text::TextRefusal::Overloaded => {
                EngineRefusal::unavailable("overloaded", message)
            }
            engine_text::TextRefusal::Stopped => {
                EngineRefusal::unavailable("model_stopped", message)
            }
        }
    }
}

impl IntoResponse for EngineRefusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.body())).into_response();
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
