//! Paying with a wallet: what is asked for, and how to pay it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The answer to a caller without a credential: how to get one, or how to pay without one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentDiscovery {
    /// Protocol version (2).
    pub x402_version: u8,
    pub error: String,
    /// Always `AUTHENTICATION_REQUIRED`.
    pub code: &'static str,
    pub resource: PaidResource,
    /// Payment options; empty where the operator takes no wallet payments.
    pub accepts: Vec<PaymentOption>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<DiscoveryExtensions>,
    pub auth_options: AuthOptions,
}

/// What would be paid for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaidResource {
    pub url: String,
    pub description: &'static str,
    pub mime_type: &'static str,
}

/// One way to pay.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentOption {
    /// Only value `exact`.
    pub scheme: &'static str,
    /// CAIP-2 form, such as `eip155:8453` for Base.
    pub network: String,
    /// Minimum payment in base units of USDC (6 decimals).
    pub amount: String,
    /// USDC token address or mint for the network.
    pub asset: String,
    /// Receiver wallet address.
    pub pay_to: String,
    /// Maximum settlement time in seconds.
    pub max_timeout_seconds: u32,
    /// Network-specific metadata.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// What the protocol's extensions offer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiscoveryExtensions {
    #[serde(rename = "sign-in-with-x")]
    pub sign_in_with_x: SignInChallenge,
}

/// What a wallet is to sign, and the chains whose wallets may.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInChallenge {
    pub info: ChallengeInfo,
    pub supported_chains: Vec<SupportedChain>,
}

/// The fields of the message to sign. A client may choose its own nonce.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChallengeInfo {
    /// The host that was called, with its port.
    pub domain: String,
    pub uri: String,
    /// Always `1`.
    pub version: &'static str,
    /// To be used once.
    pub nonce: String,
    /// ISO 8601.
    pub issued_at: String,
    /// ISO 8601; five minutes later.
    pub expiration_time: String,
    pub statement: &'static str,
    pub resources: Vec<String>,
}

/// A chain whose wallets may sign, and how they do it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupportedChain {
    /// CAIP-2 form.
    pub chain_id: String,
    /// `eip191` or `ed25519`.
    #[serde(rename = "type")]
    pub kind: &'static str,
}

/// The two ways to be known.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthOptions {
    pub api_key: ApiKeyOption,
    #[serde(rename = "x402Wallet")]
    pub x402_wallet: WalletOption,
}

/// With an API key.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyOption {
    pub header: &'static str,
    /// Where to get one.
    pub get_key: String,
    pub docs: String,
}

/// With a wallet.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletOption {
    pub header: &'static str,
    pub legacy_header: &'static str,
    pub top_up: &'static str,
    pub docs: String,
}
