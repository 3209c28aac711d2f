//! Wallet payments: payment options and sign-in challenges.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The 402 response to a caller without a credential: how to authenticate or pay.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentDiscovery {
    /// Protocol version (2).
    pub x402_version: u8,
    pub error: String,
    /// Always `AUTHENTICATION_REQUIRED`.
    pub code: &'static str,
    pub resource: PaidResource,
    /// The payment options. Empty if the operator does not accept wallet payments.
    pub accepts: Vec<PaymentOption>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<DiscoveryExtensions>,
    pub auth_options: AuthOptions,
}

/// The resource to pay for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaidResource {
    pub url: String,
    pub description: &'static str,
    pub mime_type: &'static str,
}

/// One payment option.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentOption {
    /// The payment scheme. Always `exact`.
    pub scheme: &'static str,
    /// The network in CAIP-2 form, such as `eip155:8453` for Base.
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

/// Protocol extensions.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiscoveryExtensions {
    #[serde(rename = "sign-in-with-x")]
    pub sign_in_with_x: SignInChallenge,
}

/// A message for a wallet to sign, and the supported chains.
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
    /// The requested host, with its port.
    pub domain: String,
    pub uri: String,
    /// Always `1`.
    pub version: &'static str,
    /// A value that may be used once.
    pub nonce: String,
    /// The time of issue (ISO 8601).
    pub issued_at: String,
    /// The expiry time (ISO 8601), five minutes after `issuedAt`.
    pub expiration_time: String,
    pub statement: &'static str,
    pub resources: Vec<String>,
}

/// A supported chain and its signature type.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupportedChain {
    /// The chain in CAIP-2 form.
    pub chain_id: String,
    /// The signature type: `eip191` or `ed25519`.
    #[serde(rename = "type")]
    pub kind: &'static str,
}

/// The two authentication methods.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthOptions {
    pub api_key: ApiKeyOption,
    #[serde(rename = "x402Wallet")]
    pub x402_wallet: WalletOption,
}

/// Authentication with an API key.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyOption {
    pub header: &'static str,
    /// The URL for creating a key.
    pub get_key: String,
    pub docs: String,
}

/// Authentication with a wallet.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletOption {
    pub header: &'static str,
    pub legacy_header: &'static str,
    pub top_up: &'static str,
    pub docs: String,
}
