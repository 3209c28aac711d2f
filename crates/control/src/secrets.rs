//! The installation's own secrets, and their rotation.

use domain::entropy::Entropy;
use domain::secret::{Pepper, Peppers};
use serde::{Deserialize, Serialize};
use store::Store;
use store::write::{Group, Write};

use crate::operation::OperationError;
use crate::service::Service;

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
    const fn setting(self) -> &'static str {
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
pub async fn secret(
    store: &dyn Store,
    entropy: &dyn Entropy,
    name: SecretName,
) -> Result<[u8; 32], OperationError> {
    if let Some(bytes) = read(store, name.setting()).await? {
        return Ok(bytes);
    }
    let fresh = fresh(entropy);
    let write = Write::AddSetting { name: name.setting().to_owned(), value: fresh.to_vec() };
    store.commit(Group::of(write)).await?;
    Ok(fresh)
}

/// Returns the installation's peppers; the first call creates the current one.
pub async fn peppers(store: &dyn Store, entropy: &dyn Entropy) -> Result<Peppers, OperationError> {
    let current = secret(store, entropy, SecretName::Pepper).await?;
    let before = read(store, PEPPER_BEFORE).await?;
    let before = before.map(|bytes| Pepper::new(&bytes));
    Ok(Peppers { current: Pepper::new(&current), before })
}

/// Reads a secret; an empty setting counts as none.
async fn read(store: &dyn Store, name: &str) -> Result<Option<[u8; 32]>, OperationError> {
    let bytes = store.setting(name).await?.filter(|bytes| !bytes.is_empty());
    let Some(bytes) = bytes else { return Ok(None) };
    let damaged = |_| {
        let message = format!("the {name} in the database is damaged; restore a backup");
        OperationError::Failed(message)
    };
    <[u8; 32]>::try_from(bytes.as_slice()).map(Some).map_err(damaged)
}

fn fresh(entropy: &dyn Entropy) -> [u8; 32] {
    let mut bytes = [0; 32];
    entropy.fill(&mut bytes);
    bytes
}

impl Service {
    /// Replaces a secret, from the next start on. After a rotation of the pepper, each key is still
    /// accepted under the previous pepper until its first use.
    pub(crate) async fn rotate_secret(&self, name: SecretName) -> Result<(), OperationError> {
        let store = self.store.as_ref();
        let put = |name: &str, value: &[u8; 32]| Write::PutSetting {
            name: name.to_owned(),
            value: value.to_vec(),
        };
        let mut writes = vec![put(name.setting(), &fresh(self.entropy.as_ref()))];
        if name == SecretName::Pepper {
            if read(store, PEPPER_BEFORE).await?.is_some() {
                let message = "keys that were not used since the last rotation are still known under \
                               the pepper before it: run `tollgate secrets forget-pepper` first";
                return Err(OperationError::Refused(message.to_owned()));
            }
            let current = secret(store, self.entropy.as_ref(), name).await?;
            writes.push(put(PEPPER_BEFORE, &current));
        }
        tracing::warn!("the secret `{}` was replaced, for the next start", name.setting());
        Ok(store.commit(Group { writes }).await?)
    }

    /// Removes the previous pepper, from the next start on. Keys that were not used since the
    /// rotation become invalid.
    pub(crate) async fn forget_pepper(&self) -> Result<(), OperationError> {
        if read(self.store.as_ref(), PEPPER_BEFORE).await?.is_none() {
            return Err(OperationError::Refused("there is no earlier pepper".to_owned()));
        }
        let write = Write::PutSetting { name: PEPPER_BEFORE.to_owned(), value: Vec::new() };
        Ok(self.store.commit(Group::of(write)).await?)
    }
}
