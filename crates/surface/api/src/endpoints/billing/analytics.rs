//! `GET /billing/usage-analytics`: spending by day, model and key.

mod totals;

use http_frame::app::{AppState, SharedApp};
use http_frame::call::ApiCall;
use http_frame::caller::AdminCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::QueryParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use ledger_core::OwnerId;
use moment::Timestamp;
use schema_check::ValidationFaults;
use store::usage::DayRange;
use wire::billing::{Analytics, AnalyticsGroup, AnalyticsQuery, SessionTotals};

const DAYS_DEFAULT: i64 = 7;
const DAYS_MAX: i64 = 90;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/billing/usage-analytics", get_usage_analytics)
        .tag("Billing")
        .summary("Show spending by day, model and key")
        .experimental()
        .build()
}

async fn get_usage_analytics(
    app: SharedApp,
    call: ApiCall<AdminCaller, QueryParameters<AnalyticsQuery>>,
) -> Result<WithHeaders<Analytics>, Refusal> {
    let AdminCaller(holder) = &call.caller;
    let QueryParameters(query) = &call.input;
    let days = resolve_days(query, call.now)?;
    let mut analytics = analyse_usage(&app, holder.owner.id, days, call.now).await?;
    if query.group_by == Some(AnalyticsGroup::Session) {
        analytics.by_session = Some(list_sessions(&app, holder.owner.id, days).await?);
    }
    Ok(WithHeaders::new(analytics))
}

/// The spending of one owner by day, model and key.
pub(crate) async fn analyse_usage(
    app: &AppState,
    owner: OwnerId,
    days: DayRange,
    now: Timestamp,
) -> Result<Analytics, Refusal> {
    let by_model = app.store.usage_by_model(owner, days).await.map_err(Refusal::unavailable)?;
    let by_key = app.store.usage_by_key(owner, days).await.map_err(Refusal::unavailable)?;
    let catalogue = app.catalogue.get();
    let by_models = totals::by_model(&by_model, |id| {
        catalogue.find_model(id, now).ok().map(|found| found.model.model_type().to_string())
    });
    let by_keys = totals::by_key(&by_key);
    Ok(Analytics {
        lookback: format!("{}d", days.last - days.first + 1),
        by_date: totals::by_date(&by_model, days),
        by_model_daily: totals::model_days(&by_model, days),
        top_models: by_models.iter().map(|it| it.model_name.clone()).take(totals::TOP).collect(),
        by_model: by_models,
        by_key_daily: totals::key_days(&by_key, days),
        top_key_names: by_keys.iter().map(|it| it.description.clone()).take(totals::TOP).collect(),
        by_key: by_keys,
        by_session: None,
    })
}

/// The most expensive sessions of one owner.
pub(crate) async fn list_sessions(
    app: &AppState,
    owner: OwnerId,
    days: DayRange,
) -> Result<Vec<SessionTotals>, Refusal> {
    let sessions = app.store.usage_by_session(owner, days).await.map_err(Refusal::unavailable)?;
    Ok(sessions.iter().map(totals::of_session).collect())
}

/// The requested days. A range of more than [`DAYS_MAX`] days is shortened, not refused.
fn resolve_days(query: &AnalyticsQuery, now: Timestamp) -> Result<DayRange, Refusal> {
    let last = now.unix_day();
    let (start, end) = match (&query.start_date, &query.end_date) {
        (None, None) => return Ok(recent_days(query.lookback.as_deref(), now)),
        (start, end) => (start.as_deref(), end.as_deref()),
    };
    let mut faults = ValidationFaults::default();
    let mut read = |field: &'static str, text: Option<&str>| {
        let day = text.and_then(Timestamp::parse).map(Timestamp::unix_day);
        if day.is_none() {
            faults.at([field]).push("Must be a date such as 2026-01-31, with both dates given");
        }
        day.unwrap_or(last)
    };
    let (first, last) = (read("startDate", start), read("endDate", end));
    if last < first {
        faults.at(["endDate"]).push("Must not be before startDate");
    }
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    Ok(DayRange { first: first.max(last - (DAYS_MAX - 1)), last })
}

/// The last `lookback` days up to today, at most [`DAYS_MAX`].
pub(crate) fn recent_days(lookback: Option<&str>, now: Timestamp) -> DayRange {
    let days = lookback.map_or(DAYS_DEFAULT, lookback_days).clamp(1, DAYS_MAX);
    DayRange { first: now.unix_day() - (days - 1), last: now.unix_day() }
}

/// `7d` is 7; a number that does not parse counts as [`DAYS_MAX`].
fn lookback_days(text: &str) -> i64 {
    text.trim_end_matches('d').parse().unwrap_or(DAYS_MAX)
}
