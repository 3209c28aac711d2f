//! Queries for authentication: owners, their keys, and refusals by a rate limit.

use domain::secret::SecretDigest;
use ledger_core::{KeyId, OwnerId};

use crate::key::{ApiKey, KEYS_LISTED_MAX};
use crate::limit_hit::{LIMIT_HITS_KEPT, LimitHit};
use crate::owner::{Owner, OwnerKind};
use crate::sql::value::sql_values;
use crate::sql::{ReadMode, SqlStore, keys, owners, wallets};
use crate::wallet::WalletLink;
use crate::{AccessStore, StoreFuture};

impl<S: SqlStore> AccessStore for S {
    fn owner(&self, id: OwnerId) -> StoreFuture<'_, Option<Owner>> {
        self.read_row(ReadMode::LOOKUP, owners::READ, sql_values![id], owners::owner_at)
    }

    fn find_owner<'a>(&'a self, kind: OwnerKind, name: &'a str) -> StoreFuture<'a, Option<Owner>> {
        let values = sql_values![kind.name(), name.to_owned()];
        self.read_row(ReadMode::LOOKUP, owners::FIND, values, owners::owner_at)
    }

    fn list_owners<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Owner>> {
        let values = sql_values![kind.name(), after.to_owned(), limit];
        self.read_rows(ReadMode::STATEMENT, owners::LIST, values, owners::owner_at)
    }

    fn wallet_links<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<WalletLink>> {
        let values = sql_values![kind.name(), after.to_owned(), limit];
        self.read(ReadMode::STATEMENT, move |db| {
            Box::pin(async move {
                let links = db.rows(wallets::LIST_LINKS, &values, |row| {
                    let (address, owner, at) = (row.get(0)?, row.get(1)?, row.get(2)?);
                    Ok(WalletLink { kind, address, owner, at })
                });
                links.await
            })
        })
    }

    fn find_key(&self, digest: SecretDigest) -> StoreFuture<'_, Option<(ApiKey, Owner)>> {
        self.read_row(ReadMode::LOOKUP, keys::FIND, sql_values![digest], keys::key_and_owner_at)
    }

    fn key(&self, owner: OwnerId, key: KeyId) -> StoreFuture<'_, Option<ApiKey>> {
        self.read_row(ReadMode::LOOKUP, keys::READ, sql_values![owner, key], keys::key_at)
    }

    fn list_keys(&self, owner: OwnerId) -> StoreFuture<'_, Vec<ApiKey>> {
        let values = sql_values![owner, KEYS_LISTED_MAX];
        self.read_rows(ReadMode::STATEMENT, keys::LIST, values, keys::key_at)
    }

    fn limit_hits(&self, owner: OwnerId) -> StoreFuture<'_, Vec<LimitHit>> {
        let values = sql_values![owner, LIMIT_HITS_KEPT];
        self.read_rows(ReadMode::STATEMENT, keys::READ_LIMIT_HITS, values, keys::limit_hit_at)
    }
}
