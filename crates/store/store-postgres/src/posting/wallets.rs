//! Statements for nonces and links of wallets.

use ledger_core::OwnerId;
use moment::Timestamp;
use store::error::StoreError;
use store::owner::{Owner, OwnerKind};
use store::wallet::{UsedNonce, WalletLink};

use crate::changes::ChangeNotice;
use crate::columns::{to_row_limit, to_sql_text};
use crate::posting::owners::owner_values;
use crate::statements::{SqlStatements, values};

/// Linking a wallet and creating an owner row for it exclude each other: both take this lock, and
/// each checks for a row of the other.
const LOCK_WALLET: &str =
    "SELECT pg_advisory_xact_lock(hashtextextended($1::text || ':' || $2::text, 7))";

const IS_NOT_LINKED: &str = "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM wallet_link \
    WHERE kind = $1 AND address = $2 AND owner <> $3)";

const ENSURE_OWNER: &str = "INSERT INTO owner (id, kind, name, tier, created_ms) \
    VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";

const LINK_WALLET: &str = "INSERT INTO wallet_link (kind, address, owner, at_ms) \
    SELECT $1, $2, $3, $4 WHERE NOT EXISTS (SELECT 1 FROM owner WHERE kind = $1 AND name = $2)";

const UNLINK_WALLET: &str =
    "DELETE FROM wallet_link WHERE kind = $1 AND address = $2 AND owner = $3";

const DROP_NONCES: &str = "DELETE FROM wallet_nonce WHERE (wallet, nonce) IN \
    (SELECT wallet, nonce FROM wallet_nonce WHERE until_ms <= $1 ORDER BY until_ms LIMIT $2 \
    FOR UPDATE SKIP LOCKED)";

/// Stores a nonce; the primary key refuses one that was used before.
pub(crate) fn use_nonce<'a>(statements: &mut SqlStatements<'a>, used: &'a UsedNonce) {
    let sql = "INSERT INTO wallet_nonce (wallet, nonce, until_ms) VALUES ($1, $2, $3)";
    statements
        .add(sql, values![to_sql_text(&used.wallet), to_sql_text(&used.nonce), used.until.ms()]);
}

pub(crate) fn drop_expired_nonces(
    statements: &mut SqlStatements<'_>,
    now: Timestamp,
    rows_max: usize,
) {
    statements.add(DROP_NONCES, values![now.ms(), to_row_limit(rows_max)]);
}

/// Adds an owner unless it exists. Refused for a wallet that was linked to an account meanwhile:
/// the caller must look up the owner again.
pub(crate) fn ensure_owner<'a>(statements: &mut SqlStatements<'a>, owner: &'a Owner) {
    if owner.kind != OwnerKind::Account {
        lock_wallet(statements, owner.kind, &owner.name);
        let linked = StoreError::Missing("the wallet spends an account's balance");
        let values = values![owner.kind.name(), to_sql_text(&owner.name), owner.id.0];
        statements.add_one(IS_NOT_LINKED, values, linked);
    }
    statements.add(ENSURE_OWNER, owner_values(owner));
}

/// Links a wallet. Refused if the wallet has its own owner row: linking would hide its balance.
pub(crate) fn link_wallet<'a>(statements: &mut SqlStatements<'a>, link: &'a WalletLink) {
    lock_wallet(statements, link.kind, &link.address);
    let values = values![link.kind.name(), to_sql_text(&link.address), link.owner.0, link.at.ms()];
    let taken = format!("the wallet {} has a balance of its own", link.address);
    statements.add_one(LINK_WALLET, values, StoreError::Duplicate(taken));
    statements.notify(ChangeNotice::Owner(link.owner));
}

pub(crate) fn unlink_wallet<'a>(
    statements: &mut SqlStatements<'a>,
    kind: OwnerKind,
    address: &'a str,
    owner: OwnerId,
) {
    let missing = StoreError::Missing("the wallet is not linked to this account");
    statements.add_one(UNLINK_WALLET, values![kind.name(), to_sql_text(address), owner.0], missing);
    statements.notify(ChangeNotice::Owner(owner));
}

fn lock_wallet<'a>(statements: &mut SqlStatements<'a>, kind: OwnerKind, address: &'a str) {
    statements.add(LOCK_WALLET, values![kind.name(), to_sql_text(address)]);
}
