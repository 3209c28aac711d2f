//! `GET /api_keys/{id}`: shows one key of the account.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AdminCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::PathParameters;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::api_keys::{ApiKeyPath, ApiKeyReply};

use crate::endpoints::api_keys::detail::{RecentUsage, describe_key};
use crate::endpoints::api_keys::find_key;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/api_keys/{id}", get_api_key)
        .tag("API keys")
        .summary("Show an API key")
        .refuses(400, "There is no such key")
        .build()
}

async fn get_api_key(
    app: SharedApp,
    call: ApiCall<AdminCaller, PathParameters<ApiKeyPath>>,
) -> Result<WithHeaders<ApiKeyReply>, Refusal> {
    let AdminCaller(holder) = &call.caller;
    let PathParameters(path) = &call.input;
    app.keys.write_last_uses().await.map_err(Refusal::unavailable)?;
    let key = find_key(&app, holder, &path.id, "API key not found").await?;
    let usage = RecentUsage::read(&app, holder.owner.id, call.now).await?;
    Ok(WithHeaders::new(ApiKeyReply { data: describe_key(&app, &key, &usage) }))
}
