//! Refusals of content: a provider's policy, or a prompt that was rejected with another offered.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use wire::errors::{AudioRejection, ContentPolicyError, ContentPolicyFault};

use crate::refusal::render::Rendered;
use crate::refusal::{Refusal, to_value};

/// A refusal of a video: by its provider's policy, or in the standard envelope.
#[derive(Debug)]
pub enum VideoRefusal {
    Policy { message: String, credits_refunded: bool, recommended_model: Option<String> },
    Standard(Refusal),
}

/// A refusal of queued audio: its prompt was rejected, or in the standard envelope.
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
                Rendered::new(status, "Content policy violation", body).into_response()
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
                Rendered::new(status, "Prompt rejected", body).into_response()
            }
        }
    }
}
