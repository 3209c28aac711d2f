//! Attestations of models that run in a trusted execution environment (TEE).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The query of an attestation.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AttestationQuery {
    /// A model's id, a trait or a compatible name.
    #[schemars(length(min = 1))]
    pub model: String,
    /// 32 random bytes in hexadecimal, chosen by the caller. The attestation must contain them.
    #[schemars(regex(pattern = r"^[0-9a-fA-F]{64}$"))]
    pub nonce: String,
}

/// A fresh attestation of the environment a model runs in. Verify the quote yourself before you
/// trust its key: `server_verification` lists only the checks of this service.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AttestationReport {
    /// True if all checks in `server_verification` passed. False if a check was not made;
    /// `tdx.error` then names it.
    pub verified: bool,
    pub nonce: String,
    pub model: String,
    pub tee_provider: String,
    /// An Intel TDX quote in hexadecimal.
    pub intel_quote: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvidia_payload: Option<Value>,
    /// The public key for encrypting messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_key: Option<String>,
    pub signing_address: String,
    /// Always `ecdsa`.
    pub signing_algo: &'static str,
    pub tee_hardware: &'static str,
    /// The provider's name for the model.
    pub upstream_model: String,
    /// Always `client`: a nonce chosen by the service would prove nothing to the caller.
    pub nonce_source: &'static str,
    pub candidates_evaluated: usize,
    pub candidates_available: usize,
    pub server_verification: ServerVerification,
}

/// The checks that the service made on an attestation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerVerification {
    pub tdx: EvidenceCheck,
    /// Present only if the attestation contains GPU evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvidia: Option<EvidenceCheck>,
    pub signing_address_binding: AddressBinding,
    pub nonce_binding: NonceBinding,
    /// The time of the checks (ISO 8601).
    pub verified_at: String,
    pub verification_duration_ms: u64,
}

/// The result of checking a hardware manufacturer's signatures.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EvidenceCheck {
    pub valid: bool,
    /// The failed check, or the check that was not made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
}

/// The result of checking that the quote contains the signing address.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AddressBinding {
    pub bound: bool,
}

/// The result of checking that the quote contains the nonce.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NonceBinding {
    pub bound: bool,
    /// The form of the nonce in the quote: `raw` or `sha256`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'static str>,
}

/// The query of a signature: the response to sign.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SignatureQuery {
    /// The id of the model that generated the response.
    #[schemars(length(min = 1))]
    pub model: String,
    /// The `id` of the completion or of its chunks.
    #[schemars(length(min = 1, max = 256))]
    pub request_id: String,
}

/// An enclave's signature over the digests of a request and its response, as they passed between
/// this service and the enclave.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExchangeSignature {
    /// The signed text.
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

/// The enclave's identifiers of the exchange.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SignatureReceipt {
    /// The enclave's id of the response.
    pub upstream_request_id: String,
    pub upstream_model: String,
}

/// Instructions for verifying the signature.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerificationHint {
    pub attestation_endpoint: String,
    pub description: &'static str,
}
