//! The service under test: its terms, its time, and one payer whose key is known.

use alloy_primitives::{Address, eip191_hash_message};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k256::ecdsa::SigningKey;
use moment::Timestamp;
use money::Nano;
use wallet::{
    ChainNetwork, EvmAddress, EvmTerms, PaymentTerms, SignInRules, SolanaAddress, SolanaCluster,
    SolanaTerms, TokenAmount,
};

/// Within the validity of the seeds' payments.
pub(super) const NOW_S: i64 = 1_794_705_500;

pub(super) fn now() -> Timestamp {
    Timestamp::from_ms(NOW_S * 1000)
}

/// A minute after the seeds' sign-ins were issued.
pub(super) fn signing_time() -> Timestamp {
    Timestamp::parse("2026-01-15T10:31:00Z").expect("it is a time")
}

pub(super) fn terms() -> PaymentTerms {
    let cluster = SolanaCluster::Mainnet;
    PaymentTerms {
        evm: Some(evm_terms(8453)),
        solana: Some(solana_terms(cluster)),
        minimum: TokenAmount::at_least(Nano::from_units(5)),
        maximum: TokenAmount::at_most(Nano::from_units(10_000)),
        timeout_s: 300,
    }
}

/// Terms that include a payment on this network.
pub(super) fn terms_on(network: ChainNetwork) -> PaymentTerms {
    match network {
        ChainNetwork::Evm { chain_id } => {
            PaymentTerms { evm: Some(evm_terms(chain_id)), ..terms() }
        }
        ChainNetwork::Solana(cluster) => {
            PaymentTerms { solana: Some(solana_terms(cluster)), ..terms() }
        }
    }
}

pub(super) fn evm_terms(chain_id: u64) -> EvmTerms {
    let address = |text| EvmAddress::parse(text).expect("it is an address");
    EvmTerms {
        chain_id,
        asset: address("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
        asset_name: "USD Coin".to_owned(),
        asset_version: "2".to_owned(),
        pay_to: address("0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"),
    }
}

fn solana_terms(cluster: SolanaCluster) -> SolanaTerms {
    let address = |text| SolanaAddress::parse(text).expect("it is an address");
    SolanaTerms {
        cluster,
        mint: address("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
        pay_to: address("GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse"),
        fee_payer: address("GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB"),
    }
}

pub(super) fn rules() -> SignInRules {
    SignInRules {
        domains: vec!["api.example.com".to_owned()],
        networks: vec![
            ChainNetwork::Evm { chain_id: 8453 },
            ChainNetwork::Solana(SolanaCluster::Mainnet),
        ],
    }
}

pub(super) fn header(json: &[u8]) -> Vec<u8> {
    STANDARD.encode(json).into_bytes()
}

/// A payer on the EVM chain.
pub(super) struct Payer(SigningKey);

impl Payer {
    pub(super) fn known() -> Payer {
        Payer(SigningKey::from_slice(&[17; 32]).expect("it is a key"))
    }

    pub(super) fn address(&self) -> EvmAddress {
        Address::from_public_key(self.0.verifying_key()).into()
    }

    /// The bytes of r, s and a v of 27 or 28.
    pub(super) fn sign(&self, digest: [u8; 32]) -> Vec<u8> {
        let (signature, recovery) =
            self.0.sign_prehash_recoverable(&digest).expect("any digest can be signed");
        let mut bytes = signature.to_bytes().to_vec();
        bytes.push(27 + recovery.to_byte());
        bytes
    }

    pub(super) fn sign_text(&self, text: &str) -> Vec<u8> {
        self.sign(eip191_hash_message(text).0)
    }
}

/// The same signature with changed scalars. The last byte is kept: sign-ins accept both encodings
/// of it.
pub(super) fn spoiled_scalars(signature: &[u8], seed: &[u8]) -> Vec<u8> {
    let (parity, scalars) = signature.split_last().expect("a signature has 65 bytes");
    let mut spoiled = spoiled(scalars, seed);
    spoiled.push(*parity);
    spoiled
}

/// The same bytes with one of them changed, chosen by `seed`.
pub(super) fn spoiled(bytes: &[u8], seed: &[u8]) -> Vec<u8> {
    let sum = |start: usize| {
        seed.iter().fold(start, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)))
    };
    let mut spoiled = bytes.to_vec();
    let flip = u8::try_from(1 + sum(7) % 255).expect("it is at most 255");
    if let Some(byte) = spoiled.get_mut(sum(1) % bytes.len().max(1)) {
        *byte ^= flip;
    }
    spoiled
}
