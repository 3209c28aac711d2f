//! Keys of owners, and refusals by rate limits.

use domain::access::{KeyKind, ModelPrivacy};
use domain::secret::SecretDigest;
use ledger_core::{KeyId, LimitPeriod, OwnerId};

use crate::error::StoreError;
use crate::key::{ApiKey, KeySettings};
use crate::limit_hit::{LIMIT_HITS_KEPT, LimitHit};
use crate::owner::Owner;
use crate::sql::connection::RowResult;
use crate::sql::owners::{COLUMNS as OWNER_COLUMNS, owner_from};
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{SqlPosting, SqlRow, SqlText};

const COLUMNS: SqlText = SqlText::same(
    "api_key.id, api_key.owner, api_key.digest, api_key.last6, \
     CASE WHEN api_key.is_operator THEN 'OPERATOR' ELSE api_key.kind END, api_key.description, \
     api_key.limit_usd, api_key.limit_diem, api_key.limit_period, api_key.expires_ms, \
     api_key.created_ms, api_key.last_used_ms, api_key.revoked_ms, api_key.model_privacy",
);
const COLUMN_COUNT: usize = 14;

pub(crate) const FIND: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    ", ",
    OWNER_COLUMNS,
    " FROM api_key JOIN owner ON owner.id = api_key.owner WHERE digest = $1"
);

pub(crate) const READ: SqlText =
    shared_sql!("SELECT ", COLUMNS, " FROM api_key WHERE id = $2 AND owner = $1");

pub(crate) const LIST: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    " FROM api_key WHERE owner = $1 AND revoked_ms IS NULL \
     ORDER BY created_ms DESC, id DESC LIMIT $2"
);

pub(crate) const READ_LIMIT_HITS: SqlText = shared_sql!(
    "SELECT owner, key, model, tier, kind, at_ms FROM limit_hit WHERE owner = $1 \
     ORDER BY seq DESC LIMIT $2"
);

/// Two nodes that add keys to an owner run one after the other.
const LOCK_OWNER: SqlText =
    SqlText { sqlite: "", postgres: "SELECT 1 FROM owner WHERE id = $1 FOR NO KEY UPDATE" };

/// Counts and adds in one step, so that two callers cannot both take the last slot.
const ADD: SqlText = shared_sql!(
    "INSERT INTO api_key (id, owner, digest, last6, kind, description, limit_usd, limit_diem, \
     limit_period, expires_ms, created_ms, last_used_ms, revoked_ms, limits_since_ms, \
     model_privacy, is_operator) \
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $11, $14, $16 \
     WHERE (SELECT count(*) FROM api_key WHERE owner = $2 AND revoked_ms IS NULL \
     AND (expires_ms IS NULL OR $11 < expires_ms)) < $15"
);

const CHANGE: SqlText = shared_sql!(
    "UPDATE api_key SET description = $3, limit_usd = $4, limit_diem = $5, limit_period = $6, \
     expires_ms = $7, model_privacy = $9, \
     limits_since_ms = CASE WHEN limit_usd IS NOT DISTINCT FROM $4 \
     AND limit_diem IS NOT DISTINCT FROM $5 AND limit_period = $6 THEN limits_since_ms \
     ELSE $8 END WHERE id = $2 AND owner = $1 AND revoked_ms IS NULL"
);

const REVOKE: SqlText = shared_sql!(
    "UPDATE api_key SET revoked_ms = $3 WHERE id = $2 AND owner = $1 AND revoked_ms IS NULL"
);

const MOVE: SqlText = shared_sql!("UPDATE api_key SET digest = $3 WHERE id = $1 AND digest = $2");

/// Skipped for an owner that does not exist.
const ADD_LIMIT_HIT: SqlText = shared_sql!(
    "INSERT INTO limit_hit (owner, key, model, tier, kind, at_ms) \
     SELECT id, $2, $3, $4, $5, $6 FROM owner WHERE id = $1"
);

const DROP_LIMIT_HITS: SqlText = shared_sql!(
    "DELETE FROM limit_hit WHERE owner = $1 AND seq <= \
     (SELECT seq FROM limit_hit WHERE owner = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2)"
);

const NO_KEY: StoreError = StoreError::Missing("the owner has no such key");

pub(crate) fn add_key<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    key: &'a ApiKey,
    active_keys_max: usize,
) -> Result<(), P::Error> {
    posting.run(LOCK_OWNER, sql_values![key.owner])?;
    let values = sql_values![
        key.id,
        key.owner,
        key.digest,
        &key.last6,
        key.stored_kind(),
        &key.settings.description,
        key.settings.limit_usd,
        key.settings.limit_diem,
        key.settings.limit_period.name(),
        key.settings.expires,
        key.created,
        key.last_used,
        key.revoked,
        key.settings.model_privacy.name(),
        active_keys_max,
        key.kind == KeyKind::Operator,
    ];
    posting.run_one(ADD, values, StoreError::TooMany { most: active_keys_max })
}

/// A key of an owner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnedKey {
    pub(crate) owner: OwnerId,
    pub(crate) key: KeyId,
}

pub(crate) fn change_key<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    OwnedKey { owner, key }: OwnedKey,
    settings: &'a KeySettings,
    at_ms: i64,
) -> Result<(), P::Error> {
    let values = sql_values![
        owner,
        key,
        &settings.description,
        settings.limit_usd,
        settings.limit_diem,
        settings.limit_period.name(),
        settings.expires,
        at_ms,
        settings.model_privacy.name(),
    ];
    posting.run_one(CHANGE, values, NO_KEY)
}

pub(crate) fn revoke_key<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    OwnedKey { owner, key }: OwnedKey,
    at_ms: i64,
) -> Result<(), P::Error> {
    posting.run_one(REVOKE, sql_values![owner, key, at_ms], NO_KEY)
}

pub(crate) fn move_key<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    key: KeyId,
    from: &'a SecretDigest,
    to: &'a SecretDigest,
) -> Result<(), P::Error> {
    let missing = StoreError::Missing("no key has this digest");
    posting.run_one(MOVE, sql_values![key, &from.0, &to.0], missing)
}

pub(crate) fn add_limit_hit<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    hit: &'a LimitHit,
) -> Result<(), P::Error> {
    let LimitHit { owner, key, model, tier, kind, at } = hit;
    posting.run(ADD_LIMIT_HIT, sql_values![*owner, *key, model, tier, kind, *at])?;
    posting.run(DROP_LIMIT_HITS, sql_values![*owner, LIMIT_HITS_KEPT])
}

pub(crate) fn key_at(row: &dyn SqlRow) -> RowResult<ApiKey> {
    Ok(ApiKey {
        id: row.get(0)?,
        owner: row.get(1)?,
        digest: row.get(2)?,
        last6: row.get(3)?,
        kind: row.parse(4, KeyKind::parse)?,
        settings: KeySettings {
            description: row.get(5)?,
            limit_usd: row.get(6)?,
            limit_diem: row.get(7)?,
            limit_period: row.parse(8, LimitPeriod::from_name)?,
            expires: row.get(9)?,
            model_privacy: row.parse(13, ModelPrivacy::parse)?,
        },
        created: row.get(10)?,
        last_used: row.get(11)?,
        revoked: row.get(12)?,
    })
}

pub(crate) fn key_and_owner_at(row: &dyn SqlRow) -> RowResult<(ApiKey, Owner)> {
    Ok((key_at(row)?, owner_from(row, COLUMN_COUNT)?))
}

pub(crate) fn limit_hit_at(row: &dyn SqlRow) -> RowResult<LimitHit> {
    Ok(LimitHit {
        owner: row.get(0)?,
        key: row.get(1)?,
        model: row.get(2)?,
        tier: row.get(3)?,
        kind: row.get(4)?,
        at: row.get(5)?,
    })
}
