//! Proofs that a model runs in sealed hardware.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which model should prove where it runs.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AttestationQuery {
    /// The model's id, or any other name it answers to.
    #[schemars(length(min = 1))]
    pub model: String,
    /// 32 random bytes of the caller's in hexadecimal, which the proof must contain.
    #[schemars(regex(pattern = r"^[0-9a-fA-F]{64}$"))]
    pub nonce: String,
}

/// A fresh proof of where a model runs. Check the quote yourself before you trust its key: what we
/// checked of it is told in `server_verification`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AttestationReport {
    /// Everything in `server_verification` holds. It is false as long as anything was not checked,
    /// and `tdx.error` says what.
    pub verified: bool,
    pub nonce: String,
    pub model: String,
    pub tee_provider: String,
    /// An Intel TDX quote in hexadecimal.
    pub intel_quote: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvidia_payload: Option<Value>,
    /// The public key to encrypt messages for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_key: Option<String>,
    pub signing_address: String,
    /// Always `ecdsa`.
    pub signing_algo: &'static str,
    pub tee_hardware: &'static str,
    /// The provider's own name for the model.
    pub upstream_model: String,
    /// Always `client`: a nonce of ours would prove nothing to the caller.
    pub nonce_source: &'static str,
    pub candidates_evaluated: usize,
    pub candidates_available: usize,
    pub server_verification: ServerVerification,
}

/// What we checked of a proof.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerVerification {
    pub tdx: EvidenceCheck,
    /// Only where the proof has evidence of a GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvidia: Option<EvidenceCheck>,
    pub signing_address_binding: AddressBinding,
    pub nonce_binding: NonceBinding,
    /// ISO 8601.
    pub verified_at: String,
    pub verification_duration_ms: u64,
}

/// Whether the signatures of a maker of hardware were found to be good.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EvidenceCheck {
    pub valid: bool,
    /// What is wrong, or what was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
}

/// Whether the quote names the signing key.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AddressBinding {
    pub bound: bool,
}

/// Whether the quote holds the nonce, and in which form.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NonceBinding {
    pub bound: bool,
    /// `raw` or `sha256`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'static str>,
}

/// Which answer should be signed for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SignatureQuery {
    /// The model that answered.
    #[schemars(length(min = 1))]
    pub model: String,
    /// The `id` of the answer, as the completion or its chunks carried it.
    #[schemars(length(min = 1, max = 256))]
    pub request_id: String,
}

/// An enclave's signature under the digests of a request and its answer, as they passed between
/// this service and the enclave.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExchangeSignature {
    /// What was signed.
    pub text: String,
    pub signature: String,
    pub signing_address: String,
    /// Always `ecdsa`.
    pub signing_algo: &'static str,
    pub model: String,
    pub requested_request_id: String,
    pub tee_provider: String,
    pub receipt: SignatureReceipt,
    pub verification: VerificationHint,
}

/// Whom the enclave answered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SignatureReceipt {
    /// The enclave's own name for the answer.
    pub upstream_request_id: String,
    pub upstream_model: String,
}

/// How to check the signature.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerificationHint {
    pub attestation_endpoint: String,
    pub description: &'static str,
}
