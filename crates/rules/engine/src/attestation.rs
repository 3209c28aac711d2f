//! Engines that run in a trusted execution environment (enclave) and can prove it.

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::EngineError;

/// The public keys of an end-to-end encrypted chat, readable only by the caller and the model's
/// enclave. Message texts are then ciphertext in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatEncryptionKeys {
    /// The caller's public key; the enclave encrypts answers with it.
    pub client_key: String,
    /// The enclave's public key; the caller encrypted the messages with it.
    pub model_key: String,
}

/// Bytes that encryption adds to a text: public key (65), nonce (12) and tag (16).
pub const SEAL_BYTES: usize = 65 + 12 + 16;

/// Returns the plaintext length, in bytes, of a sealed text given in hexadecimal.
pub fn plain_bytes(sealed: &str) -> usize {
    (sealed.len() / 2).saturating_sub(SEAL_BYTES)
}

/// An enclave's attestation report.
#[derive(Debug, Clone, PartialEq)]
pub struct EnclaveAttestation {
    /// The id of the provider that returned the report.
    pub provider: String,
    pub model: String,
    /// The address of the key that signs completions.
    pub signing_address: String,
    /// The public key with which messages are encrypted.
    pub signing_key: Option<String>,
    /// The Intel TDX quote, in hexadecimal.
    pub intel_quote: String,
    pub nvidia_payload: Option<Value>,
    /// The nonce in the enclave's report.
    pub nonce: Option<String>,
    /// The number of enclaves that returned a report for the model.
    pub enclaves: usize,
}

/// An enclave's signature of one request and its completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeSignature {
    pub provider: String,
    pub model: String,
    /// The hashes of the request and response bodies as exchanged with the enclave.
    pub text: String,
    pub signature: String,
    pub signing_address: String,
}

/// Returns proofs of the hardware and software that run one model.
pub trait AttestedEngine: Send + Sync {
    /// Requests an attestation report that contains `nonce` (64 hexadecimal digits).
    fn attest<'a>(
        &'a self,
        nonce: &'a str,
    ) -> BoxFuture<'a, Result<EnclaveAttestation, EngineError>>;

    /// Requests the signature of a completion by its upstream id.
    fn fetch_signature<'a>(
        &'a self,
        upstream_id: &'a str,
    ) -> BoxFuture<'a, Result<ExchangeSignature, EngineError>>;
}
