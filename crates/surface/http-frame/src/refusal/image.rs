//! Refusals of images, and of image generation.

use axum::http::StatusCode;
use engine::EngineError;
use pictures::ImageFault;

use crate::refusal::Refusal;
use crate::refusal::inference::InferenceFailure;
use crate::request_id::RequestId;

const TIMED_OUT: &str = "The request took too long to complete and was timed-out. Request a smaller \
     image or fewer steps.";

impl Refusal {
    /// 400 for a caller's image that cannot be used, with the name of its field.
    pub fn unreadable_image(field: &str, fault: &ImageFault) -> Refusal {
        let (reason, code) = match fault {
            ImageFault::Unknown
            | ImageFault::Unsupported(_)
            | ImageFault::Animated
            | ImageFault::Followed(_) => ("Invalid image", "INVALID_IMAGE_FORMAT"),
            ImageFault::Corrupted => ("Corrupted image", "CORRUPTED_IMAGE"),
            ImageFault::TooFewPixels { .. } | ImageFault::SideTooShort { .. } => {
                ("Image too small", "IMAGE_TOO_SMALL")
            }
            ImageFault::TooManyPixels { .. } | ImageFault::TooMuchDetail(_) => {
                ("Image too large", "IMAGE_TOO_LARGE")
            }
            ImageFault::Unwritable => {
                return Refusal::internal("a caller's picture cannot be written");
            }
        };
        let message = format!("`{field}`: {fault}");
        Refusal::standard(StatusCode::BAD_REQUEST, reason, message, Some(code))
    }

    /// 400 for a value that is not an image.
    pub fn not_an_image(message: impl Into<String>) -> Refusal {
        let code = Some("INVALID_IMAGE");
        Refusal::standard(StatusCode::BAD_REQUEST, "Invalid image", message, code)
    }
}

/// The refusal of an image that was not generated.
pub fn refuse_image(failure: InferenceFailure, request_id: &RequestId) -> Refusal {
    match failure {
        InferenceFailure::Engine(EngineError::Timeout { .. }) => {
            let status = StatusCode::GATEWAY_TIMEOUT;
            Refusal::standard(status, "Request timeout", TIMED_OUT, None)
        }
        other => other.into_refusal(request_id, "prompt"),
    }
}
