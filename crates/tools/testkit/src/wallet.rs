//! Wallets with their own keys, which sign in and pay as clients do.

use std::sync::atomic::{AtomicU64, Ordering};

use alloy_primitives::{Address, U256, eip191_hash_message, hex};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::Signer;
use k256::ecdsa::SigningKey;
use moment::Timestamp;
use serde_json::{Value, json};
use wallet::evm::TransferAuthorization;
use wallet::{ChainNetwork, EvmAddress, EvmTerms, SolanaAddress};

use crate::chain;

/// A wallet on either chain.
pub struct TestWallet {
    key: WalletKey,
    signed: AtomicU64,
}

enum WalletKey {
    Evm(SigningKey),
    Solana(Box<ed25519_dalek::SigningKey>),
}

/// The content of a sign-in, which a test may change.
#[derive(Debug, Clone)]
pub struct SignInContent {
    pub domain: String,
    pub uri: String,
    pub chain_id: String,
    pub nonce: String,
    pub issued_at: Timestamp,
    pub expires: Option<Timestamp>,
}

impl TestWallet {
    pub fn evm(seed: u8) -> TestWallet {
        let key = WalletKey::Evm(SigningKey::from_slice(&[seed; 32]).unwrap());
        TestWallet { key, signed: AtomicU64::new(0) }
    }

    pub fn solana(seed: u8) -> TestWallet {
        let key = ed25519_dalek::SigningKey::from_bytes(&[seed; 32]);
        TestWallet { key: WalletKey::Solana(Box::new(key)), signed: AtomicU64::new(0) }
    }

    /// In the notation of wallets: mixed case on EVM chains.
    pub fn address(&self) -> String {
        match &self.key {
            WalletKey::Evm(key) => {
                EvmAddress::from(Address::from_public_key(key.verifying_key())).to_string()
            }
            WalletKey::Solana(key) => {
                SolanaAddress::from_bytes(key.verifying_key().to_bytes()).to_string()
            }
        }
    }

    /// In the notation that the service stores and shows.
    pub fn name(&self) -> String {
        match &self.key {
            WalletKey::Evm(_) => self.address().to_lowercase(),
            WalletKey::Solana(_) => self.address(),
        }
    }

    /// The content of a valid sign-in now, with a fresh nonce.
    pub fn sign_in_content(&self, now: Timestamp) -> SignInContent {
        let number = self.signed.fetch_add(1, Ordering::Relaxed);
        SignInContent {
            domain: "testhost".to_owned(),
            uri: "http://testhost/api/v1".to_owned(),
            chain_id: match self.key {
                WalletKey::Evm(_) => "8453".to_owned(),
                WalletKey::Solana(_) => "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp".to_owned(),
            },
            nonce: format!("{number:016x}"),
            issued_at: now,
            expires: None,
        }
    }

    /// The header of a sign-in in the message form.
    pub fn sign_in_header(&self, says: &SignInContent) -> String {
        let text = self.sign_in_text(says);
        encode_header(&json!({
            "address": self.address(),
            "message": text,
            "signature": self.sign(&text),
            "chainId": self.chain(says),
        }))
    }

    /// The header of a sign-in in the fields form.
    pub fn sign_in_fields_header(&self, says: &SignInContent) -> String {
        let text = self.sign_in_text(says);
        encode_header(&json!({
            "domain": says.domain,
            "address": self.address(),
            "uri": says.uri,
            "version": "1",
            "chainId": self.chain(says),
            "type": match self.key { WalletKey::Evm(_) => "eip191", WalletKey::Solana(_) => "ed25519" },
            "nonce": says.nonce,
            "issuedAt": says.issued_at.to_string(),
            "expirationTime": says.expires.map(|expires| expires.to_string()),
            "statement": "Sign in to the service",
            "signature": self.sign(&text),
        }))
    }

    /// The wallet's signature of a text: hexadecimal on EVM chains, base64 on Solana.
    pub fn sign(&self, text: &str) -> String {
        match &self.key {
            WalletKey::Evm(_) => {
                hex::encode_prefixed(self.sign_digest(eip191_hash_message(text).0))
            }
            WalletKey::Solana(key) => STANDARD.encode(key.sign(text.as_bytes()).to_bytes()),
        }
    }

    /// The header of a payment on Base, valid for five minutes.
    pub fn payment_header(&self, units: u64, nonce: u8, now: Timestamp) -> String {
        self.payment_header_under(&chain::payment_terms().evm.unwrap(), units, nonce, now)
    }

    /// The same, signed under terms that may differ from those in the header.
    pub fn payment_header_under(
        &self,
        signed: &EvmTerms,
        units: u64,
        nonce: u8,
        now: Timestamp,
    ) -> String {
        let terms = chain::payment_terms();
        let evm = terms.evm.clone().unwrap();
        let authorization = TransferAuthorization {
            from: EvmAddress::parse(&self.address()).unwrap(),
            to: evm.pay_to,
            value: U256::from(units),
            valid_after: U256::ZERO,
            valid_before: U256::from(now.seconds() + 300),
            nonce: [nonce; 32],
        };
        let network = ChainNetwork::Evm { chain_id: evm.chain_id };
        encode_header(&json!({
            "x402Version": 2,
            "accepted": terms.build_requirement(network, terms.minimum),
            "payload": self.payload(signed, &authorization),
        }))
    }

    fn payload(&self, terms: &EvmTerms, authorization: &TransferAuthorization) -> Value {
        json!({
            "signature": hex::encode_prefixed(self.sign_digest(authorization.signing_digest(terms))),
            "authorization": {
                "from": authorization.from.to_string(),
                "to": authorization.to.to_string(),
                "value": authorization.value.to_string(),
                "validAfter": authorization.valid_after.to_string(),
                "validBefore": authorization.valid_before.to_string(),
                "nonce": hex::encode_prefixed(authorization.nonce),
            },
        })
    }

    /// The text to sign.
    pub fn sign_in_text(&self, says: &SignInContent) -> String {
        let account = match self.key {
            WalletKey::Evm(_) => "Ethereum",
            WalletKey::Solana(_) => "Solana",
        };
        let SignInContent { domain, uri, chain_id, nonce, issued_at, expires } = says;
        let address = self.address();
        let mut text = format!(
            "{domain} wants you to sign in with your {account} account:\n{address}\n\n\
             Sign in to the service\n\nURI: {uri}\nVersion: 1\nChain ID: {chain_id}\n\
             Nonce: {nonce}\nIssued At: {issued_at}"
        );
        if let Some(expires) = expires {
            text.push_str(&format!("\nExpiration Time: {expires}"));
        }
        text
    }

    fn chain(&self, says: &SignInContent) -> String {
        match self.key {
            WalletKey::Evm(_) => format!("eip155:{}", says.chain_id),
            WalletKey::Solana(_) => format!("solana:{}", says.chain_id),
        }
    }

    fn sign_digest(&self, digest: [u8; 32]) -> [u8; 65] {
        let WalletKey::Evm(key) = &self.key else { panic!("Solana wallets sign texts only") };
        let (signature, recovery) = key.sign_prehash_recoverable(&digest).unwrap();
        let mut bytes = [0; 65];
        bytes[..64].copy_from_slice(&signature.to_bytes());
        bytes[64] = 27 + recovery.to_byte();
        bytes
    }
}

fn encode_header(json: &Value) -> String {
    STANDARD.encode(json.to_string())
}
