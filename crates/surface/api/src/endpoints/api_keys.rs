//! API keys: create, list, change and revoke them, and show their limits.

pub(super) mod change;
pub(super) mod create;
pub(super) mod get;
pub(super) mod list;
pub(super) mod rate_limit_log;
pub(super) mod rate_limits;
pub(super) mod revoke;
pub(super) mod web3;

mod detail;
mod terms;

use access::CredentialHolder;
use domain::access::KeyKind;
use http_frame::app::AppState;
use http_frame::refusal::Refusal;
use ledger_core::KeyId;
use store::error::StoreError;
use store::key::ApiKey;
use uuid::Uuid;

/// Finds a key of the caller that was not revoked. Other owners' keys and operator keys are
/// reported as not found.
async fn find_key(
    app: &AppState,
    holder: &CredentialHolder,
    id: &str,
    message: &'static str,
) -> Result<ApiKey, Refusal> {
    let unknown = || Refusal::bad_request("API key not found", message);
    let id = Uuid::parse_str(id).map_err(|_| unknown())?;
    let key = app.store.key(holder.owner.id, KeyId(id)).await.map_err(Refusal::unavailable)?;
    key.filter(|key| key.revoked.is_none() && is_of_account(key)).ok_or_else(unknown)
}

/// True if the account's ADMIN keys manage this key. Operator keys are created and revoked by
/// `tollgate operator keys`, so that an ADMIN key can neither see nor revoke them.
fn is_of_account(key: &ApiKey) -> bool {
    key.kind != KeyKind::Operator
}

fn refuse_write(error: StoreError, message: &'static str) -> Refusal {
    match error {
        StoreError::Missing(_) => Refusal::bad_request("API key not found", message),
        other => Refusal::unavailable(other),
    }
}
