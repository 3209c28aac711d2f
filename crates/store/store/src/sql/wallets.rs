//! Nonces and links of wallets.

use ledger_core::OwnerId;
use moment::Timestamp;

use crate::error::StoreError;
use crate::owner::{Owner, OwnerKind};
use crate::sql::owners::owner_values;
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{SqlPosting, SqlText};
use crate::wallet::{UsedNonce, WalletLink};

pub(crate) const LIST_LINKS: SqlText = shared_sql!(
    "SELECT address, owner, at_ms FROM wallet_link WHERE kind = $1 AND $2 < address \
     ORDER BY address LIMIT $3"
);

/// The primary key refuses a nonce that was used before.
const USE_NONCE: SqlText =
    shared_sql!("INSERT INTO wallet_nonce (wallet, nonce, until_ms) VALUES ($1, $2, $3)");

const DROP_NONCES: SqlText = shared_sql!(
    "DELETE FROM wallet_nonce WHERE (wallet, nonce) IN \
     (SELECT wallet, nonce FROM wallet_nonce WHERE until_ms <= $1 ORDER BY until_ms LIMIT $2 \
     FOR UPDATE SKIP LOCKED)"
);

/// Linking a wallet and creating an owner row for it exclude each other: both take this lock, and
/// each checks for a row of the other.
const LOCK_WALLET: SqlText = SqlText {
    sqlite: "",
    postgres: "SELECT pg_advisory_xact_lock(hashtextextended($1::text || ':' || $2::text, 7))",
};

const IS_NOT_LINKED: SqlText = shared_sql!(
    "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM wallet_link \
     WHERE kind = $1 AND address = $2 AND owner <> $3)"
);

const ENSURE_OWNER: SqlText = shared_sql!(
    "INSERT INTO owner (id, kind, name, tier, created_ms) VALUES ($1, $2, $3, $4, $5) \
     ON CONFLICT DO NOTHING"
);

const LINK: SqlText = shared_sql!(
    "INSERT INTO wallet_link (kind, address, owner, at_ms) SELECT $1, $2, $3, $4 \
     WHERE NOT EXISTS (SELECT 1 FROM owner WHERE kind = $1 AND name = $2)"
);

const UNLINK: SqlText =
    shared_sql!("DELETE FROM wallet_link WHERE kind = $1 AND address = $2 AND owner = $3");

pub(crate) fn use_nonce<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    UsedNonce { wallet, nonce, until }: &'a UsedNonce,
) -> Result<(), P::Error> {
    posting.run(USE_NONCE, sql_values![wallet, nonce, *until])
}

pub(crate) fn drop_expired_nonces<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    now: Timestamp,
    rows_max: usize,
) -> Result<(), P::Error> {
    posting.run(DROP_NONCES, sql_values![now, rows_max])
}

/// Adds an owner unless it exists. Refused for a wallet that was linked to an account meanwhile:
/// the caller must look up the owner again.
pub(crate) fn ensure_owner<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    owner: &'a Owner,
) -> Result<(), P::Error> {
    let (kind, name) = (owner.kind.name(), &owner.name);
    if owner.kind != OwnerKind::Account {
        posting.run(LOCK_WALLET, sql_values![kind, name])?;
        let linked = StoreError::Missing("the wallet spends an account's balance");
        posting.run_one(IS_NOT_LINKED, sql_values![kind, name, owner.id], linked)?;
    }
    posting.run(ENSURE_OWNER, owner_values(owner))
}

/// Links a wallet. Refused if the wallet has its own owner row: linking would hide its balance.
pub(crate) fn link_wallet<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    link: &'a WalletLink,
) -> Result<(), P::Error> {
    let (kind, address) = (link.kind.name(), &link.address);
    posting.run(LOCK_WALLET, sql_values![kind, address])?;
    let taken = format!("the wallet {address} has a balance of its own");
    let values = sql_values![kind, address, link.owner, link.at];
    posting.run_one(LINK, values, StoreError::Duplicate(taken))
}

pub(crate) fn unlink_wallet<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    kind: OwnerKind,
    address: &'a str,
    owner: OwnerId,
) -> Result<(), P::Error> {
    let missing = StoreError::Missing("the wallet is not linked to this account");
    posting.run_one(UNLINK, sql_values![kind.name(), address, owner], missing)
}
