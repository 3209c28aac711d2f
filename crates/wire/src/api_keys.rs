//! API keys: their details, and how they are made, changed and revoked.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// What a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ApiKeyType {
    /// Calls models only.
    Inference,
    /// Also manages keys and reads billing.
    Admin,
}

/// Over which period a key's consumption limits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum LimitPeriod {
    /// The UTC day.
    Epoch,
    /// The UTC month.
    Month,
    /// Never starts again.
    Lifetime,
}

/// Which models a key may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ModelPrivacy {
    #[default]
    All,
    /// Text models whose `privacy` is `private`, and all models of other types.
    PrivateText,
    /// Models whose `privacy` is `private`.
    PrivateOnly,
}

/// How much a key may spend in a period; null is no limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConsumptionLimits {
    #[schemars(range(min = 0, max = 9_999_999_999i64))]
    pub usd: Option<f64>,
    #[schemars(range(min = 0, max = 9_999_999_999i64))]
    pub diem: Option<f64>,
    /// The old name of `diem`.
    #[schemars(range(min = 0, max = 9_999_999_999i64))]
    pub vcu: Option<f64>,
}

/// `POST /api_keys`: a key to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewApiKey {
    pub api_key_type: ApiKeyType,
    /// What the key is for, in the words of its owner.
    #[schemars(length(max = 64))]
    pub description: String,
    pub consumption_limit: Option<ConsumptionLimits>,
    /// Defaults to `EPOCH`.
    #[schemars(extend("default" = "EPOCH"))]
    pub limit_period: Option<LimitPeriod>,
    /// When the key stops working: `YYYY-MM-DD`, an ISO 8601 moment, or empty for never.
    #[schemars(length(max = 40))]
    pub expires_at: Option<String>,
    /// Which models the key may use; others are refused with 403. Defaults to `ALL`.
    #[schemars(extend("default" = "ALL"))]
    pub model_privacy: Option<ModelPrivacy>,
}

/// The answer to `POST /api_keys`, the only one that ever shows the key.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NewApiKeyReply {
    pub success: bool,
    pub data: MintedApiKey,
}

/// A key just made.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MintedApiKey {
    /// The secret. It is shown this once and is not kept.
    pub api_key: String,
    pub api_key_type: ApiKeyType,
    pub consumption_limit: ConsumptionLimits,
    pub limit_period: LimitPeriod,
    pub description: String,
    pub expires_at: Option<String>,
    pub id: String,
    pub model_privacy: ModelPrivacy,
}

/// `PATCH /api_keys`: what to change of a key; what is absent stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyChange {
    /// Which key.
    #[schemars(length(min = 1, max = 64))]
    pub id: String,
    #[schemars(length(max = 64))]
    pub description: Option<String>,
    /// As on creation; empty or null clears it.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>", length(max = 40))]
    pub expires_at: Option<Option<String>>,
    /// A limit that is null is cleared, and one that is absent stays; null clears all of them.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<LimitChanges>")]
    pub consumption_limit: Option<Option<LimitChanges>>,
    pub limit_period: Option<LimitPeriod>,
    pub model_privacy: Option<ModelPrivacy>,
}

/// What to change of a key's limits.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
pub struct LimitChanges {
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 9_999_999_999i64))]
    pub usd: Option<Option<f64>>,
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 9_999_999_999i64))]
    pub diem: Option<Option<f64>>,
    /// The old name of `diem`.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 9_999_999_999i64))]
    pub vcu: Option<Option<f64>>,
}

/// What is there, be it null: an absent field never gets here.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// The answer to `PATCH /api_keys`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApiKeyChanged {
    pub success: bool,
    pub data: ApiKey,
}

/// `DELETE /api_keys`: which key to revoke, in the query or the body.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ApiKeyChoice {
    #[schemars(length(min = 1, max = 64))]
    pub id: String,
}

/// The answer to a deed that has nothing else to say.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Done {
    pub success: bool,
}

/// The path of one key.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ApiKeyPath {
    /// The key's id.
    #[schemars(length(min = 1, max = 64))]
    pub id: String,
}

/// API key detail. The key itself is never returned.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    pub api_key_type: ApiKeyType,
    pub consumption_limits: ConsumptionLimits,
    pub limit_period: LimitPeriod,
    pub model_privacy: ModelPrivacy,
    /// ISO 8601.
    pub created_at: String,
    pub description: String,
    /// ISO 8601; null if the key does not expire.
    pub expires_at: Option<String>,
    pub id: String,
    /// The last six characters of the key.
    pub last6_chars: String,
    /// ISO 8601; null if it was never used.
    pub last_used_at: Option<String>,
    pub usage: ApiKeyUsage,
    /// What the key spent in the current period; only if it has a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_period_usage: Option<PeriodUsage>,
}

/// What a key has spent lately.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyUsage {
    pub trailing_seven_days: TrailingUsage,
}

/// Spending in each currency, as decimal strings.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrailingUsage {
    pub usd: String,
    pub vcu: String,
    pub diem: String,
}

/// Spending against a key's limits, as decimal strings.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeriodUsage {
    pub usd: String,
    pub diem: String,
}

/// `GET /api_keys/{id}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApiKeyReply {
    pub data: ApiKey,
}

/// `GET /api_keys`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApiKeyList {
    /// Always `list`.
    pub object: &'static str,
    pub data: Vec<ApiKey>,
}

/// `GET /api_keys/rate_limits`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RateLimitsReply {
    pub data: RateLimits,
}

/// The current limits of a key.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimits {
    /// Whether the key could pay for a request now.
    pub access_permitted: bool,
    pub api_tier: ApiTier,
    pub balances: TierBalances,
    /// ISO 8601; null if the key does not expire.
    pub key_expiration: Option<String>,
    /// When the next epoch begins, ISO 8601.
    pub next_epoch_begins: String,
    pub rate_limits: Vec<ModelRateLimits>,
}

/// The tier of limits an account is in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiTier {
    pub id: String,
    pub is_charged: bool,
}

/// What the account holds.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub struct TierBalances {
    pub usd: f64,
    pub diem: f64,
    pub bundled_credits: f64,
}

/// The limits of one model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelRateLimits {
    pub api_model_id: String,
    pub rate_limits: Vec<RateLimit>,
}

/// One limit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RateLimit {
    pub amount: u64,
    #[serde(rename = "type")]
    pub kind: RateLimitKind,
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RateLimitKind {
    /// Requests a minute.
    Rpm,
    /// Requests a day.
    Rpd,
    /// Tokens a minute.
    Tpm,
    /// Failed requests within thirty seconds.
    FailedRequests,
}

/// `GET /api_keys/rate_limit_logs`: the last fifty refusals for going too fast.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RateLimitLog {
    /// Always `list`.
    pub object: &'static str,
    pub data: Vec<RateLimitLogEntry>,
}

/// One refusal for going too fast.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimitLogEntry {
    pub api_key_id: String,
    pub model_id: String,
    pub rate_limit_tier: String,
    pub rate_limit_type: String,
    /// ISO 8601.
    pub timestamp: String,
}
