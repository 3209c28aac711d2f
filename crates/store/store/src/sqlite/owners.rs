//! Reads and writes the rows of owners, their keys, settings and refusals by rate limits.

use domain::access::{KeyKind, ModelPrivacy};
use domain::secret::SecretDigest;
use ledger_core::{KeyId, LimitPeriod, OwnerId};
use moment::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::StoreError;
use crate::key::{ApiKey, KEYS_LISTED_MAX, KeySettings};
use crate::limit_hit::{LIMIT_HITS_KEPT, LimitHit};
use crate::owner::{Owner, OwnerKind};
use crate::sqlite::columns::{
    read_id, read_optional_id, read_optional_nano, read_optional_time, read_parsed, read_time,
};
use crate::sqlite::write_error::WriteError;

const OWNER_COLUMNS: &str = "owner.id, owner.kind, owner.name, owner.tier, owner.created_ms, \
     owner.frozen_ms";
const KEY_COLUMNS: &str = "api_key.id, api_key.owner, api_key.digest, api_key.last6, \
     CASE api_key.is_operator WHEN 1 THEN 'OPERATOR' ELSE api_key.kind END, \
     api_key.description, api_key.limit_usd, api_key.limit_diem, api_key.limit_period, \
     api_key.expires_ms, api_key.created_ms, api_key.last_used_ms, api_key.revoked_ms, \
     api_key.model_privacy";
const KEY_COLUMN_COUNT: usize = 14;

pub(crate) fn add_owner(connection: &Connection, owner: &Owner) -> Result<(), WriteError> {
    let sql = "INSERT INTO owner (id, kind, name, tier, created_ms) VALUES (?1, ?2, ?3, ?4, ?5)";
    connection.prepare_cached(sql)?.execute(params![
        owner.id.0.as_bytes(),
        owner.kind.name(),
        owner.name,
        owner.tier,
        owner.created.ms()
    ])?;
    Ok(())
}

pub(crate) fn set_tier(
    connection: &Connection,
    owner: OwnerId,
    tier: &str,
) -> Result<(), WriteError> {
    let sql = "UPDATE owner SET tier = ?2 WHERE id = ?1";
    let changed = connection.prepare_cached(sql)?.execute(params![owner.0.as_bytes(), tier])?;
    expect_one_row(changed, "there is no such owner")
}

pub(crate) fn set_frozen(
    connection: &Connection,
    owner: OwnerId,
    since: Option<Timestamp>,
) -> Result<(), WriteError> {
    let since_ms = since.map(|since| since.ms());
    let sql = "UPDATE owner SET frozen_ms = ?2 WHERE id = ?1";
    let changed = connection.prepare_cached(sql)?.execute(params![owner.0.as_bytes(), since_ms])?;
    expect_one_row(changed, "there is no such owner")
}

/// Counts and adds in one step, so that two callers cannot both take the last slot.
pub(crate) fn add_key(
    connection: &Connection,
    key: &ApiKey,
    active_keys_max: usize,
) -> Result<(), WriteError> {
    let active: usize = connection
        .prepare_cached(
            "SELECT count(*) FROM api_key WHERE owner = ?1 AND revoked_ms IS NULL \
             AND (expires_ms IS NULL OR ?2 < expires_ms)",
        )?
        .query_row(params![key.owner.0.as_bytes(), key.created.ms()], |row| row.get(0))?;
    if active_keys_max <= active {
        return Err(WriteError::Refused(StoreError::TooMany { most: active_keys_max }));
    }
    let sql = "INSERT INTO api_key (id, owner, digest, last6, kind, description, limit_usd, \
               limit_diem, limit_period, expires_ms, created_ms, last_used_ms, revoked_ms, \
               limits_since_ms, model_privacy, is_operator) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?11, ?14, ?15)";
    connection.prepare_cached(sql)?.execute(params![
        key.id.0.as_bytes(),
        key.owner.0.as_bytes(),
        key.digest.0,
        key.last6,
        key.stored_kind(),
        key.settings.description,
        key.settings.limit_usd.map(|limit| limit.nanos()),
        key.settings.limit_diem.map(|limit| limit.nanos()),
        key.settings.limit_period.name(),
        key.settings.expires.map(|expires| expires.ms()),
        key.created.ms(),
        key.last_used.map(|used| used.ms()),
        key.revoked.map(|revoked| revoked.ms()),
        key.settings.model_privacy.name(),
        key.kind == KeyKind::Operator,
    ])?;
    Ok(())
}

pub(crate) fn change_key(
    connection: &Connection,
    owner: OwnerId,
    key: KeyId,
    settings: &KeySettings,
    at_ms: i64,
) -> Result<(), WriteError> {
    let sql = "UPDATE api_key SET description = ?3, limit_usd = ?4, limit_diem = ?5, \
               limit_period = ?6, expires_ms = ?7, model_privacy = ?9, \
               limits_since_ms = CASE WHEN limit_usd IS ?4 AND limit_diem IS ?5 \
                   AND limit_period = ?6 THEN limits_since_ms ELSE ?8 END \
               WHERE id = ?2 AND owner = ?1 AND revoked_ms IS NULL";
    let changed = connection.prepare_cached(sql)?.execute(params![
        owner.0.as_bytes(),
        key.0.as_bytes(),
        settings.description,
        settings.limit_usd.map(|limit| limit.nanos()),
        settings.limit_diem.map(|limit| limit.nanos()),
        settings.limit_period.name(),
        settings.expires.map(|expires| expires.ms()),
        at_ms,
        settings.model_privacy.name(),
    ])?;
    expect_one_row(changed, "the owner has no such key")
}

pub(crate) fn revoke_key(
    connection: &Connection,
    owner: OwnerId,
    key: KeyId,
    at_ms: i64,
) -> Result<(), WriteError> {
    let sql = "UPDATE api_key SET revoked_ms = ?3 \
               WHERE id = ?2 AND owner = ?1 AND revoked_ms IS NULL";
    let changed = connection.prepare_cached(sql)?.execute(params![
        owner.0.as_bytes(),
        key.0.as_bytes(),
        at_ms
    ])?;
    expect_one_row(changed, "the owner has no such key")
}

pub(crate) fn move_key(
    connection: &Connection,
    key: KeyId,
    from: &SecretDigest,
    to: &SecretDigest,
) -> Result<(), WriteError> {
    let sql = "UPDATE api_key SET digest = ?3 WHERE id = ?1 AND digest = ?2";
    let moved = connection.prepare_cached(sql)?.execute(params![key.0.as_bytes(), from.0, to.0])?;
    expect_one_row(moved, "no key has this digest")
}

pub(crate) fn touch_key(connection: &Connection, key: KeyId, at_ms: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE api_key SET last_used_ms = max(coalesce(last_used_ms, 0), ?2) WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![key.0.as_bytes(), at_ms])?;
    Ok(())
}

pub(crate) fn add_limit_hit(connection: &Connection, hit: &LimitHit) -> Result<(), WriteError> {
    let sql = "INSERT INTO limit_hit (owner, key, model, tier, kind, at_ms) \
               SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM owner WHERE id = ?1)";
    connection.prepare_cached(sql)?.execute(params![
        hit.owner.0.as_bytes(),
        hit.key.map(|key| key.0.into_bytes()),
        hit.model,
        hit.tier,
        hit.kind,
        hit.at.ms()
    ])?;
    let sql = "DELETE FROM limit_hit WHERE owner = ?1 AND seq <= \
               (SELECT seq FROM limit_hit WHERE owner = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)";
    connection.prepare_cached(sql)?.execute(params![hit.owner.0.as_bytes(), LIMIT_HITS_KEPT])?;
    Ok(())
}

/// Adds a setting; an existing one is a duplicate.
pub(crate) fn add_setting(
    connection: &Connection,
    name: &str,
    value: &[u8],
) -> Result<(), WriteError> {
    let sql = "INSERT INTO setting (name, value) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![name, value])?;
    Ok(())
}

pub(crate) fn put_setting(
    connection: &Connection,
    name: &str,
    value: &[u8],
) -> Result<(), WriteError> {
    let sql = "INSERT INTO setting (name, value) VALUES (?1, ?2) \
               ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    connection.prepare_cached(sql)?.execute(params![name, value])?;
    Ok(())
}

pub(crate) fn read_owner(connection: &Connection, id: OwnerId) -> rusqlite::Result<Option<Owner>> {
    let sql = format!("SELECT {OWNER_COLUMNS} FROM owner WHERE id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row([id.0.as_bytes()], |row| owner_at(row, 0)).optional()
}

pub(crate) fn find_owner(
    connection: &Connection,
    kind: OwnerKind,
    name: &str,
) -> rusqlite::Result<Option<Owner>> {
    let sql = format!("SELECT {OWNER_COLUMNS} FROM owner WHERE kind = ?1 AND name = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_row([kind.name(), name], |row| owner_at(row, 0)).optional()?;
    if found.is_some() || kind == OwnerKind::Account {
        return Ok(found);
    }
    let sql = format!(
        "SELECT {OWNER_COLUMNS} FROM wallet_link JOIN owner ON owner.id = wallet_link.owner \
         WHERE wallet_link.kind = ?1 AND address = ?2"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row([kind.name(), name], |row| owner_at(row, 0)).optional()
}

pub(crate) fn list_owners(
    connection: &Connection,
    kind: OwnerKind,
    after: &str,
    limit: usize,
) -> rusqlite::Result<Vec<Owner>> {
    let sql = format!(
        "SELECT {OWNER_COLUMNS} FROM owner WHERE kind = ?1 AND ?2 < name ORDER BY name LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params![kind.name(), after, limit], |row| owner_at(row, 0))?.collect()
}

pub(crate) fn find_key(
    connection: &Connection,
    digest: &SecretDigest,
) -> rusqlite::Result<Option<(ApiKey, Owner)>> {
    let sql = format!(
        "SELECT {KEY_COLUMNS}, {OWNER_COLUMNS} FROM api_key JOIN owner ON owner.id = api_key.owner \
         WHERE digest = ?1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found = |row: &Row<'_>| Ok((key_at(row)?, owner_at(row, KEY_COLUMN_COUNT)?));
    statement.query_row([digest.0], found).optional()
}

pub(crate) fn read_key(
    connection: &Connection,
    owner: OwnerId,
    key: KeyId,
) -> rusqlite::Result<Option<ApiKey>> {
    let sql = format!("SELECT {KEY_COLUMNS} FROM api_key WHERE id = ?2 AND owner = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row([owner.0.as_bytes(), key.0.as_bytes()], key_at).optional()
}

pub(crate) fn list_keys(connection: &Connection, owner: OwnerId) -> rusqlite::Result<Vec<ApiKey>> {
    let sql = format!(
        "SELECT {KEY_COLUMNS} FROM api_key WHERE owner = ?1 AND revoked_ms IS NULL \
         ORDER BY created_ms DESC, id DESC LIMIT ?2"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params![owner.0.as_bytes(), KEYS_LISTED_MAX], key_at)?.collect()
}

pub(crate) fn limit_hits(
    connection: &Connection,
    owner: OwnerId,
) -> rusqlite::Result<Vec<LimitHit>> {
    let sql = "SELECT owner, key, model, tier, kind, at_ms FROM limit_hit WHERE owner = ?1 \
               ORDER BY seq DESC LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let hits = statement.query_map(params![owner.0.as_bytes(), LIMIT_HITS_KEPT], |row| {
        Ok(LimitHit {
            owner: read_id(row, 0).map(OwnerId)?,
            key: read_optional_id(row, 1)?.map(KeyId),
            model: row.get(2)?,
            tier: row.get(3)?,
            kind: row.get(4)?,
            at: read_time(row, 5)?,
        })
    })?;
    hits.collect()
}

pub(crate) fn read_setting(
    connection: &Connection,
    name: &str,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached("SELECT value FROM setting WHERE name = ?1")?;
    statement.query_row([name], |row| row.get(0)).optional()
}

fn owner_at(row: &Row<'_>, first: usize) -> rusqlite::Result<Owner> {
    Ok(Owner {
        id: read_id(row, first).map(OwnerId)?,
        kind: read_parsed(row, first + 1, OwnerKind::parse)?,
        name: row.get(first + 2)?,
        tier: row.get(first + 3)?,
        created: read_time(row, first + 4)?,
        frozen: read_optional_time(row, first + 5)?,
    })
}

fn key_at(row: &Row<'_>) -> rusqlite::Result<ApiKey> {
    Ok(ApiKey {
        id: read_id(row, 0).map(KeyId)?,
        owner: read_id(row, 1).map(OwnerId)?,
        digest: SecretDigest(row.get(2)?),
        last6: row.get(3)?,
        kind: read_parsed(row, 4, KeyKind::parse)?,
        settings: KeySettings {
            description: row.get(5)?,
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

fn expect_one_row(changed: usize, missing: &'static str) -> Result<(), WriteError> {
    if changed == 1 { Ok(()) } else { Err(WriteError::Refused(StoreError::Missing(missing))) }
}

/// See [`StoreWrite::MendTime`](crate::write::StoreWrite::MendTime).
pub(crate) fn reset_time(connection: &Connection, at: Timestamp) -> Result<(), WriteError> {
    let periods = [
        ("UPDATE key_spend SET day = ?1, day_spent = 0 WHERE ?1 < day", at.unix_day()),
        ("UPDATE key_spend SET month = ?1, month_spent = 0 WHERE ?1 < month", at.unix_month()),
        (
            "UPDATE allowance SET opened_period = ?1 \
             WHERE kind = 'DIEM_DAILY' AND ?1 < opened_period",
            at.unix_day(),
        ),
        (
            "UPDATE allowance SET opened_period = ?1 \
             WHERE kind = 'BUNDLED_MONTHLY' AND ?1 < opened_period",
            at.unix_month(),
        ),
        // Changes made from now on come after it.
        ("UPDATE allowance_change SET at_ms = ?1 WHERE ?1 < at_ms", at.ms()),
    ];
    for (sql, present) in periods {
        connection.execute(sql, [present])?;
    }
    Ok(())
}
