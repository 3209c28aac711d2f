//! Searches the requests of an account by key, model, outcome, id and time.
//!
//! Callers see their own account; the operator also any account that the query names.

use std::collections::BTreeMap;
use std::sync::Arc;

use access::CredentialHolder;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use http_frame::app::{AppState, SharedApp};
use http_frame::recent_errors::RefusedCall;
use http_frame::refusal::Refusal;
use http_frame::session;
use ledger_core::{KeyId, OwnerId};
use moment::Timestamp;
use money::{Nano, PriceUnits};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use store::owner::OwnerKind;
use store::usage::{
    DayRange, DayRequests, FOUND_REQUESTS_MAX, REFUND_SKU, RequestOutcome, RequestSearch, UsageRow,
};
use url::form_urlencoded;
use uuid::Uuid;

use crate::console::ConsoleState;
use crate::console::account::{is_limited_to_itself, is_shown};
use crate::console::sign_in::{is_operator, uncached_json};
use crate::endpoints::billing::analytics::{analyse_usage, recent_days};

const REQUESTS_DEFAULT: u64 = 50;
/// Largest page number: as many as the rows that a search reads.
const PAGES_MAX: u64 = 1000;
/// Days whose keys and models are listed as filters.
const FILTER_DAYS: i64 = 90;
const TEXT_CHARS_MAX: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ActivityQuery {
    /// Another account than the caller's own; operator only.
    account: Option<String>,
    key: Option<Uuid>,
    model: Option<String>,
    request_id: Option<String>,
    status: Option<ActivityStatus>,
    from: Option<String>,
    until: Option<String>,
    page: Option<String>,
    /// Requests per page; 0 returns only the count.
    size: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ActivityStatus {
    Charged,
    Refunded,
    Error,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnalyticsQuery {
    account: String,
    lookback: Option<String>,
}

pub(super) async fn show_activity(
    State(app): State<SharedApp>,
    State(console): State<Arc<ConsoleState>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let found = find_activity(&app, &console, &uri, &headers).await;
    found.map_or_else(IntoResponse::into_response, |it| uncached_json(&it))
}

/// The spending of an account by day, model and key; operator only.
pub(super) async fn show_analytics(
    State(app): State<SharedApp>,
    State(console): State<Arc<ConsoleState>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let told = read_analytics(&app, &console, &uri, &headers).await;
    told.map_or_else(IntoResponse::into_response, |it| uncached_json(&it))
}

async fn read_analytics(
    app: &AppState,
    console: &ConsoleState,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Value, Refusal> {
    let now = app.clock.now();
    let holder = session::authenticate_session(app, headers, now).await?;
    refuse_unless_operator(console, &holder)?;
    let query: AnalyticsQuery = read_query(uri)?;
    let owner = find_account(app, &query.account).await?;
    let days = recent_days(query.lookback.as_deref(), now);
    let analytics = analyse_usage(app, owner, days, now).await?;
    serde_json::to_value(analytics).map_err(Refusal::internal)
}

async fn find_activity(
    app: &AppState,
    console: &ConsoleState,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Value, Refusal> {
    let now = app.clock.now();
    let holder = session::authenticate_session(app, headers, now).await?;
    let query: ActivityQuery = read_query(uri)?;
    let owner = match &query.account {
        Some(name) => {
            refuse_unless_operator(console, &holder)?;
            find_account(app, name).await?
        }
        None => holder.owner.id,
    };
    let search = read_search(&query, owner, &holder)?;
    if query.status == Some(ActivityStatus::Error) {
        return list_errors(app, &query, &search, &holder);
    }
    // A search reads thousands of rows; more than a few at once would delay charges.
    let _permit = console.searches.acquire().await.map_err(Refusal::unavailable)?;
    let found = app.store.search_requests(search).await.map_err(Refusal::unavailable)?;
    let mut data = Vec::with_capacity(found.requests.len());
    for rows in &found.requests {
        data.extend(request_line(app, rows).await?);
    }
    let day = |it: &DayRequests| json!({ "date": Timestamp::start_of_day(it.day).date(), "requests": it.requests });
    Ok(json!({
        "data": data,
        "total": found.total(),
        "isCut": found.is_cut,
        "byDay": found.by_day.iter().map(day).collect::<Vec<_>>(),
        "filters": list_filters(app, owner, &holder, now).await?,
    }))
}

/// Parses the query string. All values are strings.
fn read_query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Refusal> {
    let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let fields: Map<String, Value> =
        pairs.map(|(name, value)| (name.into_owned(), Value::String(value.into_owned()))).collect();
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| Refusal::bad_request("Invalid query", error.to_string()))
}

fn refuse_unless_operator(
    console: &ConsoleState,
    holder: &CredentialHolder,
) -> Result<(), Refusal> {
    let refusal = || Refusal::forbidden("Only the operator sees other accounts.");
    is_operator(console, holder).then_some(()).ok_or_else(refusal)
}

async fn find_account(app: &AppState, name: &str) -> Result<OwnerId, Refusal> {
    let found = app.store.find_owner(OwnerKind::Account, name).await;
    let found = found.map_err(Refusal::unavailable)?;
    let missing = || Refusal::not_found("Account not found", "There is no account of that name.");
    found.map(|owner| owner.id).ok_or_else(missing)
}

fn read_search(
    query: &ActivityQuery,
    owner: OwnerId,
    holder: &CredentialHolder,
) -> Result<RequestSearch, Refusal> {
    let refuse = |message: String| Refusal::bad_request("Invalid query", message);
    let moment = |name: &str, text: Option<&str>, open: Timestamp| match text {
        None => Ok(open),
        Some(text) => Timestamp::parse(text)
            .ok_or_else(|| refuse(format!("`{name}` must be a date such as 2026-01-31."))),
    };
    let from = moment("from", query.from.as_deref(), Timestamp::from_ms(0))?;
    let until = moment("until", query.until.as_deref(), Timestamp::MAX)?;
    if until < from {
        return Err(refuse("`until` must not be before `from`.".to_owned()));
    }
    let is_long = |text: &String| TEXT_CHARS_MAX < text.chars().count();
    if query.model.as_ref().is_some_and(is_long) || query.request_id.as_ref().is_some_and(is_long) {
        return Err(refuse(format!("A filter has at most {TEXT_CHARS_MAX} characters.")));
    }
    let number = |text: &Option<String>, default: u64| match text {
        None => Some(default),
        Some(text) => text.parse::<u64>().ok(),
    };
    let page = number(&query.page, 1).filter(|page| (1..=PAGES_MAX).contains(page));
    let size = number(&query.size, REQUESTS_DEFAULT);
    let size = size.and_then(|size| usize::try_from(size).ok());
    let size = size.filter(|size| *size <= FOUND_REQUESTS_MAX);
    let (Some(page), Some(size)) = (page, size) else {
        let message = format!("`page` is 1 to {PAGES_MAX}, `size` at most {FOUND_REQUESTS_MAX}.");
        return Err(refuse(message));
    };
    let own_key = holder.key().filter(|_| is_limited_to_itself(holder)).map(|key| key.id);
    let key = query.key.map(KeyId);
    if own_key.is_some() && key.is_some() && own_key != key {
        return Err(Refusal::forbidden("An INFERENCE key sees only its own requests."));
    }
    Ok(RequestSearch {
        owner,
        key: own_key.or(key),
        model: query.model.clone(),
        request_id: query.request_id.clone(),
        outcome: match query.status {
            Some(ActivityStatus::Charged) => Some(RequestOutcome::Charged),
            Some(ActivityStatus::Refunded) => Some(RequestOutcome::Refunded),
            Some(ActivityStatus::Error) | None => None,
        },
        from,
        until,
        skip: (page - 1).saturating_mul(u64::try_from(size).unwrap_or(u64::MAX)),
        size,
    })
}

/// Recent refusals from memory, with the same filters. Their model is not recorded.
fn list_errors(
    app: &AppState,
    query: &ActivityQuery,
    search: &RequestSearch,
    holder: &CredentialHolder,
) -> Result<Value, Refusal> {
    if query.model.is_some() {
        let message = "Errors are not kept by model; leave `model` out with `status=error`.";
        return Err(Refusal::bad_request("Invalid query", message));
    }
    let is_wanted = |call: &RefusedCall| {
        search.key.is_none_or(|key| call.key == Some(key))
            && search.request_id.as_ref().is_none_or(|id| call.request_id == *id)
            && (search.from..search.until).contains(&call.at)
            && (query.account.is_some() || is_shown(holder, call.key))
    };
    let calls = app.refused.list_by_owner(search.owner);
    let calls: Vec<RefusedCall> = calls.into_iter().filter(is_wanted).collect();
    let skip = usize::try_from(search.skip).unwrap_or(usize::MAX);
    let data: Vec<Value> = calls.iter().skip(skip).take(search.size).map(error_line).collect();
    Ok(json!({ "data": data, "total": calls.len(), "isCut": false, "byDay": [], "filters": null }))
}

fn error_line(call: &RefusedCall) -> Value {
    json!({
        "status": "error",
        "at": call.at.to_string(),
        "requestId": call.request_id,
        "keyId": call.key.map(|key| key.0),
        "path": call.path,
        "httpStatus": call.status,
        "notes": call.words,
    })
}

async fn request_line(app: &AppState, rows: &[UsageRow]) -> Result<Option<Value>, Refusal> {
    let Some(first) = rows.first() else { return Ok(None) };
    let is_refund = first.sku == REFUND_SKU;
    let is_refunded = is_refund || {
        let recorded = app.store.is_recorded(first.charge.refund_entry()).await;
        recorded.map_err(Refusal::unavailable)?
    };
    let mut cost: BTreeMap<&str, Nano> = BTreeMap::new();
    for row in rows {
        let sum = cost.entry(row.currency.name()).or_default();
        *sum = sum.saturating_add(row.amount);
    }
    let cost: BTreeMap<&str, String> =
        cost.into_iter().map(|(currency, sum)| (currency, sum.to_string())).collect();
    let line = |row: &UsageRow| {
        json!({
            "sku": row.sku,
            "units": row.units,
            "price": row.price.as_f64(row.per),
            "per": units_priced(row.per),
            "amount": row.amount.to_string(),
            "currency": row.currency.name(),
        })
    };
    Ok(Some(json!({
        "status": if is_refund { "refunded" } else { "charged" },
        "isRefunded": is_refunded,
        "at": first.at.to_string(),
        "requestId": first.details.request_id,
        "charge": first.charge.0,
        "keyId": first.key.map(|key| key.0),
        "model": first.model,
        "promptTokens": first.details.prompt_tokens,
        "completionTokens": first.details.completion_tokens,
        "executionMs": first.details.execution_ms,
        "cost": cost,
        "notes": first.notes,
        "lines": rows.iter().map(line).collect::<Vec<_>>(),
    })))
}

/// The number of units that a price is quoted for.
fn units_priced(per: PriceUnits) -> u64 {
    match per {
        PriceUnits::One => 1,
        PriceUnits::Thousand => 1_000,
        PriceUnits::Million => 1_000_000,
    }
}

/// The keys and models that the account used recently, as filter options.
async fn list_filters(
    app: &AppState,
    owner: OwnerId,
    holder: &CredentialHolder,
    now: Timestamp,
) -> Result<Value, Refusal> {
    let days = DayRange { first: now.unix_day() - (FILTER_DAYS - 1), last: now.unix_day() };
    let by_key = app.store.usage_by_key(owner, days).await.map_err(Refusal::unavailable)?;
    let by_model = app.store.usage_by_model(owner, days).await.map_err(Refusal::unavailable)?;
    let mut keys: BTreeMap<KeyId, String> = BTreeMap::new();
    for row in by_key {
        if let Some(key) = row.key.filter(|key| is_shown(holder, Some(*key))) {
            keys.insert(key, row.description.unwrap_or_default());
        }
    }
    let mut models: Vec<String> = by_model.into_iter().map(|row| row.model).collect();
    models.sort_unstable();
    models.dedup();
    let key =
        |(id, description): (&KeyId, &String)| json!({ "id": id.0, "description": description });
    Ok(json!({ "keys": keys.iter().map(key).collect::<Vec<_>>(), "models": models }))
}
