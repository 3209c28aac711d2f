//! Queries for authentication: owners, their keys, and refusals by a rate limit.

use domain::access::{KeyKind, ModelPrivacy};
use domain::secret::SecretDigest;
use ledger_core::{KeyId, LimitPeriod, OwnerId};
use store::key::{ApiKey, KEYS_LISTED_MAX, KeySettings};
use store::limit_hit::{LIMIT_HITS_KEPT, LimitHit};
use store::owner::{Owner, OwnerKind};
use store::wallet::WalletLink;
use store::{AccessStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::{
    read_bytes, read_column, read_optional_nano, read_optional_time, read_parsed, read_time,
    to_row_limit, to_sql_text,
};
use crate::error::PgError;
use crate::session::PostgresSession;

const OWNER_COLUMNS: &str = "owner.id, owner.kind, owner.name, owner.tier, owner.created_ms, \
     owner.frozen_ms";
const KEY_COLUMNS: &str = "api_key.id, api_key.owner, api_key.digest, api_key.last6, \
     CASE WHEN api_key.is_operator THEN 'OPERATOR' ELSE api_key.kind END, \
     api_key.description, api_key.limit_usd, api_key.limit_diem, \
     api_key.limit_period, api_key.expires_ms, api_key.created_ms, api_key.last_used_ms, \
     api_key.revoked_ms, api_key.model_privacy";
const KEY_COLUMN_COUNT: usize = 14;

impl AccessStore for PostgresStore {
    fn owner(&self, id: OwnerId) -> StoreFuture<'_, Option<Owner>> {
        self.query_with_timeout(async move |db| read_owner(&db, id).await)
    }

    fn find_owner<'a>(&'a self, kind: OwnerKind, name: &'a str) -> StoreFuture<'a, Option<Owner>> {
        self.query_with_timeout(async move |db| find_owner(&db, kind, name).await)
    }

    fn list_owners<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Owner>> {
        self.query(async move |db| list_owners(&db, kind, after, limit).await)
    }

    fn wallet_links<'a>(
        &'a self,
        kind: OwnerKind,
        after: &'a str,
        limit: usize,
    ) -> StoreFuture<'a, Vec<WalletLink>> {
        self.query(async move |db| wallet_links(&db, kind, after, limit).await)
    }

    fn find_key(&self, digest: SecretDigest) -> StoreFuture<'_, Option<(ApiKey, Owner)>> {
        self.query_with_timeout(async move |db| find_key(&db, &digest).await)
    }

    fn key(&self, owner: OwnerId, id: KeyId) -> StoreFuture<'_, Option<ApiKey>> {
        self.query_with_timeout(async move |db| read_key(&db, owner, id).await)
    }

    fn list_keys(&self, owner: OwnerId) -> StoreFuture<'_, Vec<ApiKey>> {
        self.query(async move |db| list_keys(&db, owner).await)
    }

    fn limit_hits(&self, owner: OwnerId) -> StoreFuture<'_, Vec<LimitHit>> {
        self.query(async move |db| limit_hits(&db, owner).await)
    }
}

async fn read_owner(db: &PostgresSession, id: OwnerId) -> Result<Option<Owner>, PgError> {
    let sql = format!("SELECT {OWNER_COLUMNS} FROM owner WHERE id = $1");
    db.row(&sql, &[&id.0]).await?.map(|row| owner_at(&row, 0)).transpose()
}

/// An owner's own row comes before a link; a wallet cannot have both.
async fn find_owner(
    db: &PostgresSession,
    kind: OwnerKind,
    name: &str,
) -> Result<Option<Owner>, PgError> {
    let sql = format!(
        "SELECT {OWNER_COLUMNS} FROM owner WHERE kind = $1 AND name = $2 UNION ALL \
         SELECT {OWNER_COLUMNS} FROM wallet_link JOIN owner ON owner.id = wallet_link.owner \
         WHERE wallet_link.kind = $1 AND address = $2 LIMIT 1"
    );
    let found = db.row(&sql, &[&kind.name(), &to_sql_text(name)]).await?;
    found.map(|row| owner_at(&row, 0)).transpose()
}

async fn list_owners(
    db: &PostgresSession,
    kind: OwnerKind,
    after: &str,
    rows_max: usize,
) -> Result<Vec<Owner>, PgError> {
    let sql = format!(
        "SELECT {OWNER_COLUMNS} FROM owner WHERE kind = $1 AND $2 < name ORDER BY name LIMIT $3"
    );
    let rows = db.rows(&sql, &[&kind.name(), &to_sql_text(after), &to_row_limit(rows_max)]).await?;
    rows.iter().map(|row| owner_at(row, 0)).collect()
}

async fn wallet_links(
    db: &PostgresSession,
    kind: OwnerKind,
    after: &str,
    rows_max: usize,
) -> Result<Vec<WalletLink>, PgError> {
    let sql = "SELECT address, owner, at_ms FROM wallet_link WHERE kind = $1 AND $2 < address \
               ORDER BY address LIMIT $3";
    let rows = db.rows(sql, &[&kind.name(), &to_sql_text(after), &to_row_limit(rows_max)]).await?;
    let link = |row| {
        let owner = OwnerId(read_column(row, 1)?);
        Ok(WalletLink { kind, address: read_column(row, 0)?, owner, at: read_time(row, 2)? })
    };
    rows.iter().map(link).collect()
}

async fn find_key(
    db: &PostgresSession,
    digest: &SecretDigest,
) -> Result<Option<(ApiKey, Owner)>, PgError> {
    let sql = format!(
        "SELECT {KEY_COLUMNS}, {OWNER_COLUMNS} FROM api_key JOIN owner ON owner.id = api_key.owner \
         WHERE digest = $1"
    );
    let found = db.row(&sql, &[&digest.0.as_slice()]).await?;
    found.map(|row| Ok((key_at(&row)?, owner_at(&row, KEY_COLUMN_COUNT)?))).transpose()
}

async fn read_key(
    db: &PostgresSession,
    owner: OwnerId,
    key: KeyId,
) -> Result<Option<ApiKey>, PgError> {
    let sql = format!("SELECT {KEY_COLUMNS} FROM api_key WHERE id = $2 AND owner = $1");
    db.row(&sql, &[&owner.0, &key.0]).await?.map(|row| key_at(&row)).transpose()
}

async fn list_keys(db: &PostgresSession, owner: OwnerId) -> Result<Vec<ApiKey>, PgError> {
    let sql = format!(
        "SELECT {KEY_COLUMNS} FROM api_key WHERE owner = $1 AND revoked_ms IS NULL \
         ORDER BY created_ms DESC, id DESC LIMIT $2"
    );
    let rows = db.rows(&sql, &[&owner.0, &to_row_limit(KEYS_LISTED_MAX)]).await?;
    rows.iter().map(key_at).collect()
}

async fn limit_hits(db: &PostgresSession, owner: OwnerId) -> Result<Vec<LimitHit>, PgError> {
    let sql = "SELECT owner, key, model, tier, kind, at_ms FROM limit_hit WHERE owner = $1 \
               ORDER BY seq DESC LIMIT $2";
    let rows = db.rows(sql, &[&owner.0, &to_row_limit(LIMIT_HITS_KEPT)]).await?;
    let hit = |row| {
        let key: Option<Uuid> = read_column(row, 1)?;
        Ok(LimitHit {
            owner: OwnerId(read_column(row, 0)?),
            key: key.map(KeyId),
            model: read_column(row, 2)?,
            tier: read_column(row, 3)?,
            kind: read_column(row, 4)?,
            at: read_time(row, 5)?,
        })
    };
    rows.iter().map(hit).collect()
}

pub(crate) async fn read_setting(
    db: &PostgresSession,
    name: &str,
) -> Result<Option<Vec<u8>>, PgError> {
    let row = db.row("SELECT value FROM setting WHERE name = $1", &[&to_sql_text(name)]).await?;
    row.map(|row| read_column(&row, 0)).transpose()
}

fn owner_at(row: &Row, first: usize) -> Result<Owner, PgError> {
    Ok(Owner {
        id: OwnerId(read_column(row, first)?),
        kind: read_parsed(row, first + 1, OwnerKind::parse)?,
        name: read_column(row, first + 2)?,
        tier: read_column(row, first + 3)?,
        created: read_time(row, first + 4)?,
        frozen: read_optional_time(row, first + 5)?,
    })
}

fn key_at(row: &Row) -> Result<ApiKey, PgError> {
    Ok(ApiKey {
        id: KeyId(read_column(row, 0)?),
        owner: OwnerId(read_column(row, 1)?),
        digest: SecretDigest(read_bytes(row, 2)?),
        last6: read_column(row, 3)?,
        kind: read_parsed(row, 4, KeyKind::parse)?,
        settings: KeySettings {
            description: read_column(row, 5)?,
            limit_usd: read_optional_nano(row, 6)?,
            limit_diem: read_optional_nano(row, 7)?,
            limit_period: read_parsed(row, 8, LimitPeriod::from_name)?,
            expires: read_optional_time(row, 9)?,
            model_privacy: read_parsed(row, 13, ModelPrivacy::parse)?,
        },
        created: read_time(row, 10)?,
        last_used: read_optional_time(row, 11)?,
        revoked: read_optional_time(row, 12)?,
    })
}
