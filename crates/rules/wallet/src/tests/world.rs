//! Payment terms, and payers with keys.

use alloy_primitives::{Address, B256, U256, hex};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k256::ecdsa::SigningKey;
use moment::Timestamp;
use money::Nano;
use serde_json::{Value, json};

use crate::evm::TransferAuthorization;
use crate::{
    ChainNetwork, EvmAddress, EvmTerms, PaymentRefusal, PaymentTerms, SolanaAddress, SolanaCluster,
    SolanaTerms, TokenAmount, UnverifiedPayment, VerifiedPayment, WalletVerdict, verify_payment,
};

/// Within the validity of the clients' payments.
pub(super) const NOW_S: i64 = 1_794_705_500;

pub(super) fn now() -> Timestamp {
    Timestamp::from_ms(NOW_S * 1000)
}

pub(super) fn terms() -> PaymentTerms {
    PaymentTerms {
        evm: Some(evm_terms()),
        solana: Some(solana_terms()),
        minimum: TokenAmount::at_least(Nano::from_units(5)),
        maximum: TokenAmount::at_most(Nano::from_units(10_000)),
        timeout_s: 300,
    }
}

pub(super) fn evm_terms() -> EvmTerms {
    EvmTerms {
        chain_id: 8453,
        asset: evm("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
        asset_name: "USD Coin".to_owned(),
        asset_version: "2".to_owned(),
        pay_to: evm("0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"),
    }
}

pub(super) fn solana_terms() -> SolanaTerms {
    SolanaTerms {
        cluster: SolanaCluster::Mainnet,
        mint: solana("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
        pay_to: solana("GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse"),
        fee_payer: solana("GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB"),
    }
}

pub(super) const BASE: ChainNetwork = ChainNetwork::Evm { chain_id: 8453 };

pub(super) fn evm(text: &str) -> EvmAddress {
    EvmAddress::parse(text).unwrap()
}

pub(super) fn solana(text: &str) -> SolanaAddress {
    SolanaAddress::parse(text).unwrap()
}

pub(super) fn header(json: &Value) -> String {
    STANDARD.encode(json.to_string())
}

pub(super) fn unheader(header: &str) -> Value {
    serde_json::from_slice(&STANDARD.decode(header).unwrap()).unwrap()
}

/// The verdict in a line: payer, amount and network, or the code and the protocol's reason.
pub(super) fn verdict(terms: &PaymentTerms, json: &Value, now: Timestamp) -> String {
    match judge(terms, json, now) {
        Ok(WalletVerdict::Verified(payment)) => {
            format!("{} pays {} on {}", payment.payer, payment.amount, payment.network)
        }
        Ok(WalletVerdict::NeedsContractCheck(payment)) => {
            format!("ask the contract at {}", payment.check.account)
        }
        Err(refusal) => format!("{} {}", refusal.code(), refusal.reason()),
    }
}

pub(super) fn judge(
    terms: &PaymentTerms,
    json: &Value,
    now: Timestamp,
) -> Result<WalletVerdict<VerifiedPayment>, PaymentRefusal> {
    let payment = UnverifiedPayment::decode(header(json).as_bytes())?;
    verify_payment(terms, &payment, now)
}

/// A payer on the EVM chain.
pub(super) struct Payer {
    key: SigningKey,
}

impl Payer {
    pub(super) fn new(seed: u8) -> Payer {
        Payer { key: SigningKey::from_slice(&[seed; 32]).unwrap() }
    }

    pub(super) fn address(&self) -> EvmAddress {
        Address::from_public_key(self.key.verifying_key()).into()
    }

    /// The bytes of r, s and a v of 27 or 28.
    pub(super) fn sign(&self, digest: [u8; 32]) -> [u8; 65] {
        let (signature, recovery) = self.key.sign_prehash_recoverable(&digest).unwrap();
        let mut bytes = [0; 65];
        bytes[..64].copy_from_slice(&signature.to_bytes());
        bytes[64] = 27 + recovery.to_byte();
        bytes
    }

    pub(super) fn sign_text(&self, text: &str) -> String {
        hex::encode_prefixed(self.sign(alloy_primitives::eip191_hash_message(text).0))
    }

    /// An authorization of five dollars to us, valid for five minutes.
    pub(super) fn authorization(&self) -> TransferAuthorization {
        TransferAuthorization {
            from: self.address(),
            to: evm_terms().pay_to,
            value: U256::from(5_000_000),
            valid_after: U256::ZERO,
            valid_before: U256::from(NOW_S + 300),
            nonce: [0xab; 32],
        }
    }

    /// The version 2 payload that a client would send.
    pub(super) fn pay(&self, terms: &EvmTerms, authorization: &TransferAuthorization) -> Value {
        json!({
            "x402Version": 2,
            "accepted": accepted(BASE),
            "payload": {
                "signature": hex::encode_prefixed(self.sign(authorization.signing_digest(terms))),
                "authorization": authorization.to_json(),
            },
        })
    }
}

/// The entry of `accepts` that a client echoes.
pub(super) fn accepted(network: ChainNetwork) -> Value {
    let terms = terms();
    json!(terms.build_requirement(network, terms.minimum).unwrap())
}

/// The mirrored form of a signature: it recovers to the same address.
pub(super) fn mirrored(signature: [u8; 65]) -> [u8; 65] {
    let order = U256::from_be_bytes(hex!(
        "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
    ));
    let s = U256::from_be_slice(&signature[32..64]);
    let mut mirrored = signature;
    mirrored[32..64].copy_from_slice(B256::from(order - s).as_slice());
    mirrored[64] = if signature[64] == 27 { 28 } else { 27 };
    mirrored
}
