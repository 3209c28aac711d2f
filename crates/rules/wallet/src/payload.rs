//! The payment in a header: decodes three wire formats into one type.

use alloy_primitives::U256;
use moment::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::encoding::{base64_bytes, hex_bytes, json_header};
use crate::evm::{SETTLE_MARGIN_S, TransferAuthorization};
use crate::network::ChainNetwork;
use crate::refusal::PaymentRefusal;
use crate::solana::TRANSACTION_BYTES_MAX;
use crate::terms::{PaymentRequirement, SCHEME};

/// The longest signature that is checked. A key's has 65 bytes; contract wallets wrap theirs.
pub const SIGNATURE_BYTES_MAX: usize = 4096;

const VERSIONS: [u64; 2] = [1, 2];

/// A payment as its client sent it, not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnverifiedPayment {
    pub network: ChainNetwork,
    pub proof: PaymentProof,
    /// The choice that the client claims. Compared with the terms only for a better error message,
    /// and never used otherwise.
    pub(crate) chosen: ClaimedTerms,
}

/// The signed part of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentProof {
    Evm { authorization: TransferAuthorization, signature: Vec<u8> },
    Solana { transaction: Vec<u8> },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClaimedTerms {
    pub(crate) asset: Option<String>,
    pub(crate) pay_to: Option<String>,
}

impl UnverifiedPayment {
    /// Decodes the value of a payment header: base64 of a version 2 payload, of a version 1
    /// payload, or of the version 1 shape with the number 2, which common clients send.
    pub fn decode(header: &[u8]) -> Result<UnverifiedPayment, PaymentRefusal> {
        let json = json_header(header).ok_or(PaymentRefusal::Malformed(
            "send the payment payload as base64 of a JSON object, at most 16 KiB",
        ))?;
        UnverifiedPayment::read(json)
    }

    /// Decodes a payload that is already JSON, such as one from [`UnverifiedPayment::to_payload`].
    pub fn read(json: Value) -> Result<UnverifiedPayment, PaymentRefusal> {
        let envelope: PaymentEnvelope = serde_json::from_value(json).map_err(|_| {
            PaymentRefusal::Malformed("`x402Version` must be a number, and `payload` must be there")
        })?;
        if !VERSIONS.contains(&envelope.x402_version) {
            return Err(PaymentRefusal::Version);
        }
        let (choice, payload) = (envelope.resolve_choice()?, envelope.payload);
        if choice.scheme != SCHEME {
            return Err(PaymentRefusal::Scheme);
        }
        let network = ChainNetwork::parse(&choice.network).ok_or(PaymentRefusal::Network)?;
        let proof = match network {
            ChainNetwork::Evm { .. } => evm_proof(payload)?,
            ChainNetwork::Solana(_) => solana_proof(payload)?,
        };
        Ok(UnverifiedPayment {
            network,
            proof,
            chosen: ClaimedTerms { asset: choice.asset, pay_to: choice.pay_to },
        })
    }

    /// The last moment at which an authorization can still be settled; None if the signed payload
    /// has no expiry.
    pub fn settle_deadline(&self) -> Option<Timestamp> {
        let PaymentProof::Evm { authorization, .. } = &self.proof else {
            return None;
        };
        let end_s = authorization.valid_before.saturating_sub(U256::from(SETTLE_MARGIN_S));
        let end_ms = i64::try_from(end_s).ok()?.checked_mul(1000)?;
        Some(Timestamp::from_ms(end_ms))
    }

    /// The payload in version 2, whatever shape the client used, with our own requirement.
    pub fn to_payload(&self, requirement: &PaymentRequirement) -> Value {
        let payload = match &self.proof {
            PaymentProof::Evm { authorization, signature } => json!({
                "signature": alloy_primitives::hex::encode_prefixed(signature),
                "authorization": authorization.to_json(),
            }),
            PaymentProof::Solana { transaction } => {
                use base64::Engine;
                let encoded = base64::engine::general_purpose::STANDARD.encode(transaction);
                json!({ "transaction": encoded })
            }
        };
        json!({ "x402Version": 2, "accepted": requirement, "payload": payload })
    }

    /// The body of a facilitator's verify or settle request for this payment.
    pub fn facilitator_request(&self, requirement: &PaymentRequirement) -> Value {
        json!({
            "x402Version": 2,
            "paymentPayload": self.to_payload(requirement),
            "paymentRequirements": requirement,
        })
    }
}

/// Both versions at once. The presence of `accepted` shows which one it is, not the number.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PaymentEnvelope {
    x402_version: u64,
    accepted: Option<PaymentChoice>,
    scheme: Option<String>,
    network: Option<String>,
    payload: Value,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PaymentChoice {
    scheme: String,
    network: String,
    asset: Option<String>,
    pay_to: Option<String>,
}

impl PaymentEnvelope {
    fn resolve_choice(&self) -> Result<PaymentChoice, PaymentRefusal> {
        if let Some(accepted) = &self.accepted {
            return Ok(accepted.clone());
        }
        let (Some(scheme), Some(network)) = (self.scheme.clone(), self.network.clone()) else {
            return Err(PaymentRefusal::Malformed(
                "name the entry of `accepts` that was chosen in `accepted`",
            ));
        };
        Ok(PaymentChoice { scheme, network, asset: None, pay_to: None })
    }
}

fn evm_proof(payload: Value) -> Result<PaymentProof, PaymentRefusal> {
    #[derive(Deserialize)]
    struct EvmPayload {
        signature: String,
        authorization: Value,
    }
    let payload: EvmPayload = serde_json::from_value(payload).map_err(|_| {
        PaymentRefusal::Malformed(
            "`payload` must hold `signature` and the EIP-3009 `authorization` that it signs",
        )
    })?;
    let authorization = TransferAuthorization::parse(payload.authorization)?;
    let signature = hex_bytes(&payload.signature)
        .filter(|signature| signature.len() <= SIGNATURE_BYTES_MAX)
        .ok_or(PaymentRefusal::Malformed(
            "`signature` must be 0x and hexadecimal digits, at most 4096 bytes",
        ))?;
    Ok(PaymentProof::Evm { authorization, signature })
}

fn solana_proof(payload: Value) -> Result<PaymentProof, PaymentRefusal> {
    #[derive(Deserialize)]
    struct SolanaPayload {
        transaction: String,
    }
    let transaction = serde_json::from_value(payload)
        .ok()
        .and_then(|payload: SolanaPayload| base64_bytes(&payload.transaction))
        .filter(|transaction| transaction.len() <= TRANSACTION_BYTES_MAX)
        .ok_or(PaymentRefusal::Malformed(
            "`payload.transaction` must be base64 of a transaction, at most 1232 bytes",
        ))?;
    Ok(PaymentProof::Solana { transaction })
}
