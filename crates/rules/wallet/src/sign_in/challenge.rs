//! The challenge for a wallet to sign: the `sign-in-with-x` extension of x402.

use std::time::Duration;

use alloy_primitives::hex;
use moment::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::verify::{SIGN_IN_AGE_S_MAX, SignInRules};
use crate::network::ChainNetwork;

/// As long as a signed message is accepted.
pub const CHALLENGE_LIFETIME_S: u64 = SIGN_IN_AGE_S_MAX;

const STATEMENT: &str = "Sign in to the service";

/// A challenge. It is not stored: a client may choose its own nonce, and many do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WalletChallenge {
    pub info: ChallengeInfo,
    pub supported_chains: Vec<SupportedChain>,
}

/// The fields of the text to sign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChallengeInfo {
    /// Clients refuse to sign unless this is the host, with its port, that they called.
    pub domain: String,
    /// Clients refuse to sign unless this has the origin that they called.
    pub uri: String,
    pub version: &'static str,
    pub nonce: String,
    pub issued_at: String,
    pub expiration_time: String,
    pub statement: &'static str,
    pub resources: Vec<String>,
}

/// A chain whose wallets may sign, and the kind of their signatures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SupportedChain {
    pub chain_id: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
}

impl WalletChallenge {
    /// A challenge for a resource at `uri`, which was called under the host `domain`.
    pub fn new(
        rules: &SignInRules,
        domain: &str,
        uri: &str,
        nonce: [u8; 16],
        now: Timestamp,
    ) -> WalletChallenge {
        let expires_at = now.plus(Duration::from_secs(CHALLENGE_LIFETIME_S));
        let info = ChallengeInfo {
            domain: domain.to_owned(),
            uri: uri.to_owned(),
            version: "1",
            nonce: hex::encode(nonce),
            issued_at: now.to_string(),
            expiration_time: expires_at.to_string(),
            statement: STATEMENT,
            resources: vec![uri.to_owned()],
        };
        let supported_chains = rules.networks.iter().map(SupportedChain::new).collect();
        WalletChallenge { info, supported_chains }
    }

    /// The value of `extensions["sign-in-with-x"]`: the challenge, and the schema of the answer.
    pub fn to_extension(&self) -> Value {
        json!({
            "info": self.info,
            "supportedChains": self.supported_chains,
            "schema": answer_schema(),
        })
    }
}

impl SupportedChain {
    fn new(network: &ChainNetwork) -> SupportedChain {
        let kind = match network {
            ChainNetwork::Evm { .. } => "eip191",
            ChainNetwork::Solana(_) => "ed25519",
        };
        SupportedChain { chain_id: network.to_string(), kind }
    }
}

fn answer_schema() -> Value {
    let text = || json!({ "type": "string" });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "domain": text(),
            "address": text(),
            "statement": text(),
            "uri": { "type": "string", "format": "uri" },
            "version": text(),
            "chainId": text(),
            "type": text(),
            "nonce": text(),
            "issuedAt": { "type": "string", "format": "date-time" },
            "expirationTime": { "type": "string", "format": "date-time" },
            "notBefore": { "type": "string", "format": "date-time" },
            "requestId": text(),
            "resources": { "type": "array", "items": { "type": "string", "format": "uri" } },
            "signature": text(),
        },
        "required": [
            "domain", "address", "uri", "version", "chainId", "type", "nonce", "issuedAt",
            "signature",
        ],
    })
}
