//! `GET /api_keys/rate_limit_logs`: lists the latest rate-limit refusals.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AdminCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::NoInput;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::api_keys::{RateLimitLog, RateLimitLogEntry};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/api_keys/rate_limit_logs", list_rate_limit_logs)
        .tag("API keys")
        .summary("List rate-limit refusals")
        .build()
}

/// The same endpoint at another path that clients use.
pub(crate) fn build_alias_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/api_keys/rate_limits/log", list_rate_limits_log)
        .tag("API keys")
        .summary("List rate-limit refusals (alias)")
        .build()
}

async fn list_rate_limits_log(
    app: SharedApp,
    call: ApiCall<AdminCaller, NoInput>,
) -> Result<WithHeaders<RateLimitLog>, Refusal> {
    list_rate_limit_logs(app, call).await
}

async fn list_rate_limit_logs(
    app: SharedApp,
    call: ApiCall<AdminCaller, NoInput>,
) -> Result<WithHeaders<RateLimitLog>, Refusal> {
    let AdminCaller(holder) = &call.caller;
    let hits = app.store.limit_hits(holder.owner.id).await.map_err(Refusal::unavailable)?;
    let entries = hits.into_iter().map(|hit| RateLimitLogEntry {
        api_key_id: hit.key.map(|key| key.0.to_string()).unwrap_or_default(),
        model_id: hit.model,
        rate_limit_tier: hit.tier,
        rate_limit_type: hit.kind,
        timestamp: hit.at.to_string(),
    });
    Ok(WithHeaders::new(RateLimitLog { object: "list", data: entries.collect() }))
}
