//! `GET /api_keys`: lists the keys of the account.

use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AdminCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::NoInput;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::api_keys::ApiKeyList;

use crate::endpoints::api_keys::detail::{RecentUsage, describe_key};
use crate::endpoints::api_keys::is_of_account;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/api_keys", list_api_keys)
        .tag("API keys")
        .summary("List API keys")
        .build()
}

async fn list_api_keys(
    app: SharedApp,
    call: ApiCall<AdminCaller, NoInput>,
) -> Result<WithHeaders<ApiKeyList>, Refusal> {
    let AdminCaller(holder) = &call.caller;
    app.keys.write_last_uses().await.map_err(Refusal::unavailable)?;
    let keys = app.store.list_keys(holder.owner.id).await.map_err(Refusal::unavailable)?;
    let usage = RecentUsage::read(&app, holder.owner.id, call.now).await?;
    let keys = keys.iter().filter(|key| is_of_account(key));
    let data = keys.map(|key| describe_key(&app, key, &usage)).collect();
    Ok(WithHeaders::new(ApiKeyList { object: "list", data }))
}
