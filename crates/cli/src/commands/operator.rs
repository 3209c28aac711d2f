//! `tollgate operator`: the operator's credentials, separate from the keys of accounts.

use control::operation::{NewOperatorKey, Operation};
use control::reply::{OperatorLink, Reply};
use serde_json::json;

use crate::args::{Keys, OperatorCommand, OperatorKeys};
use crate::commands::keys::{self, print_created, print_keys};
use crate::failure::Failure;
use crate::operator::{Operator, unexpected};
use crate::output::{print_json, print_line};
use crate::serve::welcome::reachable;

pub(crate) async fn run(
    operator: &mut Operator<'_>,
    command: OperatorCommand,
) -> Result<(), Failure> {
    match command {
        OperatorCommand::Link(listing) => {
            let reply = operator.perform(Operation::CreateOperatorLink).await?;
            let Reply::OperatorLink(OperatorLink { token, expires_at }) = reply else {
                return Err(unexpected());
            };
            let url = format!("{}/#/sign-in/{token}", site(operator).await?);
            if listing.json {
                return print_json(&json!({ "url": url, "expiresAt": expires_at }));
            }
            print_line(&format!("signs in once, as the operator, until {expires_at}:"))?;
            print_line(&url)
        }
        OperatorCommand::Keys(command) => run_keys(operator, command).await,
    }
}

async fn run_keys(operator: &mut Operator<'_>, command: OperatorKeys) -> Result<(), Failure> {
    match command {
        OperatorKeys::Create { description, expires, listing } => {
            let expires = expires.map(|expires| expires.to_string());
            let new = NewOperatorKey { description, expires };
            let reply = operator.perform(Operation::CreateOperatorKey(new)).await?;
            let Reply::CreatedKey(created) = reply else { return Err(unexpected()) };
            if listing.json { print_json(&created) } else { print_created(&created) }
        }
        OperatorKeys::List(listing) => {
            let reply = operator.perform(Operation::ListOperatorKeys).await?;
            let Reply::Keys(keys) = reply else { return Err(unexpected()) };
            if listing.json { print_json(&keys) } else { print_keys(&keys) }
        }
        OperatorKeys::Revoke { id, listing } => {
            let revoke = Keys::Revoke { id: Some(id), all: false, account: None, listing };
            keys::run(operator, revoke).await
        }
    }
}

/// Returns the URL of the console: the configured public URL, or the service's listen address.
async fn site(operator: &mut Operator<'_>) -> Result<String, Failure> {
    let server = operator.surroundings.sources(Vec::new()).read()?.server;
    if let Some(public_url) = server.public_url {
        return Ok(public_url.trim_end_matches('/').to_owned());
    }
    if operator.is_running()
        && let Reply::Status(status) = operator.perform(Operation::Ping).await?
        && let Some(api_url) = status.api_url
    {
        return Ok(api_url.trim_end_matches("/api/v1").to_owned());
    }
    Ok(format!("http://{}", reachable(server.listen)))
}
