//! Refusals of images, and of image generation.

use axum::http::StatusCode;
use engine::EngineError;
use pictures::Fault;

use crate::refusal::Refusal;
use crate::refusal::inference::Failure;
use crate::request_id::RequestId;

const TIMED_OUT: &str = "The request took too long to complete and was timed-out. Ask for a smaller \
     picture or fewer steps.";

impl Refusal {
    /// 400 for a caller's image that cannot be used, with the name of its field.
    pub(crate) fn unreadable_picture(field: &str, fault: &Fault) -> Refusal {
        let (reason, code) = match fault {
            Fault::Unknown | Fault::Unsupported(_) | Fault::Animated | Fault::Followed(_) => {
                ("Invalid image", "INVALID_IMAGE_FORMAT")
            }
            Fault::Corrupted => ("Corrupted image", "CORRUPTED_IMAGE"),
            Fault::TooFewPixels { .. } | Fault::SideTooShort { .. } => {
                ("Image too small", "IMAGE_TOO_SMALL")
            }
            Fault::TooManyPixels { .. } | Fault::TooMuchDetail(_) => {
                ("Image too large", "IMAGE_TOO_LARGE")
            }
            Fault::Unwritable => return Refusal::internal("a caller's picture cannot be written"),
        };
        let message = format!("`{field}`: {fault}");
        Refusal::standard(StatusCode::BAD_REQUEST, reason, message, Some(code))
    }

    /// 400 for a value that is not an image.
    pub(crate) fn no_picture(message: impl Into<String>) -> Refusal {
        let code = Some("INVALID_IMAGE");
        Refusal::standard(StatusCode::BAD_REQUEST, "Invalid image", message, code)
    }
}

/// The refusal of an image that was not generated.
pub(crate) fn refuse_picture(failure: Failure, request_id: &RequestId) -> Refusal {
    match failure {
        Failure::Engine(EngineError::Timeout { .. }) => {
            let status = StatusCode::GATEWAY_TIMEOUT;
            Refusal::standard(status, "Request timeout", TIMED_OUT, None)
        }
        other => other.into_refusal(request_id, "prompt"),
    }
}
