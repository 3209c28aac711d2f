//! Authentication: API keys, looked up through a cache that is never stale, and wallets.
//!
//! Keys are created, changed and revoked only here, so the cache entry is removed before a change
//! is acknowledged: a revoked key stops working immediately.

mod cache;
mod holder;
pub mod wallets;

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use domain::access::{KeyKind, ModelPrivacy};
use domain::entropy::{EntropySource, time_ordered_id};
use domain::secret::{self, CredentialForm, PepperPair, SECRET_BYTES_MAX, SecretDigest};
use hashbrown::HashMap;
use ledger_core::{KeyId, LimitPeriod, OwnerId};
use moment::{Clock, Timestamp};
use single_flight::{FlightRole, SingleFlight};
use store::Store;
use store::error::StoreError;
use store::key::{ApiKey, KeySettings};
use store::wallet::UsedNonce;
use store::write::{StoreWrite, WriteGroup};

use crate::cache::{CacheVersion, HolderCache};
pub use crate::holder::{CallerCredential, CredentialHolder};

/// The number of random characters in a sign-in link.
const LINK_CHARACTERS: usize = 43;
/// The name under which used links are stored among the nonces of wallets; no wallet has this
/// address.
const LINK_NONCES: &str = "operator link";

/// The maximum number of active keys of one owner.
pub const ACTIVE_KEYS_MAX: usize = 500;
/// The maximum number of active keys of an account when an operator key is added. Higher than for
/// other keys, so that an ADMIN key cannot exhaust the operator's keys.
const OPERATOR_KEYS_MAX: usize = 2 * ACTIVE_KEYS_MAX;

/// The reason why a secret is refused.
#[derive(Debug, Clone, thiserror::Error)]
pub enum KeyRefusal {
    #[error("the key is mistyped")]
    Mistyped,
    #[error("there is no such key")]
    Unknown,
    #[error("the key was revoked")]
    Revoked,
    #[error("the key has expired")]
    Expired,
    #[error("the account is frozen")]
    Frozen,
    /// The store failed, so it is unknown whether the key exists.
    #[error(transparent)]
    Unknowable(#[from] StoreError),
}

/// A read of a key from the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct KeyRead {
    digest: SecretDigest,
    /// The state of the cache when the read began.
    ticket: CacheVersion,
}

/// The keys of the installation.
pub struct KeyRing {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn EntropySource>,
    peppers: PepperPair,
    /// The digest of a key that the operator chose; it need not have the usual format.
    chosen: Option<SecretDigest>,
    cache: HolderCache,
    /// Reads of the store in progress.
    reads: Arc<SingleFlight<KeyRead, Result<Arc<CredentialHolder>, KeyRefusal>>>,
    /// The keys used since the last `write_last_uses`, with their last use.
    uses: Mutex<HashMap<KeyId, Timestamp>>,
}

impl KeyRing {
    /// Returns a keyed digest of a text, which only the service can compute. Texts start with their
    /// purpose and a NUL, which no key's secret contains.
    pub fn keyed_digest(&self, text: &str) -> [u8; 32] {
        secret::digest_secret(&self.peppers.current, text).0
    }

    /// Verifies sealed text with the current pepper and then the previous one.
    pub fn verify_with_peppers<T>(
        &self,
        read: impl Fn(&dyn Fn(&str) -> [u8; 32]) -> Option<T>,
    ) -> Option<T> {
        let peppers = [Some(&self.peppers.current), self.peppers.before.as_ref()];
        let mut peppers = peppers.into_iter().flatten();
        peppers.find_map(|pepper| read(&|text| secret::digest_secret(pepper, text).0))
    }

    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn EntropySource>,
        peppers: PepperPair,
    ) -> KeyRing {
        KeyRing {
            store,
            clock,
            entropy,
            peppers,
            chosen: None,
            cache: HolderCache::default(),
            reads: Arc::default(),
            uses: Mutex::default(),
        }
    }

    /// Accepts a secret that the operator chose, in any format.
    pub fn with_operator_secret(mut self, secret: &str) -> KeyRing {
        self.chosen = Some(secret::digest_secret(&self.peppers.current, secret));
        self
    }

    /// Returns the holder of a secret.
    pub async fn authenticate(&self, secret: &str) -> Result<Arc<CredentialHolder>, KeyRefusal> {
        let Ok(opened) = self.authenticate_admitted(secret, || Ok::<(), Infallible>(())).await;
        opened
    }

    /// Returns the holder of a secret, and calls `admit_read` before a read of the store. Requests
    /// that need the same read at the same time share it, and only one of them has it admitted.
    pub async fn authenticate_admitted<E>(
        &self,
        secret: &str,
        mut admit_read: impl FnMut() -> Result<(), E>,
    ) -> Result<Result<Arc<CredentialHolder>, KeyRefusal>, E> {
        if SECRET_BYTES_MAX < secret.len() {
            return Ok(Err(KeyRefusal::Unknown));
        }
        let digest = secret::digest_secret(&self.peppers.current, secret);
        loop {
            // Taken before the cache is searched: a read that began before a change is shared only
            // with requests that came before that change.
            let ticket = self.cache.current_version();
            if let Some(holder) = self.cache.get(&digest, Instant::now()) {
                return Ok(self.check_active(holder));
            }
            if self.is_mistyped(secret, &digest) {
                return Ok(Err(KeyRefusal::Mistyped));
            }
            match self.reads.join(KeyRead { digest, ticket }) {
                FlightRole::Lead(leader) => {
                    admit_read()?;
                    let read = self.read_holder(secret, digest).await;
                    leader.finish(&read);
                    return Ok(read.and_then(|holder| self.check_active(holder)));
                }
                FlightRole::Follow(follower) => {
                    // Without an outcome the leader has left or was not admitted.
                    if let Some(read) = follower.wait_for_outcome().await {
                        return Ok(read.and_then(|holder| self.check_active(holder)));
                    }
                }
            }
        }
    }

    /// Reads the holder of a secret from the store, also under the previous pepper.
    async fn read_holder(
        &self,
        secret: &str,
        digest: SecretDigest,
    ) -> Result<Arc<CredentialHolder>, KeyRefusal> {
        match self.fetch_holder(digest).await {
            Err(KeyRefusal::Unknown) => self.move_to_current_pepper(secret, digest).await,
            found => found,
        }
    }

    /// Returns the holder of a secret that is stored under the previous pepper, and moves it to the
    /// current one.
    async fn move_to_current_pepper(
        &self,
        secret: &str,
        digest: SecretDigest,
    ) -> Result<Arc<CredentialHolder>, KeyRefusal> {
        let before = self.peppers.before.as_ref().ok_or(KeyRefusal::Unknown)?;
        let from = secret::digest_secret(before, secret);
        // If it is under neither digest, a concurrent request may just have moved it.
        let Some((key, _)) = self.store.find_key(from).await? else {
            return self.fetch_holder(digest).await;
        };
        let write = StoreWrite::MoveKey { key: key.id, from, to: digest };
        match self.store.commit(WriteGroup::from_write(write)).await {
            Ok(()) | Err(StoreError::Missing(_)) => self.fetch_holder(digest).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the holder of a secret by its stored digest, if the key is active.
    pub async fn authenticate_digest(
        &self,
        digest: SecretDigest,
    ) -> Result<Arc<CredentialHolder>, KeyRefusal> {
        let holder = match self.cache.get(&digest, Instant::now()) {
            Some(holder) => holder,
            None => self.fetch_holder(digest).await?,
        };
        self.check_active(holder)
    }

    /// Creates the key for the session of a one-time sign-in link, and returns the link's token.
    /// The key is unusable until the link is used, and expires with the link.
    pub async fn create_link(
        &self,
        owner: OwnerId,
        until: Timestamp,
    ) -> Result<(ApiKey, String), StoreError> {
        let token = secret::random_text(LINK_CHARACTERS, self.entropy.as_ref());
        let settings = KeySettings {
            description: "sign-in link".to_owned(),
            limit_usd: None,
            limit_diem: None,
            limit_period: LimitPeriod::Epoch,
            expires: Some(until),
            model_privacy: ModelPrivacy::All,
        };
        let secret = link_secret(&token);
        let key = self.create_with(owner, KeyKind::Operator, settings, &secret).await?;
        Ok((key, token))
    }

    /// Returns the holder of a link's token and uses the link up, in one transaction. Its key is
    /// valid from now on until `session_ends`.
    pub async fn use_link(
        &self,
        token: &str,
        session_ends: Timestamp,
    ) -> Result<Arc<CredentialHolder>, KeyRefusal> {
        if SECRET_BYTES_MAX < token.len() {
            return Err(KeyRefusal::Unknown);
        }
        let digest = secret::digest_secret(&self.peppers.current, &link_secret(token));
        let holder = self.check_active(self.fetch_holder(digest).await?)?;
        let key = holder.key().ok_or(KeyRefusal::Unknown)?;
        let nonce = UsedNonce {
            wallet: LINK_NONCES.to_owned(),
            nonce: key.id.0.to_string(),
            until: session_ends,
        };
        let settings = KeySettings {
            description: "console session".to_owned(),
            expires: Some(session_ends),
            ..key.settings.clone()
        };
        let change =
            StoreWrite::ChangeKey { owner: key.owner, key: key.id, settings, at: self.clock.now() };
        let writes = vec![StoreWrite::UseNonce(nonce), change];
        match self.store.commit(WriteGroup { writes }).await {
            Ok(()) => {}
            Err(StoreError::Duplicate(_) | StoreError::Missing(_)) => {
                return Err(KeyRefusal::Unknown);
            }
            Err(error) => return Err(error.into()),
        }
        self.cache.forget_digest(&digest);
        self.authenticate_digest(digest).await
    }

    fn check_active(
        &self,
        holder: Arc<CredentialHolder>,
    ) -> Result<Arc<CredentialHolder>, KeyRefusal> {
        let now = self.clock.now();
        let key = holder.key().ok_or(KeyRefusal::Unknown)?;
        if key.revoked.is_some() {
            return Err(KeyRefusal::Revoked);
        }
        if !key.is_active(now) {
            return Err(KeyRefusal::Expired);
        }
        if holder.owner.frozen.is_some() {
            return Err(KeyRefusal::Frozen);
        }
        self.uses.lock().unwrap_or_else(PoisonError::into_inner).insert(key.id, now);
        Ok(holder)
    }

    /// True if the format of the text shows that there is no such key.
    fn is_mistyped(&self, secret: &str, digest: &SecretDigest) -> bool {
        secret::recognise_credential(secret) == CredentialForm::Mistyped
            && self.chosen.as_ref() != Some(digest)
    }

    /// Creates a key with a new random secret, which is returned but not stored.
    pub async fn create(
        &self,
        owner: OwnerId,
        kind: KeyKind,
        settings: KeySettings,
    ) -> Result<(ApiKey, String), StoreError> {
        let secret = secret::mint_secret(kind, self.entropy.as_ref());
        let key = self.create_with(owner, kind, settings, &secret).await?;
        Ok((key, secret))
    }

    /// Creates a key with the given secret.
    pub async fn create_with(
        &self,
        owner: OwnerId,
        kind: KeyKind,
        settings: KeySettings,
        secret: &str,
    ) -> Result<ApiKey, StoreError> {
        let now = self.clock.now();
        let key = ApiKey {
            id: KeyId(time_ordered_id(now, self.entropy.as_ref())),
            owner,
            digest: secret::digest_secret(&self.peppers.current, secret),
            last6: secret::last_six_characters(secret),
            kind,
            settings,
            created: now,
            last_used: None,
            revoked: None,
        };
        let active_keys_max =
            if kind == KeyKind::Operator { OPERATOR_KEYS_MAX } else { ACTIVE_KEYS_MAX };
        let write = StoreWrite::AddKey { key: key.clone(), active_keys_max };
        self.store.commit(WriteGroup::from_write(write)).await?;
        Ok(key)
    }

    /// Changes a key's settings, effective from the next request.
    pub async fn change_settings(
        &self,
        key: &ApiKey,
        settings: KeySettings,
    ) -> Result<(), StoreError> {
        let (owner, id, at) = (key.owner, key.id, self.clock.now());
        let write = StoreWrite::ChangeKey { owner, key: id, settings, at };
        self.store.commit(WriteGroup::from_write(write)).await?;
        self.cache.forget_digest(&key.digest);
        Ok(())
    }

    /// Revokes a key, effective from the next request.
    pub async fn revoke(&self, key: &ApiKey) -> Result<(), StoreError> {
        let at = self.clock.now();
        let write = StoreWrite::RevokeKey { owner: key.owner, key: key.id, at };
        self.store.commit(WriteGroup::from_write(write)).await?;
        self.cache.forget_digest(&key.digest);
        Ok(())
    }

    /// Removes one key from the cache, because another node changed it.
    pub fn forget_key(&self, key: KeyId) {
        self.cache.forget_key(key);
    }

    /// Records that all changes by other nodes up to now were received. After the first call,
    /// cached keys are reread if it is not called again within ten seconds.
    pub fn record_changes_received(&self) {
        self.cache.record_changes_received(Instant::now());
    }

    /// Removes all keys from the cache, after a change of an owner.
    pub fn forget_all(&self) {
        self.cache.forget_all();
    }

    /// Writes the times of last use. Called periodically, before a listing, and at shutdown; a
    /// crash loses the latest times, which is acceptable.
    pub async fn write_last_uses(&self) -> Result<(), StoreError> {
        let uses = std::mem::take(&mut *self.uses.lock().unwrap_or_else(PoisonError::into_inner));
        if uses.is_empty() {
            return Ok(());
        }
        let writes = uses.into_iter().map(|(key, at)| StoreWrite::TouchKey { key, at }).collect();
        self.store.commit(WriteGroup { writes }).await
    }

    async fn fetch_holder(
        &self,
        digest: SecretDigest,
    ) -> Result<Arc<CredentialHolder>, KeyRefusal> {
        let ticket = self.cache.current_version();
        let found = self.store.find_key(digest).await?;
        let (key, owner) = found.ok_or(KeyRefusal::Unknown)?;
        let holder =
            Arc::new(CredentialHolder { proof: CallerCredential::Key(Box::new(key)), owner });
        self.cache.insert_if_current(ticket, digest, Arc::clone(&holder));
        Ok(holder)
    }
}

/// Returns the text whose digest identifies a link's token. It contains a NUL, which a header
/// cannot carry, so that a link's token cannot be used as a bearer secret.
fn link_secret(token: &str) -> String {
    format!("operator link\0{token}")
}

#[cfg(test)]
mod tests;
