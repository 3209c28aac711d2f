//! Initializes a fresh database: the account `default` and the first ADMIN key.
//!
//! Each step can be repeated: after a crash the next start completes the rest, and nothing is
//! granted twice.

use domain::access::{KeyKind, ModelPrivacy};
use ledger_core::{EntryId, LimitPeriod};
use money::{BalanceCurrency, Nano};
use store::error::StoreError;
use store::key::KeySettings;
use store::owner::OwnerKind;
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

use crate::operation::OperationError;
use crate::service::ControlService;

/// The account that every installation has.
pub const DEFAULT_ACCOUNT: &str = "default";

const FOUNDED: &str = "founded";
const FIRST_KEY: &str = "first_admin_key";
/// The fixed entry id of the starting credit, so that it is granted at most once.
pub(crate) const STARTING_CREDIT: EntryId =
    EntryId(Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0001));

impl ControlService {
    /// Creates the account `default`, with a starting credit if there is one. Does nothing if this
    /// was already done.
    pub async fn create_default_account(
        &self,
        starting_credit: Option<Nano>,
    ) -> Result<(), OperationError> {
        if self.store.setting(FOUNDED).await?.is_some() {
            return Ok(());
        }
        let exists = self.store.find_owner(OwnerKind::Account, DEFAULT_ACCOUNT).await?.is_some();
        if !exists {
            self.create_account(DEFAULT_ACCOUNT).await?;
        }
        let owner = self.find_account(DEFAULT_ACCOUNT).await?;
        if let Some(amount) = starting_credit.filter(|amount| amount.is_positive()) {
            self.grant(STARTING_CREDIT, owner.id, BalanceCurrency::Usd, amount, Vec::new()).await?;
        }
        self.record_step(FOUNDED).await
    }

    /// Creates the first ADMIN key, with the operator's own secret if there is one. Returns the
    /// secret, or `None` if the key already exists.
    pub async fn create_first_key(
        &self,
        chosen: Option<&str>,
    ) -> Result<Option<String>, OperationError> {
        if self.store.setting(FIRST_KEY).await?.is_some() {
            return Ok(None);
        }
        let owner = self.find_account(DEFAULT_ACCOUNT).await?;
        let settings = KeySettings {
            description: "first key".to_owned(),
            limit_usd: None,
            limit_diem: None,
            limit_period: LimitPeriod::Epoch,
            expires: None,
            model_privacy: ModelPrivacy::All,
        };
        let secret = match chosen {
            Some(secret) => {
                let made = self.keys.create_with(owner.id, KeyKind::Admin, settings, secret).await;
                match made {
                    // An earlier start created it and ended before it recorded that.
                    Ok(_) | Err(StoreError::Duplicate(_)) => secret.to_owned(),
                    Err(error) => return Err(error.into()),
                }
            }
            None => self.keys.create(owner.id, KeyKind::Admin, settings).await?.1,
        };
        self.record_step(FIRST_KEY).await?;
        Ok(Some(secret))
    }

    async fn record_step(&self, name: &str) -> Result<(), OperationError> {
        let at = self.clock.now().to_string().into_bytes();
        let write = StoreWrite::PutSetting { name: name.to_owned(), value: at };
        Ok(self.store.commit(WriteGroup::from_write(write)).await?)
    }
}
