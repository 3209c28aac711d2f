//! `DELETE /api_keys`: revokes a key at once and for good.

use wire::api_keys::{ApiKeyChoice, Done};

use crate::app::Shared;
use crate::call::Call;
use crate::caller::Admin;
use crate::endpoint::{Draft, Endpoint};
use crate::endpoints::api_keys::{find, refuse_write};
use crate::input::QueryOrJson;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

const UNKNOWN: &str = "API key could not be found";

pub(crate) fn endpoint() -> Endpoint {
    Draft::delete("/api_keys", delete_api_key).tag("API keys").summary("Revoke an API key").build()
}

async fn delete_api_key(
    app: Shared,
    call: Call<Admin, QueryOrJson<ApiKeyChoice>>,
) -> Result<WithHeaders<Done>, Refusal> {
    let Admin(holder) = &call.caller;
    let QueryOrJson(choice) = &call.input;
    let key = find(&app, holder, &choice.id, UNKNOWN).await?;
    app.keys.revoke(&key).await.map_err(|error| refuse_write(error, UNKNOWN))?;
    Ok(WithHeaders::new(Done { success: true }))
}
