//! Wallets as customers: top-ups, balances, transactions, and keys created with a signature.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api_keys::{ApiKeyType, ConsumptionLimits, LimitPeriod, ModelPrivacy};
use crate::x402::{PaymentOption, SignInChallenge};

/// The response to `POST /x402/top-up` without a payment: the payment options.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct TopUpRequired {
    /// Protocol version (2).
    pub x402_version: u8,
    /// Payment options.
    pub accepts: Vec<PaymentOption>,
}

/// The response to `POST /x402/top-up` with a payment that was settled.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TopUpReply {
    /// Always true.
    pub success: bool,
    pub data: ToppedUp,
}

/// The result of a top-up.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ToppedUp {
    /// The wallet that was credited.
    pub wallet_address: String,
    /// The amount in USD.
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub amount_credited: f64,
    /// The balance in USD after the top-up.
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub new_balance: f64,
    /// The id of the payment. It stays the same if the payment is sent again.
    pub payment_id: String,
}

/// The path parameters of a wallet.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletPath {
    /// An address on Base (0x and 40 hexadecimal digits) or on Solana (base58).
    #[schemars(regex(pattern = r"^(0x[a-fA-F0-9]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$"))]
    pub wallet_address: String,
}

/// The response to `GET /x402/balance/{walletAddress}`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WalletBalanceReply {
    /// Always true.
    pub success: bool,
    pub data: WalletBalance,
}

/// The balance of a wallet.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct WalletBalance {
    /// The address in canonical form: lower case on Base.
    pub wallet_address: String,
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub balance_usd: f64,
    /// True if the balance suffices for a request: at least 0.10 USD.
    pub can_consume: bool,
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub minimum_top_up_usd: f64,
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub suggested_top_up_usd: f64,
    /// The remaining DIEM of a linked account for the current day. It is spent first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diem_balance_usd: Option<f64>,
}

/// The query of `GET /x402/transactions/{walletAddress}`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WalletTransactionsQuery {
    /// The maximum number of transactions to return. Default: 50.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<usize>,
    /// The number of newest transactions to skip. Default: 0.
    #[schemars(range(min = 0, max = 10_000), extend("default" = 0))]
    pub offset: Option<usize>,
}

/// The response to `GET /x402/transactions/{walletAddress}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WalletTransactionsReply {
    /// Always true.
    pub success: bool,
    pub data: WalletTransactions,
}

/// Credits and charges of a wallet's balance, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletTransactions {
    pub wallet_address: String,
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub current_balance: f64,
    pub transactions: Vec<WalletTransaction>,
    pub pagination: WalletPagination,
}

/// One change of the balance.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletTransaction {
    pub id: String,
    /// The amount in USD; negative for charges.
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub amount: f64,
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub balance_after: f64,
    #[serde(rename = "type")]
    pub kind: WalletTransactionKind,
    /// The time of the transaction (ISO 8601).
    pub created_at: String,
    pub request_id: Option<String>,
    pub model_id: Option<String>,
}

/// The cause of a balance change.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WalletTransactionKind {
    TopUp,
    Charge,
    Refund,
}

/// The position of a page in the list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletPagination {
    pub limit: usize,
    pub offset: usize,
    pub has_more: bool,
}

/// The 402 response to a signed-in wallet with an insufficient balance: instructions for a top-up.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopUpNeeded {
    /// Always `Payment required`.
    pub error: &'static str,
    /// Always `PAYMENT_REQUIRED`.
    pub code: &'static str,
    /// Always `insufficient_balance`.
    pub reason: &'static str,
    pub message: String,
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub current_balance_usd: f64,
    /// The minimum balance for requests.
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub minimum_balance_usd: f64,
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub suggested_top_up_usd: f64,
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub minimum_top_up_usd: f64,
    pub supported_tokens: Vec<&'static str>,
    /// The chains, such as `base` and `solana`.
    pub supported_chains: Vec<String>,
    pub top_up_instructions: TopUpInstructions,
    pub siwx_challenge: SignInChallenge,
}

/// Steps and parameters of a top-up.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopUpInstructions {
    pub step1: String,
    pub step2: String,
    pub step3: String,
    pub receiver_wallet: String,
    pub token_address: String,
    pub token_decimals: u8,
    /// The network in CAIP-2 form.
    pub network: String,
    #[serde(serialize_with = "crate::number::serialize_amount")]
    pub minimum_amount_usd: f64,
}

/// The query of `GET /api_keys/generate_web3_key`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Web3TokenQuery {
    /// The wallet that will sign. The token is then bound to this wallet.
    #[schemars(length(min = 1, max = 64))]
    pub address: Option<String>,
}

/// The response to `GET /api_keys/generate_web3_key`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Web3TokenReply {
    pub success: bool,
    pub data: Web3Token,
}

/// The token that the wallet must sign.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Web3Token {
    /// A JWT that is valid once, within 15 minutes.
    pub token: String,
}

/// The body of `POST /api_keys/generate_web3_key`: a key to create for the wallet's account.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewWeb3Key {
    /// The wallet on Base that signed.
    #[schemars(length(min = 1, max = 64))]
    pub address: String,
    /// The wallet's EIP-191 signature over the token's text.
    #[schemars(length(min = 1, max = 8200))]
    pub signature: String,
    /// The token from `GET /api_keys/generate_web3_key`.
    #[schemars(length(min = 1, max = 1024))]
    pub token: String,
    pub api_key_type: ApiKeyType,
    /// A description of the key. Default: `Web3 API Key`.
    #[schemars(length(max = 64), extend("default" = "Web3 API Key"))]
    pub description: Option<String>,
    pub consumption_limit: Option<ConsumptionLimits>,
    /// Default: `EPOCH`.
    #[schemars(extend("default" = "EPOCH"))]
    pub limit_period: Option<LimitPeriod>,
    /// The models that the key may use; others are refused with 403. Default: `ALL`.
    #[schemars(extend("default" = "ALL"))]
    pub model_privacy: Option<ModelPrivacy>,
    /// The expiry time: `YYYY-MM-DD` or an ISO 8601 timestamp. Empty: the key does not expire.
    #[schemars(length(max = 40))]
    pub expires_at: Option<String>,
}
