//! Nonces and links of wallets: the rows.

use moment::Timestamp;
use rusqlite::{Connection, params};

use crate::error::StoreError;
use crate::owner::Owner;
use crate::sqlite::writer::Fault;
use crate::wallet::{UsedNonce, WalletLink};

/// The primary key refuses what was used before.
pub(crate) fn use_nonce(connection: &Connection, used: &UsedNonce) -> Result<(), Fault> {
    let sql = "INSERT INTO wallet_nonce (wallet, nonce, until_ms) VALUES (?1, ?2, ?3)";
    connection.prepare_cached(sql)?.execute(params![used.wallet, used.nonce, used.until.ms()])?;
    Ok(())
}

pub(crate) fn drop_expired_nonces(
    connection: &Connection,
    now: Timestamp,
    rows_max: usize,
) -> Result<(), Fault> {
    let sql = "DELETE FROM wallet_nonce WHERE (wallet, nonce) IN \
               (SELECT wallet, nonce FROM wallet_nonce WHERE until_ms <= ?1 \
                ORDER BY until_ms LIMIT ?2)";
    connection.prepare_cached(sql)?.execute(params![now.ms(), rows_max])?;
    Ok(())
}

/// Adds an owner unless it is there, so that what comes with it is never refused for it.
pub(crate) fn ensure_owner(connection: &Connection, owner: &Owner) -> Result<(), Fault> {
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

/// A wallet with an owner of its own has, or had, money of its own: linking would hide it.
pub(crate) fn link_wallet(connection: &Connection, link: &WalletLink) -> Result<(), Fault> {
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
    Err(Fault::Refused(StoreError::Duplicate(duplicate)))
}
