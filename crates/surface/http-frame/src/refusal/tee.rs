//! Refusals about enclaves (TEE).

use axum::http::StatusCode;
use engine::EngineError;
use wire::chat::{SealError, SealFault};

use crate::refusal::{Refusal, to_value};

impl Refusal {
    /// 400: the headers of an encrypted conversation are wrong.
    pub fn invalid_encryption_headers(what: &str) -> Refusal {
        let message = format!("Invalid E2EE headers: {what}");
        let error = SealFault { message, kind: "invalid_request_error" };
        let body = to_value(&SealError { error });
        Refusal::with_body(StatusCode::BAD_REQUEST, "Invalid E2EE headers", body)
    }

    pub fn attestation_failed(cause: EngineError) -> Refusal {
        let message = "No enclave of this model returned an attestation. Please try again shortly.";
        let code = Some("TEE_ATTESTATION_FAILED");
        Refusal::standard(StatusCode::BAD_GATEWAY, "Attestation failed", message, code)
            .caused_by(cause)
    }

    pub fn signature_failed(cause: EngineError) -> Refusal {
        let message = "No enclave of this model returned a signature of that answer. Signatures \
                       are kept for a while only; send the `id` of a recent answer.";
        let code = Some("TEE_SIGNATURE_FAILED");
        Refusal::standard(StatusCode::BAD_GATEWAY, "Signature failed", message, code)
            .caused_by(cause)
    }
}
