//! Engines that run in sealed hardware and can prove it.

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::EngineError;

/// The keys of a conversation that only the caller and the model's enclave can read. The texts of
/// its messages are then ciphertext in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// The caller's public key, for which answers are encrypted.
    pub client_key: String,
    /// The enclave's public key, for which the messages were encrypted.
    pub model_key: String,
}

/// What a sealed text has beside its plain one: a public key, a nonce and a tag.
pub const SEAL_BYTES: usize = 65 + 12 + 16;

/// How many bytes a sealed text has when it is opened.
pub fn plain_bytes(sealed: &str) -> usize {
    (sealed.len() / 2).saturating_sub(SEAL_BYTES)
}

/// What an enclave says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Attestation {
    /// The provider that was asked, and its name for the model.
    pub provider: String,
    pub model: String,
    /// The address of the key that signs answers.
    pub signing_address: String,
    /// The key that messages are encrypted for.
    pub signing_key: Option<String>,
    /// In hexadecimal.
    pub intel_quote: String,
    pub nvidia_payload: Option<Value>,
    /// The nonce that the enclave says it used.
    pub nonce: Option<String>,
    /// How many enclaves answered for the model.
    pub enclaves: usize,
}

/// An enclave's signature under one exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeSignature {
    pub provider: String,
    pub model: String,
    /// The digests of the request and of the answer, as they passed between us and the enclave.
    pub text: String,
    pub signature: String,
    pub signing_address: String,
}

/// Something that can prove what runs one model.
pub trait AttestedEngine: Send + Sync {
    /// Asks for a proof that holds this nonce, 64 hexadecimal digits.
    fn attest<'a>(&'a self, nonce: &'a str) -> BoxFuture<'a, Result<Attestation, EngineError>>;

    /// Asks for the signature under an answer, by the upstream's own name for it.
    fn signature<'a>(
        &'a self,
        upstream_id: &'a str,
    ) -> BoxFuture<'a, Result<ExchangeSignature, EngineError>>;
}
