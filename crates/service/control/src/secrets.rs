//! The installation's own secrets, and their rotation.

use domain::entropy::EntropySource;
use domain::secret::{PepperPair, SecretPepper};
use serde::{Deserialize, Serialize};
use store::Store;
use store::write::{StoreWrite, WriteGroup};

use crate::operation::OperationError;
use crate::service::ControlService;

/// Secrets that can be rotated, by their names for operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretName {
    /// HMAC key for digests of API key secrets.
    Pepper,
    /// Key for the sign-in tokens that wallets sign.
    Tokens,
    /// Key that signs links to media.
    Links,
    /// Key that seals the console's sessions.
    Console,
    /// Authenticates nodes to each other.
    Nodes,
}

/// Setting with the previous pepper, if there is one.
const PEPPER_BEFORE: &str = "pepper before";

impl SecretName {
    /// The name of its setting in the store.
    const fn setting_name(self) -> &'static str {
        match self {
            SecretName::Pepper => "pepper",
            SecretName::Tokens => "token secret",
            SecretName::Links => "media link secret",
            SecretName::Console => "console secret",
            SecretName::Nodes => "node secret",
        }
    }
}

/// Returns a secret of the installation; the first call creates it.
pub async fn read_or_create_secret(
    store: &dyn Store,
    entropy: &dyn EntropySource,
    name: SecretName,
) -> Result<[u8; 32], OperationError> {
    if let Some(bytes) = read_secret(store, name.setting_name()).await? {
        return Ok(bytes);
    }
    let fresh = generate_secret(entropy);
    let write =
        StoreWrite::AddSetting { name: name.setting_name().to_owned(), value: fresh.to_vec() };
    store.commit(WriteGroup::from_write(write)).await?;
    Ok(fresh)
}

/// Returns the installation's peppers; the first call creates the current one.
pub async fn read_peppers(
    store: &dyn Store,
    entropy: &dyn EntropySource,
) -> Result<PepperPair, OperationError> {
    let current = read_or_create_secret(store, entropy, SecretName::Pepper).await?;
    let before = read_secret(store, PEPPER_BEFORE).await?;
    let before = before.map(|bytes| SecretPepper::new(&bytes));
    Ok(PepperPair { current: SecretPepper::new(&current), before })
}

/// Reads a secret; an empty setting counts as none.
async fn read_secret(store: &dyn Store, name: &str) -> Result<Option<[u8; 32]>, OperationError> {
    let bytes = store.setting(name).await?.filter(|bytes| !bytes.is_empty());
    let Some(bytes) = bytes else { return Ok(None) };
    let damaged = |_| {
        let message = format!("the {name} in the database is damaged; restore a backup");
        OperationError::Failed(message)
    };
    <[u8; 32]>::try_from(bytes.as_slice()).map(Some).map_err(damaged)
}

fn generate_secret(entropy: &dyn EntropySource) -> [u8; 32] {
    let mut bytes = [0; 32];
    entropy.fill_bytes(&mut bytes);
    bytes
}

impl ControlService {
    /// Replaces a secret, from the next start on. After a rotation of the pepper, each key is still
    /// accepted under the previous pepper until its first use.
    pub(crate) async fn rotate_secret(&self, name: SecretName) -> Result<(), OperationError> {
        let store = self.store.as_ref();
        let put = |name: &str, value: &[u8; 32]| StoreWrite::PutSetting {
            name: name.to_owned(),
            value: value.to_vec(),
        };
        let mut writes = vec![put(name.setting_name(), &generate_secret(self.entropy.as_ref()))];
        if name == SecretName::Pepper {
            if read_secret(store, PEPPER_BEFORE).await?.is_some() {
                let message = "keys that were not used since the last rotation are still known under \
                               the pepper before it: run `tollgate secrets forget-pepper` first";
                return Err(OperationError::Refused(message.to_owned()));
            }
            let current = read_or_create_secret(store, self.entropy.as_ref(), name).await?;
            writes.push(put(PEPPER_BEFORE, &current));
        }
        tracing::warn!("the secret `{}` was replaced, for the next start", name.setting_name());
        Ok(store.commit(WriteGroup { writes }).await?)
    }

    /// Removes the previous pepper, from the next start on. Keys that were not used since the
    /// rotation become invalid.
    pub(crate) async fn forget_pepper(&self) -> Result<(), OperationError> {
        if read_secret(self.store.as_ref(), PEPPER_BEFORE).await?.is_none() {
            return Err(OperationError::Refused("there is no earlier pepper".to_owned()));
        }
        let write = StoreWrite::PutSetting { name: PEPPER_BEFORE.to_owned(), value: Vec::new() };
        Ok(self.store.commit(WriteGroup::from_write(write)).await?)
    }
}
