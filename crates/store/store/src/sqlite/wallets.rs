//! Reads and writes the rows of nonces and wallet links.

use ledger_core::OwnerId;
use moment::Timestamp;
use rusqlite::{Connection, Row, params};

use crate::error::StoreError;
use crate::owner::{Owner, OwnerKind};
use crate::sqlite::columns::{read_id, read_time};
use crate::sqlite::write_error::WriteError;
use crate::wallet::{UsedNonce, WalletLink};

/// Stores a nonce; the primary key refuses one that was used before.
pub(crate) fn use_nonce(connection: &Connection, used: &UsedNonce) -> Result<(), WriteError> {
    let sql = "INSERT INTO wallet_nonce (wallet, nonce, until_ms) VALUES (?1, ?2, ?3)";
    connection.prepare_cached(sql)?.execute(params![used.wallet, used.nonce, used.until.ms()])?;
    Ok(())
}

pub(crate) fn drop_expired_nonces(
    connection: &Connection,
    now: Timestamp,
    rows_max: usize,
) -> Result<(), WriteError> {
    let sql = "DELETE FROM wallet_nonce WHERE (wallet, nonce) IN \
               (SELECT wallet, nonce FROM wallet_nonce WHERE until_ms <= ?1 \
                ORDER BY until_ms LIMIT ?2)";
    connection.prepare_cached(sql)?.execute(params![now.ms(), rows_max])?;
    Ok(())
}

/// Adds an owner unless it exists. Refused for a wallet that was linked to an account meanwhile:
/// the caller must look up the owner again.
pub(crate) fn ensure_owner(connection: &Connection, owner: &Owner) -> Result<(), WriteError> {
    let linked = "SELECT EXISTS (SELECT 1 FROM wallet_link WHERE kind = ?1 AND address = ?2 \
                  AND owner <> ?3)";
    let key = params![owner.kind.name(), owner.name, owner.id.0.as_bytes()];
    if connection.prepare_cached(linked)?.query_row(key, |row| row.get(0))? {
        return Err(WriteError::Refused(StoreError::Missing(
            "the wallet spends an account's balance",
        )));
    }
    let sql = "INSERT INTO owner (id, kind, name, tier, created_ms) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT DO NOTHING";
    connection.prepare_cached(sql)?.execute(params![
        owner.id.0.as_bytes(),
        owner.kind.name(),
        owner.name,
        owner.tier,
        owner.created.ms()
    ])?;
    Ok(())
}

pub(crate) fn unlink_wallet(
    connection: &Connection,
    kind: OwnerKind,
    address: &str,
    owner: OwnerId,
) -> Result<(), WriteError> {
    let sql = "DELETE FROM wallet_link WHERE kind = ?1 AND address = ?2 AND owner = ?3";
    let removed = connection.prepare_cached(sql)?.execute(params![
        kind.name(),
        address,
        owner.0.as_bytes()
    ])?;
    if removed == 1 {
        return Ok(());
    }
    Err(WriteError::Refused(StoreError::Missing("the wallet is not linked to this account")))
}

/// Links a wallet. Refused if the wallet has its own owner row: linking would hide its balance.
pub(crate) fn link_wallet(connection: &Connection, link: &WalletLink) -> Result<(), WriteError> {
    let sql = "INSERT INTO wallet_link (kind, address, owner, at_ms) SELECT ?1, ?2, ?3, ?4 \
               WHERE NOT EXISTS (SELECT 1 FROM owner WHERE kind = ?1 AND name = ?2)";
    let added = connection.prepare_cached(sql)?.execute(params![
        link.kind.name(),
        link.address,
        link.owner.0.as_bytes(),
        link.at.ms()
    ])?;
    if added == 1 {
        return Ok(());
    }
    let duplicate = format!("the wallet {} has a balance of its own", link.address);
    Err(WriteError::Refused(StoreError::Duplicate(duplicate)))
}

pub(crate) fn list_links(
    connection: &Connection,
    kind: OwnerKind,
    after: &str,
    limit: usize,
) -> rusqlite::Result<Vec<WalletLink>> {
    let sql = "SELECT address, owner, at_ms FROM wallet_link WHERE kind = ?1 AND ?2 < address \
               ORDER BY address LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let link = |row: &Row<'_>| {
        let owner = read_id(row, 1).map(OwnerId)?;
        Ok(WalletLink { kind, address: row.get(0)?, owner, at: read_time(row, 2)? })
    };
    statement.query_map(params![kind.name(), after, limit], link)?.collect()
}
