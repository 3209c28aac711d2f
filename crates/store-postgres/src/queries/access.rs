//! Queries for authentication: owners, their keys, and refusals by a rate limit.

use credits::{KeyId, LimitPeriod, OwnerId};
use domain::access::{KeyKind, ModelPrivacy};
use domain::secret::SecretDigest;
use store::key::{ApiKey, KEYS_LISTED_MAX, KeySettings};
use store::limit_hit::{LIMIT_HITS_KEPT, LimitHit};
use store::owner::{Owner, OwnerKind};
use store::wallet::WalletLink;
use store::{AccessStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::Postgres;
use crate::columns::{bytes, get, limit, nano_or_none, parsed, text, time, time_or_none};
use crate::error::PgError;
use crate::session::Session;

const OWNER_COLUMNS: &str = "owner.id, owner.kind, owner.name, owner.tier, owner.created_ms, \
     owner.frozen_ms";
const KEY_COLUMNS: &str = "api_key.id, api_key.owner, api_key.digest, api_key.last6, \
     CASE WHEN api_key.is_operator THEN 'OPERATOR' ELSE api_key.kind END, \
     api_key.description, api_key.limit_usd, api_key.limit_diem, \
     api_key.limit_period, api_key.expires_ms, api_key.created_ms, api_key.last_used_ms, \
     api_key.revoked_ms, api_key.model_privacy";
const KEY_COLUMN_COUNT: usize = 14;

impl AccessStore for Postgres {
    fn owner(&self, id: OwnerId) -> StoreFuture<'_, Option<Owner>> {
        self.ask_soon(async move |db| owner(&db, id).await)
    }

    fn find_owner<'a>(&'a self, kind: OwnerKind, name: &'a str) -> StoreFuture<'a, Option<Owner>> {
        self.ask_soon(async move |db| find_owner(&db, kind, name).await)
    }

    fn list_owners<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Owner>> {
        self.ask(async move |db| list_owners(&db, kind, after, limit).await)
    }

    fn wallet_links<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<WalletLink>> {
        self.ask(async move |db| wallet_links(&db, kind, after, limit).await)
    }

    fn find_key(&self, digest: SecretDigest) -> StoreFuture<'_, Option<(ApiKey, Owner)>> {
        self.ask_soon(async move |db| find_key(&db, &digest).await)
    }

    fn key(&self, owner: OwnerId, id: KeyId) -> StoreFuture<'_, Option<ApiKey>> {
        self.ask_soon(async move |db| key(&db, owner, id).await)
    }

    fn list_keys(&self, owner: OwnerId) -> StoreFuture<'_, Vec<ApiKey>> {
        self.ask(async move |db| list_keys(&db, owner).await)
    }

    fn limit_hits(&self, owner: OwnerId) -> StoreFuture<'_, Vec<LimitHit>> {
        self.ask(async move |db| limit_hits(&db, owner).await)
    }
}

async fn owner(db: &Session, id: OwnerId) -> Result<Option<Owner>, PgError> {
    let sql = format!("SELECT {OWNER_COLUMNS} FROM owner WHERE id = $1");
    db.row(&sql, &[&id.0]).await?.map(|row| owner_at(&row, 0)).transpose()
}

/// An owner's own row comes before a link; a wallet cannot have both.
async fn find_owner(db: &Session, kind: OwnerKind, name: &str) -> Result<Option<Owner>, PgError> {
    let sql = format!(
        "SELECT {OWNER_COLUMNS} FROM owner WHERE kind = $1 AND name = $2 UNION ALL \
         SELECT {OWNER_COLUMNS} FROM wallet_link JOIN owner ON owner.id = wallet_link.owner \
         WHERE wallet_link.kind = $1 AND address = $2 LIMIT 1"
    );
    let found = db.row(&sql, &[&kind.name(), &text(name)]).await?;
    found.map(|row| owner_at(&row, 0)).transpose()
}

async fn list_owners(
    db: &Session,
    kind: OwnerKind,
    after: &str,
    rows_max: usize,
) -> Result<Vec<Owner>, PgError> {
    let sql = format!(
        "SELECT {OWNER_COLUMNS} FROM owner WHERE kind = $1 AND $2 < name ORDER BY name LIMIT $3"
    );
    let rows = db.rows(&sql, &[&kind.name(), &text(after), &limit(rows_max)]).await?;
    rows.iter().map(|row| owner_at(row, 0)).collect()
}

async fn wallet_links(
    db: &Session,
    kind: OwnerKind,
    after: &str,
    rows_max: usize,
) -> Result<Vec<WalletLink>, PgError> {
    let sql = "SELECT address, owner, at_ms FROM wallet_link WHERE kind = $1 AND $2 < address \
               ORDER BY address LIMIT $3";
    let rows = db.rows(sql, &[&kind.name(), &text(after), &limit(rows_max)]).await?;
    let link = |row| {
        let owner = OwnerId(get(row, 1)?);
        Ok(WalletLink { kind, address: get(row, 0)?, owner, at: time(row, 2)? })
    };
    rows.iter().map(link).collect()
}

async fn find_key(db: &Session, digest: &SecretDigest) -> Result<Option<(ApiKey, Owner)>, PgError> {
    let sql = format!(
        "SELECT {KEY_COLUMNS}, {OWNER_COLUMNS} FROM api_key JOIN owner ON owner.id = api_key.owner \
         WHERE digest = $1"
    );
    let found = db.row(&sql, &[&digest.0.as_slice()]).await?;
    found.map(|row| Ok((key_at(&row)?, owner_at(&row, KEY_COLUMN_COUNT)?))).transpose()
}

async fn key(db: &Session, owner: OwnerId, key: KeyId) -> Result<Option<ApiKey>, PgError> {
    let sql = format!("SELECT {KEY_COLUMNS} FROM api_key WHERE id = $2 AND owner = $1");
    db.row(&sql, &[&owner.0, &key.0]).await?.map(|row| key_at(&row)).transpose()
}

async fn list_keys(db: &Session, owner: OwnerId) -> Result<Vec<ApiKey>, PgError> {
    let sql = format!(
        "SELECT {KEY_COLUMNS} FROM api_key WHERE owner = $1 AND revoked_ms IS NULL \
         ORDER BY created_ms DESC, id DESC LIMIT $2"
    );
    let rows = db.rows(&sql, &[&owner.0, &limit(KEYS_LISTED_MAX)]).await?;
    rows.iter().map(key_at).collect()
}

async fn limit_hits(db: &Session, owner: OwnerId) -> Result<Vec<LimitHit>, PgError> {
    let sql = "SELECT owner, key, model, tier, kind, at_ms FROM limit_hit WHERE owner = $1 \
               ORDER BY seq DESC LIMIT $2";
    let rows = db.rows(sql, &[&owner.0, &limit(LIMIT_HITS_KEPT)]).await?;
    let hit = |row| {
        let key: Option<Uuid> = get(row, 1)?;
        Ok(LimitHit {
            owner: OwnerId(get(row, 0)?),
            key: key.map(KeyId),
            model: get(row, 2)?,
            tier: get(row, 3)?,
            kind: get(row, 4)?,
            at: time(row, 5)?,
        })
    };
    rows.iter().map(hit).collect()
}

pub(crate) async fn setting(db: &Session, name: &str) -> Result<Option<Vec<u8>>, PgError> {
    let row = db.row("SELECT value FROM setting WHERE name = $1", &[&text(name)]).await?;
    row.map(|row| get(&row, 0)).transpose()
}

fn owner_at(row: &Row, first: usize) -> Result<Owner, PgError> {
    Ok(Owner {
        id: OwnerId(get(row, first)?),
        kind: parsed(row, first + 1, OwnerKind::parse)?,
        name: get(row, first + 2)?,
        tier: get(row, first + 3)?,
        created: time(row, first + 4)?,
        frozen: time_or_none(row, first + 5)?,
    })
}

fn key_at(row: &Row) -> Result<ApiKey, PgError> {
    Ok(ApiKey {
        id: KeyId(get(row, 0)?),
        owner: OwnerId(get(row, 1)?),
        digest: SecretDigest(bytes(row, 2)?),
        last6: get(row, 3)?,
        kind: parsed(row, 4, KeyKind::parse)?,
        settings: KeySettings {
            description: get(row, 5)?,
            limit_usd: nano_or_none(row, 6)?,
            limit_diem: nano_or_none(row, 7)?,
            limit_period: parsed(row, 8, LimitPeriod::from_name)?,
            expires: time_or_none(row, 9)?,
            model_privacy: parsed(row, 13, ModelPrivacy::parse)?,
        },
        created: time(row, 10)?,
        last_used: time_or_none(row, 11)?,
        revoked: time_or_none(row, 12)?,
    })
}
