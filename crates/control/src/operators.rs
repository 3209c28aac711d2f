//! The operator's own credentials: keys for automation, and one-time links to the console.
//!
//! They belong to the account `default`, which every installation has, and also administer it. Each
//! new credential is recorded in the audit trail.

use std::time::Duration;

use domain::access::KeyKind;
use store::error::StoreError;
use store::write::Group;

use crate::actor::Actor;
use crate::founding::DEFAULT_ACCOUNT;
use crate::keys::{line, settings};
use crate::operation::{KeyType, NewKey, NewOperatorKey, OperationError, Period};
use crate::reply::{CreatedKey, KeyLine, OperatorLink};
use crate::service::Service;

/// Validity of a sign-in link.
const LINK_LIFETIME: Duration = Duration::from_secs(60 * 60);

impl Service {
    pub(crate) async fn create_operator_key(
        &self,
        by: &Actor,
        new: NewOperatorKey,
    ) -> Result<CreatedKey, OperationError> {
        let owner = self.account(DEFAULT_ACCOUNT).await?;
        let new = NewKey {
            account: owner.name.clone(),
            kind: KeyType::Admin,
            description: new.description,
            limit_usd: None,
            limit_diem: None,
            period: Period::Epoch,
            expires: new.expires,
        };
        let settings = settings(new, self.clock.now())?;
        self.note_operator(by, "create operator key", &settings.description).await?;
        let made = self.keys.create(owner.id, KeyKind::Operator, settings).await;
        let (key, secret) = made.map_err(refuse_many)?;
        Ok(CreatedKey { api_key: secret, key: line(&key, &owner) })
    }

    pub(crate) async fn list_operator_keys(&self) -> Result<Vec<KeyLine>, OperationError> {
        self.keys.note_uses().await?;
        let owner = self.account(DEFAULT_ACCOUNT).await?;
        let keys = self.store.list_keys(owner.id).await?;
        let keys = keys.iter().filter(|key| key.kind == KeyKind::Operator);
        Ok(keys.map(|key| line(key, &owner)).collect())
    }

    /// Creates a link that signs in once, on any node of the service.
    pub async fn create_operator_link(&self, by: &Actor) -> Result<OperatorLink, OperationError> {
        let owner = self.account(DEFAULT_ACCOUNT).await?;
        let until = self.clock.now().plus(LINK_LIFETIME);
        self.note_operator(by, "create operator link", "").await?;
        let made = self.keys.create_link(owner.id, until).await;
        let (_, token) = made.map_err(refuse_many)?;
        Ok(OperatorLink { token, expires_at: until.to_string() })
    }

    /// Writes the audit row before the credential exists, so that no credential lacks its row.
    async fn note_operator(
        &self,
        by: &Actor,
        action: &str,
        description: &str,
    ) -> Result<(), OperationError> {
        let row = self.audit(by, action, DEFAULT_ACCOUNT, description.to_owned());
        Ok(self.store.commit(Group::of(row)).await?)
    }
}

fn refuse_many(error: StoreError) -> OperationError {
    match error {
        StoreError::TooMany { most } => OperationError::Refused(format!(
            "`{DEFAULT_ACCOUNT}` has {most} keys, the most there can be; revoke one first"
        )),
        error => error.into(),
    }
}
