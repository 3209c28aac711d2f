//! `tollgate keys`: API keys.

use control::operation::{ControlOperation, KeyLimitPeriod, KeyType, NewKey};
use control::reply::{ControlReply, CreatedKey, KeyLine};

use crate::args;
use crate::failure::CommandError;
use crate::operator::{OperationClient, unexpected_reply_error};
use crate::output::{TextTable, print_json, print_line};

pub(crate) async fn run_keys_command(
    operator: &mut OperationClient<'_>,
    command: args::KeysCommand,
) -> Result<(), CommandError> {
    match command {
        args::KeysCommand::Create(create) => {
            let is_json = create.listing.json;
            let reply = operator.perform(ControlOperation::CreateKey(new_key(create))).await?;
            let ControlReply::CreatedKey(created) = reply else {
                return Err(unexpected_reply_error());
            };
            if is_json { print_json(&created) } else { print_created(&created) }
        }
        args::KeysCommand::List { account, listing } => {
            let reply = operator.perform(ControlOperation::ListKeys { account }).await?;
            let ControlReply::Keys(keys) = reply else { return Err(unexpected_reply_error()) };
            if listing.json { print_json(&keys) } else { print_keys(&keys) }
        }
        args::KeysCommand::Revoke { id: None, account, listing, .. } => {
            let reply = operator.perform(ControlOperation::RevokeAllKeys { account }).await?;
            let ControlReply::Keys(keys) = reply else { return Err(unexpected_reply_error()) };
            if listing.json {
                return print_json(&keys);
            }
            print_line(&format!("revoked {} keys", keys.len()))
        }
        args::KeysCommand::Revoke { id: Some(id), listing, .. } => {
            let reply = operator.perform(ControlOperation::RevokeKey { id }).await?;
            let ControlReply::RevokedKey(key) = reply else { return Err(unexpected_reply_error()) };
            if listing.json {
                return print_json(&key);
            }
            print_line(&format!("revoked {}, which ended in {}", key.id, key.last6_chars))
        }
    }
}

fn new_key(create: args::CreateKeyArgs) -> NewKey {
    NewKey {
        account: create.account,
        kind: match create.kind {
            args::KeyType::Inference => KeyType::Inference,
            args::KeyType::Admin => KeyType::Admin,
        },
        description: create.description,
        limit_usd: create.limit_usd.map(|limit| limit.to_string()),
        limit_diem: create.limit_diem.map(|limit| limit.to_string()),
        period: match create.period {
            args::LimitPeriodArg::Epoch => KeyLimitPeriod::Epoch,
            args::LimitPeriodArg::Month => KeyLimitPeriod::Month,
            args::LimitPeriodArg::Lifetime => KeyLimitPeriod::Lifetime,
        },
        expires: create.expires.map(|expires| expires.to_string()),
    }
}

pub(crate) fn print_created(created: &CreatedKey) -> Result<(), CommandError> {
    let CreatedKey { api_key, key } = created;
    print_line(&format!("made the {} key {} of {}", key.api_key_type, key.id, key.account))?;
    print_line("the key, which is shown only now:")?;
    print_line(api_key)
}

pub(crate) fn print_keys(keys: &[KeyLine]) -> Result<(), CommandError> {
    let mut table = TextTable::new(&[
        "ID",
        "ACCOUNT",
        "TYPE",
        "ENDS IN",
        "LIMIT",
        "EXPIRES",
        "LAST USED",
        "DESCRIPTION",
    ]);
    for key in keys {
        let never = || "never".to_owned();
        table.push_row([
            key.id.into(),
            (&key.account).into(),
            (&key.api_key_type).into(),
            (&key.last6_chars).into(),
            format_limits(key).into(),
            key.expires_at.clone().unwrap_or_else(never).into(),
            key.last_used_at.clone().unwrap_or_else(never).into(),
            (&key.description).into(),
        ]);
    }
    table.print()
}

fn format_limits(key: &KeyLine) -> String {
    let named = [("USD", &key.consumption_limits.usd), ("DIEM", &key.consumption_limits.diem)];
    let limits: Vec<String> = named
        .iter()
        .filter_map(|(name, limit)| Some(format!("{} {name}", limit.as_ref()?)))
        .collect();
    if limits.is_empty() {
        return "none".to_owned();
    }
    format!("{} per {}", limits.join(" and "), key.limit_period)
}
