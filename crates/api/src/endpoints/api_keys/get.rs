//! `GET /api_keys/{id}`: shows one key of the account.

use wire::api_keys::{ApiKeyPath, ApiKeyReply};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Admin;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::api_keys::detail::{RecentUsage, detail};
use crate::endpoints::api_keys::find;
use crate::input::Path;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

pub(crate) fn endpoint() -> Endpoint {
    Draft::get("/api_keys/{id}", get_api_key)
        .tag("API keys")
        .summary("Show an API key")
        .refuses(400, "There is no such key")
        .build()
}

async fn get_api_key(
    app: Shared,
    call: Call<Admin, Path<ApiKeyPath>>,
) -> Result<WithHeaders<ApiKeyReply>, Refusal> {
    let Admin(holder) = &call.caller;
    let Path(path) = &call.input;
    app.keys.note_uses().await.map_err(Refusal::unavailable)?;
    let key = find(&app, holder, &path.id, "API key not found").await?;
    let usage = RecentUsage::read(&app, holder.owner.id, call.now).await?;
    Ok(WithHeaders::new(ApiKeyReply { data: detail(&app, &key, &usage) }))
}
