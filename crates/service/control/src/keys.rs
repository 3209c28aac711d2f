//! Operations on API keys: create, list and revoke.

use domain::access::{KeyKind, ModelPrivacy};
use ledger_core::{KeyId, LimitPeriod};
use moment::Timestamp;
use money::Nano;
use store::error::StoreError;
use store::key::{ApiKey, KeySettings};
use store::owner::Owner;
use uuid::Uuid;

use crate::operation::{KeyLimitPeriod, KeyType, NewKey, OperationError};
use crate::reply::{ConsumptionLimits, CreatedKey, KeyLine};
use crate::service::ControlService;

/// The API's own limit.
const DESCRIPTION_CHARS_MAX: usize = 64;

impl ControlService {
    pub(crate) async fn create_key(&self, new: NewKey) -> Result<CreatedKey, OperationError> {
        let owner = self.find_account(&new.account).await?;
        let kind = match new.kind {
            KeyType::Inference => KeyKind::Inference,
            KeyType::Admin => KeyKind::Admin,
        };
        let settings = build_key_settings(new, self.clock.now())?;
        let (key, secret) = match self.keys.create(owner.id, kind, settings).await {
            Ok(created) => created,
            Err(StoreError::TooMany { most }) => {
                return Err(OperationError::Refused(format!(
                    "`{}` has the maximum of {most} keys; revoke one first",
                    owner.name
                )));
            }
            Err(error) => return Err(error.into()),
        };
        Ok(CreatedKey { api_key: secret, key: to_key_line(&key, &owner) })
    }

    pub(crate) async fn list_keys(
        &self,
        account: Option<&str>,
    ) -> Result<Vec<KeyLine>, OperationError> {
        self.keys.write_last_uses().await?;
        let owners = match account {
            Some(name) => vec![self.find_account(name).await?],
            None => self.every_account().await?,
        };
        let mut lines = Vec::new();
        for owner in &owners {
            let keys = self.store.list_keys(owner.id).await?;
            let keys = keys.iter().filter(|key| key.kind != KeyKind::Operator);
            lines.extend(keys.map(|key| to_key_line(key, owner)));
        }
        Ok(lines)
    }

    pub(crate) async fn revoke_key(&self, id: Uuid) -> Result<KeyLine, OperationError> {
        for owner in self.every_account().await? {
            let Some(key) = self.store.key(owner.id, KeyId(id)).await? else { continue };
            if key.revoked.is_some() {
                return Err(OperationError::Refused(format!("{id} is already revoked")));
            }
            self.keys.revoke(&key).await?;
            return Ok(to_key_line(&key, &owner));
        }
        let message = format!("there is no key {id}; `tollgate keys list` shows their ids");
        Err(OperationError::Refused(message))
    }

    /// Revokes all API keys of one account or of all accounts, and returns them.
    pub(crate) async fn revoke_all_keys(
        &self,
        account: Option<&str>,
    ) -> Result<Vec<KeyLine>, OperationError> {
        let owners = match account {
            Some(name) => vec![self.find_account(name).await?],
            None => self.every_account().await?,
        };
        let mut lines = Vec::new();
        for owner in &owners {
            // Listings are limited in size, so this repeats until the listing is empty.
            loop {
                let keys = self.store.list_keys(owner.id).await?;
                if keys.is_empty() {
                    break;
                }
                for key in &keys {
                    self.keys.revoke(key).await?;
                    lines.push(to_key_line(key, owner));
                }
            }
        }
        Ok(lines)
    }
}

pub(crate) fn build_key_settings(
    new: NewKey,
    now: Timestamp,
) -> Result<KeySettings, OperationError> {
    if DESCRIPTION_CHARS_MAX < new.description.chars().count() {
        let message = format!("a description has at most {DESCRIPTION_CHARS_MAX} characters");
        return Err(OperationError::Refused(message));
    }
    let expires = match new.expires.as_deref() {
        Some(text) => Some(parse_expiry(text, now)?),
        None => None,
    };
    Ok(KeySettings {
        description: new.description,
        limit_usd: parse_limit("USD", new.limit_usd.as_deref())?,
        limit_diem: parse_limit("DIEM", new.limit_diem.as_deref())?,
        limit_period: match new.period {
            KeyLimitPeriod::Epoch => LimitPeriod::Epoch,
            KeyLimitPeriod::Month => LimitPeriod::Month,
            KeyLimitPeriod::Lifetime => LimitPeriod::Lifetime,
        },
        expires,
        model_privacy: ModelPrivacy::All,
    })
}

fn parse_limit(currency: &str, text: Option<&str>) -> Result<Option<Nano>, OperationError> {
    let Some(text) = text else { return Ok(None) };
    match Nano::parse(text) {
        Ok(limit) => Ok(Some(limit)),
        Err(error) => Err(OperationError::Refused(format!("the limit in {currency}: {error}"))),
    }
}

fn parse_expiry(text: &str, now: Timestamp) -> Result<Timestamp, OperationError> {
    let expires = Timestamp::parse(text).ok_or_else(|| {
        OperationError::Refused(format!("{text} is not a date; use the form 2027-01-31"))
    })?;
    if expires <= now {
        let message = format!("{expires} is in the past; give a time in the future");
        return Err(OperationError::Refused(message));
    }
    Ok(expires)
}

pub(crate) fn to_key_line(key: &ApiKey, owner: &Owner) -> KeyLine {
    let amount = |limit: Option<Nano>| limit.map(|limit| limit.to_string());
    let moment = |at: Option<Timestamp>| at.map(|at| at.to_string());
    KeyLine {
        id: key.id.0,
        account: owner.name.clone(),
        api_key_type: key.kind.name().to_owned(),
        description: key.settings.description.clone(),
        last6_chars: key.last6.clone(),
        consumption_limits: ConsumptionLimits {
            usd: amount(key.settings.limit_usd),
            diem: amount(key.settings.limit_diem),
        },
        limit_period: key.settings.limit_period.name().to_owned(),
        created_at: key.created.to_string(),
        expires_at: moment(key.settings.expires),
        last_used_at: moment(key.last_used),
    }
}
