//! `DELETE /api_keys`: revokes a key at once and for good.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AdminCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::QueryOrJson;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::api_keys::{ApiKeyChoice, Done};

use crate::endpoints::api_keys::{find_key, refuse_write};

const UNKNOWN: &str = "API key could not be found";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::delete("/api_keys", delete_api_key)
        .tag("API keys")
        .summary("Revoke an API key")
        .build()
}

async fn delete_api_key(
    app: SharedApp,
    call: ApiCall<AdminCaller, QueryOrJson<ApiKeyChoice>>,
) -> Result<WithHeaders<Done>, Refusal> {
    let AdminCaller(holder) = &call.caller;
    let QueryOrJson(choice) = &call.input;
    let key = find_key(&app, holder, &choice.id, UNKNOWN).await?;
    app.keys.revoke(&key).await.map_err(|error| refuse_write(error, UNKNOWN))?;
    Ok(WithHeaders::new(Done { success: true }))
}
