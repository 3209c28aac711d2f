//! `tollgate keys`: API keys.

use control::operation::{KeyType, NewKey, Operation, Period};
use control::reply::{CreatedKey, KeyLine, Reply};

use crate::args;
use crate::failure::Failure;
use crate::operator::{Operator, unexpected};
use crate::output::{Listing, print_json, print_line};

pub(crate) async fn run(operator: &mut Operator<'_>, command: args::Keys) -> Result<(), Failure> {
    match command {
        args::Keys::Create(create) => {
            let is_json = create.listing.json;
            let reply = operator.perform(Operation::CreateKey(new_key(create))).await?;
            let Reply::CreatedKey(created) = reply else { return Err(unexpected()) };
            if is_json { print_json(&created) } else { print_created(&created) }
        }
        args::Keys::List { account, listing } => {
            let reply = operator.perform(Operation::ListKeys { account }).await?;
            let Reply::Keys(keys) = reply else { return Err(unexpected()) };
            if listing.json { print_json(&keys) } else { print_keys(&keys) }
        }
        args::Keys::Revoke { id: None, account, listing, .. } => {
            let reply = operator.perform(Operation::RevokeAllKeys { account }).await?;
            let Reply::Keys(keys) = reply else { return Err(unexpected()) };
            if listing.json {
                return print_json(&keys);
            }
            print_line(&format!("revoked {} keys", keys.len()))
        }
        args::Keys::Revoke { id: Some(id), listing, .. } => {
            let reply = operator.perform(Operation::RevokeKey { id }).await?;
            let Reply::RevokedKey(key) = reply else { return Err(unexpected()) };
            if listing.json {
                return print_json(&key);
            }
            print_line(&format!("revoked {}, which ended in {}", key.id, key.last6_chars))
        }
    }
}

fn new_key(create: args::CreateKey) -> NewKey {
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
            args::Period::Epoch => Period::Epoch,
            args::Period::Month => Period::Month,
            args::Period::Lifetime => Period::Lifetime,
        },
        expires: create.expires.map(|expires| expires.to_string()),
    }
}

pub(crate) fn print_created(created: &CreatedKey) -> Result<(), Failure> {
    let CreatedKey { api_key, key } = created;
    print_line(&format!("made the {} key {} of {}", key.api_key_type, key.id, key.account))?;
    print_line("its secret, which is shown only now:")?;
    print_line(api_key)
}

pub(crate) fn print_keys(keys: &[KeyLine]) -> Result<(), Failure> {
    let mut table = Listing::new(&[
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
        table.row([
            key.id.into(),
            (&key.account).into(),
            (&key.api_key_type).into(),
            (&key.last6_chars).into(),
            limits(key).into(),
            key.expires_at.clone().unwrap_or_else(never).into(),
            key.last_used_at.clone().unwrap_or_else(never).into(),
            (&key.description).into(),
        ]);
    }
    table.print()
}

fn limits(key: &KeyLine) -> String {
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
