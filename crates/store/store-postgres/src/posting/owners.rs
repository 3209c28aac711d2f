//! Statements for owners, their keys, settings, refusals by rate limits, the audit trail, and the
//! pruning of usage.

use domain::access::KeyKind;
use domain::secret::SecretDigest;
use ledger_core::{KeyId, OwnerId};
use moment::Timestamp;
use store::audit::AuditEntry;
use store::error::StoreError;
use store::key::{ApiKey, KeySettings};
use store::limit_hit::{LIMIT_HITS_KEPT, LimitHit};
use store::owner::Owner;
use store::usage::PRUNED_BEFORE_DAY;

use crate::changes::ChangeNotice;
use crate::columns::{to_row_limit, to_sql_text};
use crate::statements::{SqlStatements, values};

const NO_OWNER: StoreError = StoreError::Missing("there is no such owner");
const NO_KEY: StoreError = StoreError::Missing("the owner has no such key");

/// Locks the owner, so that two nodes that add keys to it run one after the other.
const LOCK_OWNER: &str = "SELECT 1 FROM owner WHERE id = $1 FOR NO KEY UPDATE";

/// Counts and adds in one step, so that two callers cannot both take the last slot.
const ADD_KEY: &str = "INSERT INTO api_key (id, owner, digest, last6, kind, description, \
    limit_usd, limit_diem, limit_period, expires_ms, created_ms, last_used_ms, revoked_ms, \
    limits_since_ms, model_privacy, is_operator) \
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $11, $14, $16 \
    WHERE (SELECT count(*) FROM api_key WHERE owner = $2 AND revoked_ms IS NULL \
    AND (expires_ms IS NULL OR $11 < expires_ms)) < $15";

const CHANGE_KEY: &str = "UPDATE api_key SET description = $3, limit_usd = $4, limit_diem = $5, \
    limit_period = $6, expires_ms = $7, model_privacy = $9, \
    limits_since_ms = CASE WHEN limit_usd IS NOT DISTINCT FROM $4 \
    AND limit_diem IS NOT DISTINCT FROM $5 AND limit_period = $6 THEN limits_since_ms ELSE $8 END \
    WHERE id = $2 AND owner = $1 AND revoked_ms IS NULL";

const REVOKE_KEY: &str = "UPDATE api_key SET revoked_ms = $3 \
    WHERE id = $2 AND owner = $1 AND revoked_ms IS NULL";

/// Skipped for an owner that does not exist.
const ADD_LIMIT_HIT: &str = "INSERT INTO limit_hit (owner, key, model, tier, kind, at_ms) \
    SELECT id, $2, $3, $4, $5, $6 FROM owner WHERE id = $1";

const DROP_LIMIT_HITS: &str = "DELETE FROM limit_hit WHERE owner = $1 AND seq <= \
    (SELECT seq FROM limit_hit WHERE owner = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2)";

const ADD_SETTING: &str = "INSERT INTO setting (name, value) VALUES ($1, $2)";

const PUT_SETTING: &str = "INSERT INTO setting (name, value) VALUES ($1, $2) \
    ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// Deletes the oldest rows, which have about the lowest sequence numbers.
const PRUNE_USAGE: &str = "DELETE FROM usage WHERE seq IN (SELECT seq FROM \
    (SELECT seq, at_ms FROM usage ORDER BY seq LIMIT $2) AS oldest WHERE at_ms < $1)";

pub(crate) fn add_owner<'a>(statements: &mut SqlStatements<'a>, owner: &'a Owner) {
    let sql = "INSERT INTO owner (id, kind, name, tier, created_ms) VALUES ($1, $2, $3, $4, $5)";
    statements.add(sql, owner_values(owner));
    statements.notify(ChangeNotice::Owner(owner.id));
}

pub(crate) fn owner_values(owner: &Owner) -> Vec<crate::statements::Value<'_>> {
    values![
        owner.id.0,
        owner.kind.name(),
        to_sql_text(&owner.name),
        to_sql_text(&owner.tier),
        owner.created.ms(),
    ]
}

pub(crate) fn set_tier<'a>(statements: &mut SqlStatements<'a>, owner: OwnerId, tier: &'a str) {
    let sql = "UPDATE owner SET tier = $2 WHERE id = $1";
    statements.add_one(sql, values![owner.0, to_sql_text(tier)], NO_OWNER);
    statements.notify(ChangeNotice::Owner(owner));
}

pub(crate) fn set_frozen(
    statements: &mut SqlStatements<'_>,
    owner: OwnerId,
    since: Option<Timestamp>,
) {
    let since_ms = since.map(|since| since.ms());
    let sql = "UPDATE owner SET frozen_ms = $2 WHERE id = $1";
    statements.add_one(sql, values![owner.0, since_ms], NO_OWNER);
    statements.notify(ChangeNotice::Owner(owner));
}

pub(crate) fn add_key<'a>(
    statements: &mut SqlStatements<'a>,
    key: &'a ApiKey,
    active_keys_max: usize,
) {
    statements.add(LOCK_OWNER, values![key.owner.0]);
    let values = values![
        key.id.0,
        key.owner.0,
        key.digest.0.as_slice(),
        to_sql_text(&key.last6),
        key.stored_kind(),
        to_sql_text(&key.settings.description),
        key.settings.limit_usd.map(|limit| limit.nanos()),
        key.settings.limit_diem.map(|limit| limit.nanos()),
        key.settings.limit_period.name(),
        key.settings.expires.map(Timestamp::ms),
        key.created.ms(),
        key.last_used.map(Timestamp::ms),
        key.revoked.map(Timestamp::ms),
        key.settings.model_privacy.name(),
        to_row_limit(active_keys_max),
        key.kind == KeyKind::Operator,
    ];
    statements.add_one(ADD_KEY, values, StoreError::TooMany { most: active_keys_max });
    statements.notify(ChangeNotice::Key(key.id));
}

pub(crate) fn change_key<'a>(
    statements: &mut SqlStatements<'a>,
    owner: OwnerId,
    key: KeyId,
    settings: &'a KeySettings,
    at_ms: i64,
) {
    let values = values![
        owner.0,
        key.0,
        to_sql_text(&settings.description),
        settings.limit_usd.map(|limit| limit.nanos()),
        settings.limit_diem.map(|limit| limit.nanos()),
        settings.limit_period.name(),
        settings.expires.map(Timestamp::ms),
        at_ms,
        settings.model_privacy.name(),
    ];
    statements.add_one(CHANGE_KEY, values, NO_KEY);
    statements.notify(ChangeNotice::Key(key));
}

pub(crate) fn revoke_key(
    statements: &mut SqlStatements<'_>,
    owner: OwnerId,
    key: KeyId,
    at_ms: i64,
) {
    statements.add_one(REVOKE_KEY, values![owner.0, key.0, at_ms], NO_KEY);
    statements.notify(ChangeNotice::Key(key));
}

/// Replaces the digest. Notifies other nodes, which cache keys by digest.
pub(crate) fn move_key<'a>(
    statements: &mut SqlStatements<'a>,
    key: KeyId,
    from: &'a SecretDigest,
    to: &'a SecretDigest,
) {
    let sql = "UPDATE api_key SET digest = $3 WHERE id = $1 AND digest = $2";
    let values = values![key.0, from.0.as_slice(), to.0.as_slice()];
    statements.add_one(sql, values, StoreError::Missing("no key has this digest"));
    statements.notify(ChangeNotice::Key(key));
}

pub(crate) fn add_limit_hit<'a>(statements: &mut SqlStatements<'a>, hit: &'a LimitHit) {
    let values = values![
        hit.owner.0,
        hit.key.map(|key| key.0),
        to_sql_text(&hit.model),
        to_sql_text(&hit.tier),
        to_sql_text(&hit.kind),
        hit.at.ms(),
    ];
    statements.add(ADD_LIMIT_HIT, values);
    statements.add(DROP_LIMIT_HITS, values![hit.owner.0, to_row_limit(LIMIT_HITS_KEPT)]);
}

/// Adds a setting; an existing one is a duplicate.
pub(crate) fn add_setting<'a>(statements: &mut SqlStatements<'a>, name: &'a str, value: &'a [u8]) {
    statements.add(ADD_SETTING, values![to_sql_text(name), value]);
    statements.notify(ChangeNotice::Settings);
}

pub(crate) fn put_setting<'a>(statements: &mut SqlStatements<'a>, name: &'a str, value: &'a [u8]) {
    statements.add(PUT_SETTING, values![to_sql_text(name), value]);
    statements.notify(ChangeNotice::Settings);
}

pub(crate) fn prune_usage(statements: &mut SqlStatements<'_>, before_day: i64, rows_max: usize) {
    statements.add(PUT_SETTING, values![PRUNED_BEFORE_DAY, before_day.to_le_bytes().to_vec()]);
    let before_ms = Timestamp::start_of_day(before_day).ms();
    statements.add(PRUNE_USAGE, values![before_ms, to_row_limit(rows_max)]);
}

pub(crate) fn add_audit<'a>(statements: &mut SqlStatements<'a>, entry: &'a AuditEntry) {
    let sql = "INSERT INTO audit (at_ms, actor, action, subject, detail) \
               VALUES ($1, $2, $3, $4, $5)";
    let AuditEntry { at, actor, action, subject, detail } = entry;
    let values = values![
        at.ms(),
        to_sql_text(actor),
        to_sql_text(action),
        to_sql_text(subject),
        to_sql_text(detail)
    ];
    statements.add(sql, values);
}

/// See [`StoreWrite::MendTime`](store::write::Write::MendTime).
pub(crate) fn mend_time(statements: &mut SqlStatements<'_>, at: Timestamp) {
    let periods = [
        ("UPDATE key_spend SET day = $1, day_spent = 0 WHERE $1 < day", at.unix_day()),
        ("UPDATE key_spend SET month = $1, month_spent = 0 WHERE $1 < month", at.unix_month()),
        (
            "UPDATE allowance SET opened_period = $1 \
             WHERE kind = 'DIEM_DAILY' AND $1 < opened_period",
            at.unix_day(),
        ),
        (
            "UPDATE allowance SET opened_period = $1 \
             WHERE kind = 'BUNDLED_MONTHLY' AND $1 < opened_period",
            at.unix_month(),
        ),
        // Changes made from now on come after it.
        ("UPDATE allowance_change SET at_ms = $1 WHERE $1 < at_ms", at.ms()),
    ];
    for (sql, present) in periods {
        statements.add(sql, values![present]);
    }
}
