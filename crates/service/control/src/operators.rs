//! The operator's own credentials: keys for automation, and one-time links to the console.
//!
//! They belong to the account `default`, which every installation has, and also administer it. Each
//! new credential is recorded in the audit trail.

use std::time::Duration;

use domain::access::KeyKind;
use store::error::StoreError;
use store::write::WriteGroup;

use crate::actor::AuditActor;
use crate::first_start::DEFAULT_ACCOUNT;
use crate::keys::{build_key_settings, to_key_line};
use crate::operation::{KeyLimitPeriod, KeyType, NewKey, NewOperatorKey, OperationError};
use crate::reply::{CreatedKey, KeyLine, OperatorLink};
use crate::service::ControlService;

/// Validity of a sign-in link.
const LINK_LIFETIME: Duration = Duration::from_secs(60 * 60);

impl ControlService {
    pub(crate) async fn create_operator_key(
        &self,
        by: &AuditActor,
        new: NewOperatorKey,
    ) -> Result<CreatedKey, OperationError> {
        let owner = self.find_account(DEFAULT_ACCOUNT).await?;
        let new = NewKey {
            account: owner.name.clone(),
            kind: KeyType::Admin,
            description: new.description,
            limit_usd: None,
            limit_diem: None,
            period: KeyLimitPeriod::Epoch,
            expires: new.expires,
        };
        let settings = build_key_settings(new, self.clock.now())?;
        self.note_operator(by, "create operator key", &settings.description).await?;
        let made = self.keys.create(owner.id, KeyKind::Operator, settings).await;
        let (key, secret) = made.map_err(refuse_many)?;
        Ok(CreatedKey { api_key: secret, key: to_key_line(&key, &owner) })
    }

    pub(crate) async fn list_operator_keys(&self) -> Result<Vec<KeyLine>, OperationError> {
        self.keys.write_last_uses().await?;
        let owner = self.find_account(DEFAULT_ACCOUNT).await?;
        let keys = self.store.list_keys(owner.id).await?;
        let keys = keys.iter().filter(|key| key.kind == KeyKind::Operator);
        Ok(keys.map(|key| to_key_line(key, &owner)).collect())
    }

    /// Creates a link that signs in once, on any node of the service.
    pub async fn create_operator_link(
        &self,
        by: &AuditActor,
    ) -> Result<OperatorLink, OperationError> {
        let owner = self.find_account(DEFAULT_ACCOUNT).await?;
        let until = self.clock.now().plus(LINK_LIFETIME);
        self.note_operator(by, "create operator link", "").await?;
        let made = self.keys.create_link(owner.id, until).await;
        let (_, token) = made.map_err(refuse_many)?;
        Ok(OperatorLink { token, expires_at: until.to_string() })
    }

    /// Writes the audit row before the credential exists, so that no credential lacks its row.
    async fn note_operator(
        &self,
        by: &AuditActor,
        action: &str,
        description: &str,
    ) -> Result<(), OperationError> {
        let row = self.build_audit_row(by, action, DEFAULT_ACCOUNT, description.to_owned());
        Ok(self.store.commit(WriteGroup::from_write(row)).await?)
    }
}

fn refuse_many(error: StoreError) -> OperationError {
    match error {
        StoreError::TooMany { most } => OperationError::Refused(format!(
            "`{DEFAULT_ACCOUNT}` has the maximum of {most} keys; revoke one first"
        )),
        error => error.into(),
    }
}
