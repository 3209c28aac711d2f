//! Types for creating, reading, changing and revoking API keys, and for reading their rate limits.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// The permissions of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ApiKeyType {
    /// May only call models.
    Inference,
    /// May also manage keys and read billing data.
    Admin,
}

/// The period over which a key's consumption limits are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum LimitPeriod {
    /// A UTC day.
    Epoch,
    /// A UTC month.
    Month,
    /// The whole lifetime of the key: the count is never reset.
    Lifetime,
}

/// The models that a key may use.
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

/// The most a key may spend per period, by currency. Null means no limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConsumptionLimits {
    #[schemars(range(min = 0, max = 9_999_999_999i64))]
    pub usd: Option<f64>,
    #[schemars(range(min = 0, max = 9_999_999_999i64))]
    pub diem: Option<f64>,
    /// Deprecated name of `diem`.
    #[schemars(range(min = 0, max = 9_999_999_999i64))]
    pub vcu: Option<f64>,
}

/// The body of `POST /api_keys`: a key to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewApiKey {
    pub api_key_type: ApiKeyType,
    /// A description of the key, chosen by its owner.
    #[schemars(length(max = 64))]
    pub description: String,
    pub consumption_limit: Option<ConsumptionLimits>,
    /// Default: `EPOCH`.
    #[schemars(extend("default" = "EPOCH"))]
    pub limit_period: Option<LimitPeriod>,
    /// The expiry time: `YYYY-MM-DD` or an ISO 8601 timestamp. Empty: the key does not expire.
    #[schemars(length(max = 40))]
    pub expires_at: Option<String>,
    /// The models that the key may use; others are refused with 403. Default: `ALL`.
    #[schemars(extend("default" = "ALL"))]
    pub model_privacy: Option<ModelPrivacy>,
}

/// The response to `POST /api_keys`, the only response that contains the key itself.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NewApiKeyReply {
    pub success: bool,
    pub data: MintedApiKey,
}

/// A newly created key.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MintedApiKey {
    /// The key itself. It is not stored and cannot be retrieved again.
    pub api_key: String,
    pub api_key_type: ApiKeyType,
    pub consumption_limit: ConsumptionLimits,
    pub limit_period: LimitPeriod,
    pub description: String,
    pub expires_at: Option<String>,
    pub id: String,
    pub model_privacy: ModelPrivacy,
}

/// The body of `PATCH /api_keys`. Absent fields keep their values.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyChange {
    /// The id of the key to change.
    #[schemars(length(min = 1, max = 64))]
    pub id: String,
    #[schemars(length(max = 64))]
    pub description: Option<String>,
    /// The new expiry time, in the format of `POST /api_keys`. Empty or null removes it.
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schemars(with = "Option<String>", length(max = 40))]
    pub expires_at: Option<Option<String>>,
    /// The new limits. A null limit is removed and an absent one is kept; null instead of an object
    /// removes all limits.
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schemars(with = "Option<LimitChanges>")]
    pub consumption_limit: Option<Option<LimitChanges>>,
    pub limit_period: Option<LimitPeriod>,
    pub model_privacy: Option<ModelPrivacy>,
}

/// Changes to a key's limits.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
pub struct LimitChanges {
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 9_999_999_999i64))]
    pub usd: Option<Option<f64>>,
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 9_999_999_999i64))]
    pub diem: Option<Option<f64>>,
    /// Deprecated name of `diem`.
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 9_999_999_999i64))]
    pub vcu: Option<Option<f64>>,
}

/// Deserializes a field that is present, also if it is null. Serde does not call this for an absent
/// field, so `None` means absent and `Some(None)` means null.
fn deserialize_present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// The response to `PATCH /api_keys`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApiKeyChanged {
    pub success: bool,
    pub data: ApiKey,
}

/// The query or body of `DELETE /api_keys`: the key to revoke.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ApiKeyChoice {
    #[schemars(length(min = 1, max = 64))]
    pub id: String,
}

/// The response of an operation that returns no data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Done {
    pub success: bool,
}

/// The path parameters of one key.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ApiKeyPath {
    /// The key's id.
    #[schemars(length(min = 1, max = 64))]
    pub id: String,
}

/// The details of an API key. The key itself is never returned.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    pub api_key_type: ApiKeyType,
    pub consumption_limits: ConsumptionLimits,
    pub limit_period: LimitPeriod,
    pub model_privacy: ModelPrivacy,
    /// The creation time (ISO 8601).
    pub created_at: String,
    pub description: String,
    /// The expiry time (ISO 8601); null if the key does not expire.
    pub expires_at: Option<String>,
    pub id: String,
    /// The last six characters of the key.
    pub last6_chars: String,
    /// The time of the last use (ISO 8601); null if the key was never used.
    pub last_used_at: Option<String>,
    pub usage: ApiKeyUsage,
    /// Spending in the current period. Absent if the key has no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_period_usage: Option<PeriodUsage>,
}

/// Recent spending of a key.
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

/// The response to `GET /api_keys/{id}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApiKeyReply {
    pub data: ApiKey,
}

/// The response to `GET /api_keys`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApiKeyList {
    /// Always `list`.
    pub object: &'static str,
    pub data: Vec<ApiKey>,
}

/// The response to `GET /api_keys/rate_limits`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RateLimitsReply {
    pub data: RateLimits,
}

/// The current rate limits and balances of a key.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimits {
    /// True if the key can pay for a request now.
    pub access_permitted: bool,
    pub api_tier: ApiTier,
    pub balances: TierBalances,
    /// The expiry time (ISO 8601); null if the key does not expire.
    pub key_expiration: Option<String>,
    /// The start of the next epoch (ISO 8601).
    pub next_epoch_begins: String,
    pub rate_limits: Vec<ModelRateLimits>,
}

/// The rate limit tier of an account.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiTier {
    pub id: String,
    pub is_charged: bool,
}

/// The balances of the account.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub struct TierBalances {
    pub usd: f64,
    pub diem: f64,
    pub bundled_credits: f64,
}

/// The rate limits of one model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelRateLimits {
    pub api_model_id: String,
    pub rate_limits: Vec<RateLimit>,
}

/// One rate limit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RateLimit {
    pub amount: u64,
    #[serde(rename = "type")]
    pub kind: RateLimitKind,
}

/// The quantity that a rate limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RateLimitKind {
    /// Requests per minute.
    Rpm,
    /// Requests per day.
    Rpd,
    /// Tokens per minute.
    Tpm,
    /// Failed requests within 30 seconds.
    FailedRequests,
}

/// The response to `GET /api_keys/rate_limit_logs`: the last 50 requests refused by a rate limit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RateLimitLog {
    /// Always `list`.
    pub object: &'static str,
    pub data: Vec<RateLimitLogEntry>,
}

/// One request refused by a rate limit.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimitLogEntry {
    pub api_key_id: String,
    pub model_id: String,
    pub rate_limit_tier: String,
    pub rate_limit_type: String,
    /// The time of the refusal (ISO 8601).
    pub timestamp: String,
}
