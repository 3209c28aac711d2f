//! Queries for authentication: owners, their keys, and refusals by a rate limit.

use domain::secret::SecretDigest;
use ledger_core::{KeyId, OwnerId};

use crate::key::ApiKey;
use crate::limit_hit::LimitHit;
use crate::owner::{Owner, OwnerKind};
use crate::sqlite::{SqliteStore, owners, wallets};
use crate::wallet::WalletLink;
use crate::{AccessStore, StoreFuture};

impl AccessStore for SqliteStore {
    fn owner(&self, id: OwnerId) -> StoreFuture<'_, Option<Owner>> {
        self.query(move |connection| owners::read_owner(connection, id))
    }

    fn find_owner<'a>(&'a self, kind: OwnerKind, name: &'a str) -> StoreFuture<'a, Option<Owner>> {
        let name = name.to_owned();
        self.query(move |connection| owners::find_owner(connection, kind, &name))
    }

    fn list_owners<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Owner>> {
        let after = after.to_owned();
        self.query(move |connection| owners::list_owners(connection, kind, &after, limit))
    }

    fn wallet_links<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<WalletLink>> {
        let after = after.to_owned();
        self.query(move |connection| wallets::list_links(connection, kind, &after, limit))
    }

    fn find_key(&self, digest: SecretDigest) -> StoreFuture<'_, Option<(ApiKey, Owner)>> {
        self.query(move |connection| owners::find_key(connection, &digest))
    }

    fn key(&self, owner: OwnerId, key: KeyId) -> StoreFuture<'_, Option<ApiKey>> {
        self.query(move |connection| owners::read_key(connection, owner, key))
    }

    fn list_keys(&self, owner: OwnerId) -> StoreFuture<'_, Vec<ApiKey>> {
        self.query(move |connection| owners::list_keys(connection, owner))
    }

    fn limit_hits(&self, owner: OwnerId) -> StoreFuture<'_, Vec<LimitHit>> {
        self.query(move |connection| owners::limit_hits(connection, owner))
    }
}
