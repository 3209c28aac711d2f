//! Queries for authentication: owners, their keys, and refusals by a rate limit.

use domain::secret::SecretDigest;
use ledger_core::{KeyId, OwnerId};

use crate::StoreFuture;
use crate::key::ApiKey;
use crate::limit_hit::LimitHit;
use crate::owner::{Owner, OwnerKind};
use crate::wallet::WalletLink;

pub trait AccessStore: Send + Sync {
    fn owner(&self, id: OwnerId) -> StoreFuture<'_, Option<Owner>>;

    /// Finds an owner by name. For a wallet that is linked to an account, returns the account.
    fn find_owner<'a>(&'a self, kind: OwnerKind, name: &'a str) -> StoreFuture<'a, Option<Owner>>;

    /// Owners of a kind by name, after the given name.
    fn list_owners<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Owner>>;

    /// Wallets of a kind that spend an account's balance, by address, after the given one.
    fn wallet_links<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<WalletLink>>;

    /// The key with a secret and its owner, even if the key is revoked or expired.
    fn find_key(&self, digest: SecretDigest) -> StoreFuture<'_, Option<(ApiKey, Owner)>>;

    fn key(&self, owner: OwnerId, key: KeyId) -> StoreFuture<'_, Option<ApiKey>>;

    /// The owner's keys that were not revoked, newest first.
    fn list_keys(&self, owner: OwnerId) -> StoreFuture<'_, Vec<ApiKey>>;

    /// The last refusals by a rate limit, newest first.
    fn limit_hits(&self, owner: OwnerId) -> StoreFuture<'_, Vec<LimitHit>>;
}
