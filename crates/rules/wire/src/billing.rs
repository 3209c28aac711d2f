//! Billing: balances and usage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A currency that pays for requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Currency {
    Usd,
    Vcu,
    Diem,
    BundledCredits,
}

/// The response to `GET /billing/balance`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Balance {
    /// True if a request can be paid for now.
    pub can_consume: bool,
    /// The currency that pays for the next request.
    pub consumption_currency: Option<Currency>,
    pub balances: Balances,
    /// The DIEM allocation of the current epoch. The difference to `balances.diem` was used.
    pub diem_epoch_allocation: f64,
}

/// The remaining balance in each currency.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Balances {
    pub diem: f64,
    pub usd: f64,
    pub bundled_credits: f64,
    /// Always 0: credits cannot be earned on this service.
    pub earned_credits: f64,
    pub vcu: f64,
}

/// The order of results by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortOrder {
    Asc,
    Desc,
}

/// The query of `GET /billing/usage`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageQuery {
    pub currency: Option<Currency>,
    /// The start of the range (ISO 8601).
    #[schemars(length(max = 40))]
    pub start_date: Option<String>,
    /// The end of the range (ISO 8601).
    #[schemars(length(max = 40))]
    pub end_date: Option<String>,
    /// The number of rows per page. Default: 200.
    #[schemars(range(min = 1, max = 500), extend("default" = 200))]
    pub limit: Option<u32>,
    /// The page number, counted from 1. Default: 1.
    #[schemars(range(min = 1, max = 1_000_000), extend("default" = 1))]
    pub page: Option<u32>,
    /// Default: `desc`, newest first.
    #[schemars(extend("default" = "desc"))]
    pub sort_order: Option<SortOrder>,
}

/// The response to `GET /billing/usage`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsagePage {
    /// A notice that rows were omitted. Currently always absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning_message: Option<String>,
    pub data: Vec<UsageRow>,
    pub pagination: Pagination,
}

/// The position of a page in a listing.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pagination {
    pub limit: u64,
    pub page: u64,
    pub total: u64,
    pub total_pages: u64,
}

/// One charge in one currency.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    /// The amount, negative because it was taken from the balance.
    pub amount: f64,
    pub currency: Currency,
    pub inference_details: Option<InferenceDetails>,
    pub notes: String,
    pub price_per_unit_usd: f64,
    /// The session of the request: 16 hexadecimal digits, a digest of the caller's key that differs
    /// between accounts. Null without a session.
    pub session_id: Option<String>,
    /// The billed item, such as `<model>-llm-output-mtoken`.
    pub sku: String,
    /// The time of the charge (ISO 8601).
    pub timestamp: String,
    /// The number of units, in the unit of the SKU.
    pub units: f64,
}

/// The request that a usage row belongs to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InferenceDetails {
    pub completion_tokens: Option<u64>,
    /// The execution time in milliseconds.
    pub inference_execution_time: Option<u64>,
    pub prompt_tokens: Option<u64>,
    pub request_id: Option<String>,
}

/// The query of `GET /billing/usage-history`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageHistoryQuery {
    pub currency: Option<Currency>,
    /// The `nextCursor` of the previous page. It cannot be combined with other parameters.
    #[schemars(length(max = 512), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub cursor: Option<String>,
    /// The start of the range (ISO 8601, UTC).
    #[schemars(length(max = 40))]
    pub start_timestamp: Option<String>,
    /// The end of the range (ISO 8601, UTC).
    #[schemars(length(max = 40))]
    pub end_timestamp: Option<String>,
    /// The number of rows per page. Default: 1000.
    #[schemars(range(min = 10, max = 1000))]
    pub page_size: Option<u32>,
}

/// The response to `GET /billing/usage-history`, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageHistory {
    pub data: Vec<UsageRow>,
    /// The cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// An additional breakdown of `GET /billing/usage-analytics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnalyticsGroup {
    Session,
}

/// The query of `GET /billing/usage-analytics`: the range of days.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalyticsQuery {
    /// The number of days up to today, such as `7d`. At most 90 days are returned. Default: `7d`.
    #[schemars(length(max = 8), regex(pattern = r"^[1-9]\d*d$"))]
    pub lookback: Option<String>,
    /// The first day, `YYYY-MM-DD`. Requires `endDate`.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    pub start_date: Option<String>,
    /// The last day, `YYYY-MM-DD`.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    pub end_date: Option<String>,
    /// Adds `bySession` to the response.
    pub group_by: Option<AnalyticsGroup>,
}

/// The response to `GET /billing/usage-analytics`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Analytics {
    /// The length of the range, such as `7d`.
    pub lookback: String,
    pub by_date: Vec<DateTotals>,
    pub by_model: Vec<ModelTotals>,
    /// One row per day: `date` in Unix milliseconds, and the USD spent by model name.
    pub by_model_daily: Vec<Map<String, Value>>,
    /// The models with the highest cost, in descending order.
    pub top_models: Vec<String>,
    pub by_key: Vec<KeyTotals>,
    /// One row per day: `date` in Unix milliseconds, and the USD spent by key description.
    pub by_key_daily: Vec<Map<String, Value>>,
    /// The descriptions of the keys with the highest spending, in descending order.
    pub top_key_names: Vec<String>,
    /// The 100 sessions with the highest cost, in descending order. Only with `groupBy=session`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_session: Option<Vec<SessionTotals>>,
}

/// Spending of one session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionTotals {
    /// The `sessionId` of its usage rows.
    pub session_id: String,
    pub total_usd: f64,
    pub total_diem: f64,
    pub total_units: f64,
    /// The number of charged requests.
    pub requests: u64,
    /// Prompt tokens, those from a cache included.
    pub input_tokens: u64,
    /// Prompt tokens that were read from a cache.
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// The time of the first charge in the range (ISO 8601). Null if there are only refunds.
    pub first_at: Option<String>,
    /// The time of the last charge in the range (ISO 8601).
    pub last_at: Option<String>,
}

/// Spending on one day.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DateTotals {
    /// `YYYY-MM-DD`.
    pub date: String,
    #[serde(rename = "USD")]
    pub usd: f64,
    #[serde(rename = "DIEM")]
    pub diem: f64,
}

/// Spending on one model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelTotals {
    pub model_name: String,
    pub unit_type: String,
    pub model_type: Option<String>,
    pub total_usd: f64,
    pub total_diem: f64,
    pub total_units: f64,
    /// Spending by billed item. Empty if there was only one.
    pub breakdown: Vec<Breakdown>,
}

/// Spending on one billed item of a model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Breakdown {
    #[serde(rename = "type")]
    pub kind: String,
    pub usd: f64,
    pub diem: f64,
    pub units: f64,
}

/// Spending of one key.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyTotals {
    /// Null for spending without a key.
    pub api_key_id: Option<String>,
    pub description: String,
    pub total_usd: f64,
    pub total_diem: f64,
    pub total_units: f64,
}
