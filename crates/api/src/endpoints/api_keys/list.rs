//! `GET /api_keys`: lists the keys of the account.

use wire::api_keys::ApiKeyList;

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Admin;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::api_keys::detail::{RecentUsage, detail};
use crate::endpoints::api_keys::is_of_account;
use crate::input::Nothing;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn endpoint() -> Endpoint {
    Draft::get("/api_keys", list_api_keys).tag("API keys").summary("List API keys").build()
}

async fn list_api_keys(
    app: Shared,
    call: Call<Admin, Nothing>,
) -> Result<WithHeaders<ApiKeyList>, Refusal> {
    let Admin(holder) = &call.caller;
    app.keys.note_uses().await.map_err(Refusal::unavailable)?;
    let keys = app.store.list_keys(holder.owner.id).await.map_err(Refusal::unavailable)?;
    let usage = RecentUsage::read(&app, holder.owner.id, call.now).await?;
    let keys = keys.iter().filter(|key| is_of_account(key));
    let data = keys.map(|key| detail(&app, key, &usage)).collect();
    Ok(WithHeaders::new(ApiKeyList { object: "list", data }))
}
