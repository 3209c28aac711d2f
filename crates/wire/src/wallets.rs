//! Wallets as customers: topping up, balances, transactions, and keys made with a signature.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api_keys::{ApiKeyType, ConsumptionLimits, LimitPeriod, ModelPrivacy};
use crate::x402::{PaymentOption, SignInChallenge};

/// The answer to `POST /x402/top-up` without a payment: how to pay.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct TopUpRequired {
    /// Protocol version (2).
    pub x402_version: u8,
    /// Payment options.
    pub accepts: Vec<PaymentOption>,
}

/// The answer to `POST /x402/top-up` with a payment that was settled.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TopUpReply {
    /// Always true.
    pub success: bool,
    pub data: ToppedUp,
}

/// What was credited.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ToppedUp {
    /// The wallet credited.
    pub wallet_address: String,
    /// In USD.
    #[serde(serialize_with = "crate::number::amount")]
    pub amount_credited: f64,
    /// In USD, after the top-up.
    #[serde(serialize_with = "crate::number::amount")]
    pub new_balance: f64,
    /// Names the payment, however often it is sent.
    pub payment_id: String,
}

/// The path of a wallet.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletPath {
    /// An address on Base (0x and 40 hexadecimal digits) or on Solana (base58).
    #[schemars(regex(pattern = r"^(0x[a-fA-F0-9]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$"))]
    pub wallet_address: String,
}

/// The answer to `GET /x402/balance/{walletAddress}`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WalletBalanceReply {
    /// Always true.
    pub success: bool,
    pub data: WalletBalance,
}

/// What a wallet can spend.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct WalletBalance {
    /// In its canonical form: lower case on Base.
    pub wallet_address: String,
    #[serde(serialize_with = "crate::number::amount")]
    pub balance_usd: f64,
    /// Whether there is enough to call anything: at least 0.10 USD.
    pub can_consume: bool,
    #[serde(serialize_with = "crate::number::amount")]
    pub minimum_top_up_usd: f64,
    #[serde(serialize_with = "crate::number::amount")]
    pub suggested_top_up_usd: f64,
    /// What a linked account has left of its DIEM today, which is spent first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diem_balance_usd: Option<f64>,
}

/// The query of `GET /x402/transactions/{walletAddress}`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WalletTransactionsQuery {
    /// How many to return; 50 unless said otherwise.
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<usize>,
    /// How many of the newest to leave out.
    #[schemars(range(min = 0, max = 10_000), extend("default" = 0))]
    pub offset: Option<usize>,
}

/// The answer to `GET /x402/transactions/{walletAddress}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WalletTransactionsReply {
    /// Always true.
    pub success: bool,
    pub data: WalletTransactions,
}

/// What came into a wallet's balance and what went, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletTransactions {
    pub wallet_address: String,
    #[serde(serialize_with = "crate::number::amount")]
    pub current_balance: f64,
    pub transactions: Vec<WalletTransaction>,
    pub pagination: WalletPagination,
}

/// One change of the balance.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletTransaction {
    pub id: String,
    /// In USD; negative where money went.
    #[serde(serialize_with = "crate::number::amount")]
    pub amount: f64,
    #[serde(serialize_with = "crate::number::amount")]
    pub balance_after: f64,
    #[serde(rename = "type")]
    pub kind: WalletTransactionKind,
    /// ISO 8601.
    pub created_at: String,
    pub request_id: Option<String>,
    pub model_id: Option<String>,
}

/// Why the balance changed.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WalletTransactionKind {
    TopUp,
    Charge,
    Refund,
}

/// Which part of the list this is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletPagination {
    pub limit: usize,
    pub offset: usize,
    pub has_more: bool,
}

/// The 402 of a wallet that has signed in and has too little: how to top up.
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
    #[serde(serialize_with = "crate::number::amount")]
    pub current_balance_usd: f64,
    /// Below it nothing can be called.
    #[serde(serialize_with = "crate::number::amount")]
    pub minimum_balance_usd: f64,
    #[serde(serialize_with = "crate::number::amount")]
    pub suggested_top_up_usd: f64,
    #[serde(serialize_with = "crate::number::amount")]
    pub minimum_top_up_usd: f64,
    pub supported_tokens: Vec<&'static str>,
    /// Such as `base` and `solana`.
    pub supported_chains: Vec<String>,
    pub top_up_instructions: TopUpInstructions,
    pub siwx_challenge: SignInChallenge,
}

/// How to top up, step by step.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopUpInstructions {
    pub step1: String,
    pub step2: String,
    pub step3: String,
    pub receiver_wallet: String,
    pub token_address: String,
    pub token_decimals: u8,
    /// CAIP-2 form.
    pub network: String,
    #[serde(serialize_with = "crate::number::amount")]
    pub minimum_amount_usd: f64,
}

/// `GET /api_keys/generate_web3_key`: for whom.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Web3TokenQuery {
    /// The wallet that is to sign: the token then names it, and is good for no other.
    #[schemars(length(min = 1, max = 64))]
    pub address: Option<String>,
}

/// The answer to `GET /api_keys/generate_web3_key`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Web3TokenReply {
    pub success: bool,
    pub data: Web3Token,
}

/// What the wallet is to sign.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Web3Token {
    /// A JWT that can be used once, within 15 minutes.
    pub token: String,
}

/// `POST /api_keys/generate_web3_key`: a key of the wallet's own account.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewWeb3Key {
    /// The wallet on Base that signed.
    #[schemars(length(min = 1, max = 64))]
    pub address: String,
    /// The wallet's EIP-191 signature over the token's own text.
    #[schemars(length(min = 1, max = 8200))]
    pub signature: String,
    /// From `GET /api_keys/generate_web3_key`.
    #[schemars(length(min = 1, max = 1024))]
    pub token: String,
    pub api_key_type: ApiKeyType,
    /// What the key is for; `Web3 API Key` unless said otherwise.
    #[schemars(length(max = 64), extend("default" = "Web3 API Key"))]
    pub description: Option<String>,
    pub consumption_limit: Option<ConsumptionLimits>,
    /// Defaults to `EPOCH`.
    #[schemars(extend("default" = "EPOCH"))]
    pub limit_period: Option<LimitPeriod>,
    /// Which models the key may use. Defaults to `ALL`.
    #[schemars(extend("default" = "ALL"))]
    pub model_privacy: Option<ModelPrivacy>,
    /// When the key stops working: `YYYY-MM-DD`, an ISO 8601 moment, or empty for never.
    #[schemars(length(max = 40))]
    pub expires_at: Option<String>,
}
