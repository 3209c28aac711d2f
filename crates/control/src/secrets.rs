//! The secrets that an installation makes for itself, and new ones in their place.

use domain::entropy::Entropy;
use domain::secret::{Pepper, Peppers};
use serde::{Deserialize, Serialize};
use store::Store;
use store::write::{Group, Write};

use crate::operation::OperationError;
use crate::service::Service;

/// What can be replaced, by the name that operators use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretName {
    /// Under which the secrets of API keys are digested.
    Pepper,
    /// Under which tokens for wallets to sign are made.
    Tokens,
    /// Under which links to media are signed.
    Links,
    /// Under which the console's sessions are sealed.
    Console,
    /// By which nodes know each other.
    Nodes,
}

/// The pepper before the present one, or nothing.
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

/// A secret of the installation, made on the first call.
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

/// The installation's peppers, the first one made on the first call.
pub async fn peppers(store: &dyn Store, entropy: &dyn Entropy) -> Result<Peppers, OperationError> {
    let current = secret(store, entropy, SecretName::Pepper).await?;
    let before = read(store, PEPPER_BEFORE).await?;
    let before = before.map(|bytes| Pepper::new(&bytes));
    Ok(Peppers { current: Pepper::new(&current), before })
}

/// A setting that was emptied is none.
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
    /// Puts a new secret in place of one, for the next start. Keys are known under the pepper before
    /// it until each was used once.
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

    /// Forgets the pepper before the present one: keys that were not used since open nothing any
    /// more, from the next start on.
    pub(crate) async fn forget_pepper(&self) -> Result<(), OperationError> {
        if read(self.store.as_ref(), PEPPER_BEFORE).await?.is_none() {
            return Err(OperationError::Refused("there is no earlier pepper".to_owned()));
        }
        let write = Write::PutSetting { name: PEPPER_BEFORE.to_owned(), value: Vec::new() };
        Ok(self.store.commit(Group::of(write)).await?)
    }
}
