//! `PATCH /api_keys`: changes a key's description, limits or expiry.

use schema_check::Faults;
use store::key::KeySettings;
use wire::api_keys::{ApiKeyChange, ApiKeyChanged};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Admin;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::api_keys::detail::{RecentUsage, detail};
use crate::endpoints::api_keys::terms::Limits;
use crate::endpoints::api_keys::{find, refuse_write, terms};
use crate::input::Json;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

const UNKNOWN: &str = "API key not found or expired";

pub(crate) fn endpoint() -> Endpoint {
    Draft::patch("/api_keys", update_api_key).tag("API keys").summary("Change an API key").build()
}

async fn update_api_key(
    app: Shared,
    call: Call<Admin, Json<ApiKeyChange>>,
) -> Result<WithHeaders<ApiKeyChanged>, Refusal> {
    let Admin(holder) = &call.caller;
    let Json(change) = call.input;
    let mut key = find(&app, holder, &change.id, UNKNOWN).await?;
    if !key.is_active(call.now) {
        return Err(Refusal::bad_request("API key not found", UNKNOWN));
    }
    let mut faults = Faults::default();
    let mut changed: KeySettings = key.settings.clone();
    if let Some(wanted) = &change.consumption_limit {
        let before = Limits { usd: changed.limit_usd, diem: changed.limit_diem };
        let limits = terms::changed(before, wanted.as_ref(), &mut faults);
        (changed.limit_usd, changed.limit_diem) = (limits.usd, limits.diem);
    }
    if let Some(expires_at) = &change.expires_at {
        let expires_at = expires_at.as_deref().unwrap_or_default();
        changed.expires = terms::expiry(expires_at, call.now, &mut faults);
    }
    faults.into_result().map_err(|faults| Refusal::invalid(&faults))?;
    changed.description = change.description.unwrap_or(changed.description);
    changed.limit_period = change.limit_period.map_or(changed.limit_period, terms::period);
    changed.model_privacy = change.model_privacy.map_or(changed.model_privacy, terms::privacy);

    app.keys.change(&key, changed.clone()).await.map_err(|error| refuse_write(error, UNKNOWN))?;
    key.settings = changed;
    let usage = RecentUsage::read(&app, holder.owner.id, call.now).await?;
    let data = detail(&app, &key, &usage);
    Ok(WithHeaders::new(ApiKeyChanged { success: true, data }))
}
