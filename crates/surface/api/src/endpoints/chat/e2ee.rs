//! Conversations encrypted between the caller and the model's enclave: headers and rules.
//!
//! The ciphertext is forwarded unread, so every option that needs the plain text is refused.

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use engine::{ChatEncryptionKeys, SEAL_BYTES};
use http_frame::input::{BodyLimits, HandlerInput, InputRejection};
use http_frame::operation::OpenApiOperation;
use http_frame::refusal::Refusal;
use schema_check::{PathStep, ValidationFaults};
use schemars::SchemaGenerator;
use serde_json::json;
use wire::chat::{ChatCompletionRequest, Message, MessageContent, SealError};

const CLIENT_KEY: &str = "X-Service-TEE-Client-Pub-Key";
const MODEL_KEY: &str = "X-Service-TEE-Model-Pub-Key";
const ALGORITHM: &str = "X-Service-TEE-Signing-Algo";
/// Hexadecimal digits of an uncompressed secp256k1 point.
const KEY_DIGITS: usize = 130;

/// The headers of an encrypted conversation, unchecked.
#[derive(Debug)]
pub(super) struct SealHeaders {
    client_key: Option<String>,
    model_key: Option<String>,
    algorithm: Option<String>,
}

impl HandlerInput for SealHeaders {
    type Raw = SealHeaders;

    async fn read(parts: &mut Parts, _: Body, _: BodyLimits) -> Result<SealHeaders, Refusal> {
        let value = |name| read_header(&parts.headers, name);
        Ok(SealHeaders {
            client_key: value(CLIENT_KEY),
            model_key: value(MODEL_KEY),
            algorithm: value(ALGORITHM),
        })
    }

    fn check(raw: SealHeaders) -> Result<SealHeaders, InputRejection> {
        Ok(raw)
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        let key = json!({ "type": "string", "pattern": "^04[0-9a-fA-F]{128}$" });
        let algorithm = json!({ "type": "string", "enum": ["ecdsa"] });
        operation.header(CLIENT_KEY, "Encrypts the answer for this public key.", key.clone());
        operation.header(MODEL_KEY, "The enclave's key, from GET /tee/attestation.", key);
        operation.header(ALGORITHM, "The algorithm of the keys. Always `ecdsa`.", algorithm);
        operation.refusal::<SealError>(400, "The encryption headers are invalid", generator);
    }
}

impl SealHeaders {
    /// The keys of the conversation; None without any of the headers.
    pub(super) fn into_seal(self) -> Result<Option<ChatEncryptionKeys>, Refusal> {
        let SealHeaders { client_key, model_key, algorithm } = self;
        if client_key.is_none() && model_key.is_none() && algorithm.is_none() {
            return Ok(None);
        }
        if algorithm.as_deref() != Some("ecdsa") {
            return Err(Refusal::invalid_encryption_headers(&format!("{ALGORITHM} must be ecdsa")));
        }
        let client_key = parse_public_key(CLIENT_KEY, client_key)?;
        let model_key = parse_public_key(MODEL_KEY, model_key)?;
        Ok(Some(ChatEncryptionKeys { client_key, model_key }))
    }
}

/// Checks the rules of encrypted conversations.
pub(super) fn check_e2ee_rules(body: &ChatCompletionRequest, faults: &mut ValidationFaults) {
    if body.stream != Some(true) {
        faults.at(["stream"]).push("E2EE requires streaming");
    }
    if body.tools.as_ref().is_some_and(|tools| !tools.is_empty()) {
        faults.at(["tools"]).push("Tools cannot be used with E2EE");
    }
    if body.fallbacks.as_ref().is_some_and(|fallbacks| !fallbacks.is_empty()) {
        // Another enclave has another key and could not decrypt it.
        faults.at(["fallbacks"]).push("Fallbacks cannot be used with E2EE");
    }
    for (index, message) in body.messages.iter().enumerate() {
        let content = match message {
            Message::User { content, .. }
            | Message::System { content, .. }
            | Message::Developer { content, .. } => content,
            Message::Assistant { .. } | Message::Tool { .. } => continue,
        };
        let place = [PathStep::from("messages"), PathStep::from(index), PathStep::from("content")];
        match content {
            MessageContent::Text(text) if is_sealed(text) => {}
            MessageContent::Text(_) => faults.at(place).push("Encrypted field is not valid hex"),
            MessageContent::Parts(_) => faults.at(place).push("E2EE takes encrypted text only"),
        }
    }
}

fn is_sealed(text: &str) -> bool {
    let digits = text.as_bytes();
    2 * SEAL_BYTES <= digits.len()
        && digits.len().is_multiple_of(2)
        && digits.iter().all(u8::is_ascii_hexdigit)
}

fn parse_public_key(header: &str, value: Option<String>) -> Result<String, Refusal> {
    let value = value
        .ok_or_else(|| Refusal::invalid_encryption_headers(&format!("{header} is missing")))?;
    let is_point = value.len() == KEY_DIGITS
        && value.starts_with("04")
        && value.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_point {
        return Ok(value);
    }
    let form = "Invalid public key; send 130 hexadecimal digits that begin with 04";
    Err(Refusal::invalid_encryption_headers(&format!("{header}: {form}")))
}

/// An empty text, which is invalid, for a header that is not text or was sent twice.
fn read_header(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    let is_alone = values.next().is_none();
    Some(value.to_str().ok().filter(|_| is_alone).unwrap_or_default().to_owned())
}
