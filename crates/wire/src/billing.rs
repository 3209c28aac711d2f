//! Billing: the balance, and what it was spent on.

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

/// `GET /billing/balance`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Balance {
    /// Whether a request could be paid for now.
    pub can_consume: bool,
    /// The currency that the next request would be paid from.
    pub consumption_currency: Option<Currency>,
    pub balances: Balances,
    /// The total DIEM allocation of the current epoch; less `balances.diem` it is what was used.
    pub diem_epoch_allocation: f64,
}

/// What is left in each currency.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Balances {
    pub diem: f64,
    pub usd: f64,
    pub bundled_credits: f64,
    /// Always 0: nothing can be earned here.
    pub earned_credits: f64,
    pub vcu: f64,
}

/// Oldest or newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortOrder {
    Asc,
    Desc,
}

/// `GET /billing/usage`: which usage to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageQuery {
    pub currency: Option<Currency>,
    /// From this moment on, ISO 8601.
    #[schemars(length(max = 40))]
    pub start_date: Option<String>,
    /// Up to this moment, ISO 8601.
    #[schemars(length(max = 40))]
    pub end_date: Option<String>,
    /// Rows a page; 200 unless said.
    #[schemars(range(min = 1, max = 500), extend("default" = 200))]
    pub limit: Option<u32>,
    /// Which page, from 1.
    #[schemars(range(min = 1, max = 1_000_000), extend("default" = 1))]
    pub page: Option<u32>,
    /// Newest first (`desc`) unless said.
    #[schemars(extend("default" = "desc"))]
    pub sort_order: Option<SortOrder>,
}

/// `GET /billing/usage`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsagePage {
    /// Says so where something was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning_message: Option<String>,
    pub data: Vec<UsageRow>,
    pub pagination: Pagination,
}

/// Where in a listing a page is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pagination {
    pub limit: u64,
    pub page: u64,
    pub total: u64,
    pub total_pages: u64,
}

/// One line of a bill, paid in one currency.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    /// Negative: it left the balance.
    pub amount: f64,
    pub currency: Currency,
    pub inference_details: Option<InferenceDetails>,
    pub notes: String,
    pub price_per_unit_usd: f64,
    /// What was sold, such as `<model>-llm-output-mtoken`.
    pub sku: String,
    /// ISO 8601.
    pub timestamp: String,
    /// How many units, in the unit of the sku.
    pub units: f64,
}

/// The request a usage row belongs to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InferenceDetails {
    pub completion_tokens: Option<u64>,
    /// Milliseconds.
    pub inference_execution_time: Option<u64>,
    pub prompt_tokens: Option<u64>,
    pub request_id: Option<String>,
}

/// `GET /billing/usage-history`: where to start, or where to go on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageHistoryQuery {
    pub currency: Option<Currency>,
    /// The `nextCursor` of the page before; it stands alone.
    #[schemars(length(max = 512), regex(pattern = r"^[A-Za-z0-9_-]+$"))]
    pub cursor: Option<String>,
    /// From this moment on, ISO 8601 in UTC.
    #[schemars(length(max = 40))]
    pub start_timestamp: Option<String>,
    /// Up to this moment, ISO 8601 in UTC.
    #[schemars(length(max = 40))]
    pub end_timestamp: Option<String>,
    /// Rows a page; 1000 unless said.
    #[schemars(range(min = 10, max = 1000))]
    pub page_size: Option<u32>,
}

/// `GET /billing/usage-history`, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageHistory {
    pub data: Vec<UsageRow>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

/// `GET /billing/usage-analytics`: over how many days.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalyticsQuery {
    /// Days back from today, such as `7d`; at most 90 are shown.
    #[schemars(length(max = 8), regex(pattern = r"^[1-9]\d*d$"))]
    pub lookback: Option<String>,
    /// The first day, `YYYY-MM-DD`; together with `endDate`.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    pub start_date: Option<String>,
    /// The last day, `YYYY-MM-DD`.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    pub end_date: Option<String>,
}

/// `GET /billing/usage-analytics`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Analytics {
    /// The days shown, such as `7d`.
    pub lookback: String,
    pub by_date: Vec<DateTotals>,
    pub by_model: Vec<ModelTotals>,
    /// A row a day: `date` in Unix milliseconds, and USD spent by model name.
    pub by_model_daily: Vec<Map<String, Value>>,
    /// The models that cost the most, the most expensive first.
    pub top_models: Vec<String>,
    pub by_key: Vec<KeyTotals>,
    /// A row a day: `date` in Unix milliseconds, and USD spent by key description.
    pub by_key_daily: Vec<Map<String, Value>>,
    /// The keys that spent the most, the biggest spender first.
    pub top_key_names: Vec<String>,
}

/// What was spent on one day.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DateTotals {
    /// `YYYY-MM-DD`.
    pub date: String,
    #[serde(rename = "USD")]
    pub usd: f64,
    #[serde(rename = "DIEM")]
    pub diem: f64,
}

/// What was spent on one model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelTotals {
    pub model_name: String,
    pub unit_type: String,
    pub model_type: Option<String>,
    pub total_usd: f64,
    pub total_diem: f64,
    pub total_units: f64,
    /// By what was sold; empty where it was one thing only.
    pub breakdown: Vec<Breakdown>,
}

/// A part of what was spent on one model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Breakdown {
    #[serde(rename = "type")]
    pub kind: String,
    pub usd: f64,
    pub diem: f64,
    pub units: f64,
}

/// What one key spent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyTotals {
    /// Null for what was spent without a key.
    pub api_key_id: Option<String>,
    pub description: String,
    pub total_usd: f64,
    pub total_diem: f64,
    pub total_units: f64,
}
