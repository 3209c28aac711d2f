//! Who a credential stands for: API keys, looked up through a cache that never lies, and wallets.
//!
//! Keys are made, changed and revoked here and nowhere else, so the cache is told of every change
//! before the change is acknowledged: a revoked key stops working at once.

mod cache;
mod holder;
pub mod wallets;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use credits::{KeyId, LimitPeriod, OwnerId};
use domain::access::{KeyKind, ModelPrivacy};
use domain::entropy::{Entropy, time_ordered_id};
use domain::secret::{self, Peppers, Recognised, SECRET_BYTES_MAX, SecretDigest};
use hashbrown::HashMap;
use moment::{Clock, Timestamp};
use store::Store;
use store::error::StoreError;
use store::key::{ApiKey, KeySettings};
use store::wallet::UsedNonce;
use store::write::{Group, Write};

use crate::cache::Cache;
pub use crate::holder::{Holder, Proof};

/// The random characters of a sign-in link.
const LINK_CHARACTERS: usize = 43;
/// Under which used links are kept among the nonces of wallets; no wallet has this address.
const LINK_NONCES: &str = "operator link";

/// The most keys of one owner that open anything.
pub const ACTIVE_KEYS_MAX: usize = 500;
/// The most keys that an account with operator keys has in all. It is above the bound of other
/// keys, so that an ADMIN key cannot use up the operator's.
const OPERATOR_KEYS_MAX: usize = 2 * ACTIVE_KEYS_MAX;

/// Why a secret opens nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum KeyRefused {
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
    /// Whether there is such a key could not be found out.
    #[error(transparent)]
    Unknowable(#[from] StoreError),
}

/// All keys of the installation.
pub struct KeyRing {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    peppers: Peppers,
    /// The digest of a key that the operator chose: its form may be anything.
    chosen: Option<SecretDigest>,
    cache: Cache,
    /// Keys used since this was last written down, and when.
    uses: Mutex<HashMap<KeyId, Timestamp>>,
}

impl KeyRing {
    /// A digest of a text that nobody without the service's own secret can make. Texts begin with
    /// what they are for and a zero, which no key's secret has.
    pub fn seal(&self, text: &str) -> [u8; 32] {
        secret::digest(&self.peppers.current, text).0
    }

    /// Reads what was sealed, under the present pepper or the one before it.
    pub fn unseal<T>(&self, read: impl Fn(&dyn Fn(&str) -> [u8; 32]) -> Option<T>) -> Option<T> {
        let peppers = [Some(&self.peppers.current), self.peppers.before.as_ref()];
        let mut peppers = peppers.into_iter().flatten();
        peppers.find_map(|pepper| read(&|text| secret::digest(pepper, text).0))
    }

    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        peppers: Peppers,
    ) -> KeyRing {
        let uses = Mutex::default();
        KeyRing { store, clock, entropy, peppers, chosen: None, cache: Cache::default(), uses }
    }

    /// Lets a secret of the operator's choosing in, whatever it looks like.
    pub fn with_chosen(mut self, secret: &str) -> KeyRing {
        self.chosen = Some(secret::digest(&self.peppers.current, secret));
        self
    }

    /// Tells whether a secret can be opened without a read of the store.
    pub fn is_cached(&self, secret: &str) -> bool {
        let is_short = secret.len() <= SECRET_BYTES_MAX;
        let digest = || secret::digest(&self.peppers.current, secret);
        is_short && self.cache.get(&digest(), Instant::now()).is_some()
    }

    /// The holder of a secret.
    pub async fn open(&self, secret: &str) -> Result<Arc<Holder>, KeyRefused> {
        if SECRET_BYTES_MAX < secret.len() {
            return Err(KeyRefused::Unknown);
        }
        let digest = secret::digest(&self.peppers.current, secret);
        let holder = match self.cache.get(&digest, Instant::now()) {
            Some(holder) => holder,
            None if self.is_mistyped(secret, &digest) => return Err(KeyRefused::Mistyped),
            None => match self.fetch(digest).await {
                Err(KeyRefused::Unknown) => self.move_key(secret, digest).await?,
                found => found?,
            },
        };
        self.admit(holder)
    }

    /// The holder of a secret that is known under the pepper before the present one, and under the
    /// present one from now on.
    async fn move_key(
        &self,
        secret: &str,
        digest: SecretDigest,
    ) -> Result<Arc<Holder>, KeyRefused> {
        let before = self.peppers.before.as_ref().ok_or(KeyRefused::Unknown)?;
        let from = secret::digest(before, secret);
        // Where it is neither under this digest nor can be moved, another request for the same key may
        // have moved it a moment ago.
        let Some((key, _)) = self.store.find_key(from).await? else {
            return self.fetch(digest).await;
        };
        let write = Write::MoveKey { key: key.id, from, to: digest };
        match self.store.commit(Group::of(write)).await {
            Ok(()) | Err(StoreError::Missing(_)) => self.fetch(digest).await,
            Err(error) => Err(error.into()),
        }
    }

    /// The holder of a secret whose digest was kept, as long as the key opens anything.
    pub async fn open_digest(&self, digest: SecretDigest) -> Result<Arc<Holder>, KeyRefused> {
        let holder = match self.cache.get(&digest, Instant::now()) {
            Some(holder) => holder,
            None => self.fetch(digest).await?,
        };
        self.admit(holder)
    }

    /// Makes a key for the session of a one-time sign-in link, and returns the link's token. The
    /// key opens nothing before the link is used, and no longer than the link can be used.
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

    /// The holder behind a link's token, which is used up in the same transaction. Its key works
    /// from now on, until `session_ends`.
    pub async fn use_link(
        &self,
        token: &str,
        session_ends: Timestamp,
    ) -> Result<Arc<Holder>, KeyRefused> {
        if SECRET_BYTES_MAX < token.len() {
            return Err(KeyRefused::Unknown);
        }
        let digest = secret::digest(&self.peppers.current, &link_secret(token));
        let holder = self.admit(self.fetch(digest).await?)?;
        let key = holder.key().ok_or(KeyRefused::Unknown)?;
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
            Write::ChangeKey { owner: key.owner, key: key.id, settings, at: self.clock.now() };
        let writes = vec![Write::UseNonce(nonce), change];
        match self.store.commit(Group { writes }).await {
            Ok(()) => {}
            Err(StoreError::Duplicate(_) | StoreError::Missing(_)) => {
                return Err(KeyRefused::Unknown);
            }
            Err(error) => return Err(error.into()),
        }
        self.cache.forget(&digest);
        self.open_digest(digest).await
    }

    fn admit(&self, holder: Arc<Holder>) -> Result<Arc<Holder>, KeyRefused> {
        let now = self.clock.now();
        let key = holder.key().ok_or(KeyRefused::Unknown)?;
        if key.revoked.is_some() {
            return Err(KeyRefused::Revoked);
        }
        if !key.is_active(now) {
            return Err(KeyRefused::Expired);
        }
        if holder.owner.frozen.is_some() {
            return Err(KeyRefused::Frozen);
        }
        self.uses.lock().unwrap_or_else(PoisonError::into_inner).insert(key.id, now);
        Ok(holder)
    }

    /// Whether the text alone tells that there is no such key.
    fn is_mistyped(&self, secret: &str, digest: &SecretDigest) -> bool {
        secret::recognise(secret) == Recognised::Mistyped && self.chosen.as_ref() != Some(digest)
    }

    /// Makes a key with a fresh secret, which is returned and not kept.
    pub async fn create(
        &self,
        owner: OwnerId,
        kind: KeyKind,
        settings: KeySettings,
    ) -> Result<(ApiKey, String), StoreError> {
        let secret = secret::mint(kind, self.entropy.as_ref());
        let key = self.create_with(owner, kind, settings, &secret).await?;
        Ok((key, secret))
    }

    /// Makes a key whose secret the operator chose.
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
            digest: secret::digest(&self.peppers.current, secret),
            last6: secret::last6(secret),
            kind,
            settings,
            created: now,
            last_used: None,
            revoked: None,
        };
        let active_keys_max =
            if kind == KeyKind::Operator { OPERATOR_KEYS_MAX } else { ACTIVE_KEYS_MAX };
        let write = Write::AddKey { key: key.clone(), active_keys_max };
        self.store.commit(Group::of(write)).await?;
        Ok(key)
    }

    /// Changes a key's settings, from the next request on.
    pub async fn change(&self, key: &ApiKey, settings: KeySettings) -> Result<(), StoreError> {
        let (owner, id, at) = (key.owner, key.id, self.clock.now());
        let write = Write::ChangeKey { owner, key: id, settings, at };
        self.store.commit(Group::of(write)).await?;
        self.cache.forget(&key.digest);
        Ok(())
    }

    /// Revokes a key, from the next request on.
    pub async fn revoke(&self, key: &ApiKey) -> Result<(), StoreError> {
        let at = self.clock.now();
        let write = Write::RevokeKey { owner: key.owner, key: key.id, at };
        self.store.commit(Group::of(write)).await?;
        self.cache.forget(&key.digest);
        Ok(())
    }

    /// One cached key is looked up afresh: another node changed it.
    pub fn forget(&self, key: KeyId) {
        self.cache.forget_key(key);
    }

    /// Notes that other nodes' changes were heard up to this moment. Once this was called, a cached
    /// key is looked up afresh where it is not called again for ten seconds.
    pub fn note_heard(&self) {
        self.cache.note_heard(Instant::now());
    }

    /// Every cached key is looked up afresh: after a change to an owner.
    pub fn forget_all(&self) {
        self.cache.forget_all();
    }

    /// Writes down when keys were last used. Called now and then, before a listing, and at the
    /// end: a crash loses the last uses, which matter to nobody.
    pub async fn note_uses(&self) -> Result<(), StoreError> {
        let uses = std::mem::take(&mut *self.uses.lock().unwrap_or_else(PoisonError::into_inner));
        if uses.is_empty() {
            return Ok(());
        }
        let writes = uses.into_iter().map(|(key, at)| Write::TouchKey { key, at }).collect();
        self.store.commit(Group { writes }).await
    }

    async fn fetch(&self, digest: SecretDigest) -> Result<Arc<Holder>, KeyRefused> {
        let ticket = self.cache.ticket();
        let found = self.store.find_key(digest).await?;
        let (key, owner) = found.ok_or(KeyRefused::Unknown)?;
        let holder = Arc::new(Holder { proof: Proof::Key(Box::new(key)), owner });
        self.cache.put(ticket, digest, Arc::clone(&holder));
        Ok(holder)
    }
}

/// The text whose digest stands for a link's token. No header can carry its zero, so that a link
/// is no bearer secret.
fn link_secret(token: &str) -> String {
    format!("operator link\0{token}")
}
