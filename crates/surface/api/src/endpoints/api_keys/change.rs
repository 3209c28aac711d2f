//! `PATCH /api_keys`: changes a key's description, limits or expiry.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AdminCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::JsonBody;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use schema_check::ValidationFaults;
use store::key::KeySettings;
use wire::api_keys::{ApiKeyChange, ApiKeyChanged};

use crate::endpoints::api_keys::detail::{RecentUsage, describe_key};
use crate::endpoints::api_keys::terms::KeyLimits;
use crate::endpoints::api_keys::{find_key, refuse_write, terms};

const UNKNOWN: &str = "API key not found or expired";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::patch("/api_keys", update_api_key)
        .tag("API keys")
        .summary("Change an API key")
        .build()
}

async fn update_api_key(
    app: SharedApp,
    call: ApiCall<AdminCaller, JsonBody<ApiKeyChange>>,
) -> Result<WithHeaders<ApiKeyChanged>, Refusal> {
    let AdminCaller(holder) = &call.caller;
    let JsonBody(change) = call.input;
    let mut key = find_key(&app, holder, &change.id, UNKNOWN).await?;
    if !key.is_active(call.now) {
        return Err(Refusal::bad_request("API key not found", UNKNOWN));
    }
    let mut faults = ValidationFaults::default();
    let mut changed: KeySettings = key.settings.clone();
    if let Some(wanted) = &change.consumption_limit {
        let before = KeyLimits { usd: changed.limit_usd, diem: changed.limit_diem };
        let limits = terms::apply_limit_changes(before, wanted.as_ref(), &mut faults);
        (changed.limit_usd, changed.limit_diem) = (limits.usd, limits.diem);
    }
    if let Some(expires_at) = &change.expires_at {
        let expires_at = expires_at.as_deref().unwrap_or_default();
        changed.expires = terms::parse_expiry(expires_at, call.now, &mut faults);
    }
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    changed.description = change.description.unwrap_or(changed.description);
    changed.limit_period =
        change.limit_period.map_or(changed.limit_period, terms::from_wire_period);
    changed.model_privacy =
        change.model_privacy.map_or(changed.model_privacy, terms::from_wire_privacy);

    app.keys
        .change_settings(&key, changed.clone())
        .await
        .map_err(|error| refuse_write(error, UNKNOWN))?;
    key.settings = changed;
    let usage = RecentUsage::read(&app, holder.owner.id, call.now).await?;
    let data = describe_key(&app, &key, &usage);
    Ok(WithHeaders::new(ApiKeyChanged { success: true, data }))
}
