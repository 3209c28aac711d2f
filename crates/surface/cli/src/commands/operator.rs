//! `tollgate operator`: the operator's credentials, separate from the keys of accounts.

use control::operation::{ControlOperation, NewOperatorKey};
use control::reply::{ControlReply, OperatorLink};
use serde_json::json;

use crate::args::{KeysCommand, OperatorCommand, OperatorKeysCommand};
use crate::commands::keys::{self, print_created, print_keys};
use crate::failure::CommandError;
use crate::operator::{OperationClient, unexpected_reply_error};
use crate::output::{print_json, print_line};
use crate::serve::startup_message::to_reachable_address;

pub(crate) async fn run_operator_command(
    operator: &mut OperationClient<'_>,
    command: OperatorCommand,
) -> Result<(), CommandError> {
    match command {
        OperatorCommand::Link(listing) => {
            let reply = operator.perform(ControlOperation::CreateOperatorLink).await?;
            let ControlReply::OperatorLink(OperatorLink { token, expires_at }) = reply else {
                return Err(unexpected_reply_error());
            };
            let url = format!("{}/#/sign-in/{token}", resolve_console_url(operator).await?);
            if listing.json {
                return print_json(&json!({ "url": url, "expiresAt": expires_at }));
            }
            print_line(&format!("signs in once, as the operator, until {expires_at}:"))?;
            print_line(&url)
        }
        OperatorCommand::Keys(command) => run_keys(operator, command).await,
    }
}

async fn run_keys(
    operator: &mut OperationClient<'_>,
    command: OperatorKeysCommand,
) -> Result<(), CommandError> {
    match command {
        OperatorKeysCommand::Create { description, expires, listing } => {
            let expires = expires.map(|expires| expires.to_string());
            let new = NewOperatorKey { description, expires };
            let reply = operator.perform(ControlOperation::CreateOperatorKey(new)).await?;
            let ControlReply::CreatedKey(created) = reply else {
                return Err(unexpected_reply_error());
            };
            if listing.json { print_json(&created) } else { print_created(&created) }
        }
        OperatorKeysCommand::List(listing) => {
            let reply = operator.perform(ControlOperation::ListOperatorKeys).await?;
            let ControlReply::Keys(keys) = reply else { return Err(unexpected_reply_error()) };
            if listing.json { print_json(&keys) } else { print_keys(&keys) }
        }
        OperatorKeysCommand::Revoke { id, listing } => {
            let revoke = KeysCommand::Revoke { id: Some(id), all: false, account: None, listing };
            keys::run_keys_command(operator, revoke).await
        }
    }
}

/// Returns the URL of the console: the configured public URL, or the service's listen address.
pub(crate) async fn resolve_console_url(
    operator: &mut OperationClient<'_>,
) -> Result<String, CommandError> {
    let server = operator.surroundings.gather_sources(Vec::new()).read()?.server;
    if let Some(public_url) = server.public_url {
        return Ok(public_url.trim_end_matches('/').to_owned());
    }
    if operator.is_running()
        && let ControlReply::Status(status) = operator.perform(ControlOperation::Ping).await?
        && let Some(api_url) = status.api_url
    {
        return Ok(api_url.trim_end_matches("/api/v1").to_owned());
    }
    Ok(format!("http://{}", to_reachable_address(server.listen)))
}
