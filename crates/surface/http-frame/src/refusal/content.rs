//! Refusals of content: a provider's policy, or a rejected prompt with a suggested one.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use wire::errors::{AudioRejection, ContentPolicyError, ContentPolicyFault, GenerationFailed};

use crate::refusal::render::RenderedRefusal;
use crate::refusal::{Refusal, to_value};

/// A refusal of a video: the provider's policy, or the standard envelope.
#[derive(Debug)]
pub enum VideoRefusal {
    Policy { message: String, credits_refunded: bool, recommended_model: Option<String> },
    Standard(Refusal),
}

impl Refusal {
    /// 500 for a job that ended without a result. It was refunded; retrieving it again gives the
    /// same.
    pub fn generation_failed(message: String) -> Refusal {
        let error = format!("{message} Your credits were refunded.");
        let code = "GENERATION_FAILED";
        let body = to_value(&GenerationFailed { error, code, credits_refunded: true });
        Refusal::with_body(StatusCode::INTERNAL_SERVER_ERROR, "Generation failed", body)
    }

    /// 416: the file does not have the requested bytes.
    pub fn no_such_bytes(bytes: u64) -> Refusal {
        let message = format!("The file has {bytes} bytes.");
        let status = StatusCode::RANGE_NOT_SATISFIABLE;
        Refusal::standard(status, "Range not satisfiable", message, None)
            .header("content-range", &format!("bytes */{bytes}"))
    }
}

/// A refusal of queued audio: a rejected prompt, or the standard envelope.
#[derive(Debug)]
pub enum AudioRefusal {
    Rejected { message: String, suggested_prompt: Option<String> },
    Standard(Refusal),
}

impl From<Refusal> for VideoRefusal {
    fn from(refusal: Refusal) -> VideoRefusal {
        VideoRefusal::Standard(refusal)
    }
}

impl From<Refusal> for AudioRefusal {
    fn from(refusal: Refusal) -> AudioRefusal {
        AudioRefusal::Standard(refusal)
    }
}

impl IntoResponse for VideoRefusal {
    fn into_response(self) -> Response {
        match self {
            VideoRefusal::Standard(refusal) => refusal.into_response(),
            VideoRefusal::Policy { message, credits_refunded, recommended_model } => {
                let kind = "provider_content_policy";
                let error =
                    ContentPolicyFault { message, kind, credits_refunded, recommended_model };
                let body = to_value(&ContentPolicyError { error });
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                RenderedRefusal::new(status, "Content policy violation", body).into_response()
            }
        }
    }
}

impl IntoResponse for AudioRefusal {
    fn into_response(self) -> Response {
        match self {
            AudioRefusal::Standard(refusal) => refusal.into_response(),
            AudioRefusal::Rejected { message, suggested_prompt } => {
                let body = to_value(&AudioRejection { error: message, suggested_prompt });
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                RenderedRefusal::new(status, "Prompt rejected", body).into_response()
            }
        }
    }
}
