//! Reads and writes the rows of the JSON-RPC proxy.

use ledger_core::OwnerId;
use moment::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::idempotency::{
    StoredResponse, StoredResponseKey, StoredResponseLookup, headers_of, headers_text,
};
use crate::rpc::{
    QUARTER_MS, SENT_TRANSACTIONS_MAX, SPENT_QUARTERS_KEPT, SentTransaction, SpentCredits,
};
use crate::sqlite::columns::{read_id, read_time};
use crate::sqlite::write_error::WriteError;
use crate::sums::QuarterKey;

/// Stores a response, replacing any under the same key, so that the charge it is written with is
/// never refused because of it.
pub(crate) fn write_stored_response(
    connection: &Connection,
    key: &StoredResponseKey,
    answer: &StoredResponse,
) -> Result<(), WriteError> {
    let owner = key.owner.0.as_bytes();
    // Deleted and not updated: triggers on insert and delete maintain the totals.
    let remove = "DELETE FROM idempotency WHERE owner = ?1 AND key = ?2";
    connection.prepare_cached(remove)?.execute(params![owner, key.key])?;
    let add = "INSERT INTO idempotency (owner, key, fingerprint, headers, body, expires_ms) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    connection.prepare_cached(add)?.execute(params![
        owner,
        key.key,
        answer.fingerprint,
        headers_text(&answer.headers),
        answer.body,
        answer.expires.ms()
    ])?;
    Ok(())
}

pub(crate) fn delete_expired_responses(
    connection: &Connection,
    now: Timestamp,
    rows_max: usize,
) -> Result<(), WriteError> {
    let sql = "DELETE FROM idempotency WHERE rowid IN \
               (SELECT rowid FROM idempotency WHERE expires_ms <= ?1 ORDER BY expires_ms LIMIT ?2)";
    connection.prepare_cached(sql)?.execute(params![now.ms(), rows_max])?;
    Ok(())
}

pub(crate) fn add_sent_transaction(
    connection: &Connection,
    sent: &SentTransaction,
) -> Result<(), WriteError> {
    let sql = "INSERT INTO rpc_tx (tx_hash, network, request_id, owner, at_ms) \
               VALUES (?1, ?2, ?3, ?4, ?5)";
    connection.prepare_cached(sql)?.execute(params![
        sent.hash,
        sent.network,
        sent.request_id,
        sent.owner.0.as_bytes(),
        sent.at.ms()
    ])?;
    Ok(())
}

pub(crate) fn name_transaction(
    connection: &Connection,
    request_id: &str,
    hash: &str,
) -> Result<(), WriteError> {
    let sql = "UPDATE rpc_tx SET tx_hash = ?2 WHERE seq = \
               (SELECT min(seq) FROM rpc_tx WHERE request_id = ?1 AND tx_hash IS NULL)";
    connection.prepare_cached(sql)?.execute([request_id, hash])?;
    Ok(())
}

pub(crate) fn find_stored_response(
    connection: &Connection,
    key: &StoredResponseKey,
) -> rusqlite::Result<StoredResponseLookup> {
    let owner = key.owner.0.as_bytes();
    let sql = "SELECT fingerprint, headers, body, expires_ms FROM idempotency \
               WHERE owner = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let answer = statement.query_row(params![owner, key.key], response_at).optional()?;
    let sql = "SELECT answers, bytes FROM idempotency_total WHERE owner = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let total = statement.query_row([owner], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (answers, bytes) = total.unwrap_or_default();
    Ok(StoredResponseLookup { answer, answers, bytes })
}

pub(crate) fn sent_transactions(
    connection: &Connection,
    hash: &str,
) -> rusqlite::Result<Vec<SentTransaction>> {
    let sql = "SELECT tx_hash, network, request_id, owner, at_ms FROM rpc_tx WHERE tx_hash = ?1 \
               ORDER BY seq LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![hash, SENT_TRANSACTIONS_MAX], |row| {
        Ok(SentTransaction {
            hash: row.get(0)?,
            network: row.get(1)?,
            request_id: row.get(2)?,
            owner: read_id(row, 3).map(OwnerId)?,
            at: read_time(row, 4)?,
        })
    })?;
    rows.collect()
}

/// Adds to the credits of an owner in a quarter of an hour.
pub(crate) fn add_spent(
    connection: &Connection,
    QuarterKey { quarter, owner }: QuarterKey,
    credits: i64,
) -> Result<(), WriteError> {
    let sql = "INSERT INTO rpc_spent (quarter, owner, credits) VALUES (?1, ?2, ?3) \
               ON CONFLICT (quarter, owner) DO UPDATE SET credits = credits + excluded.credits";
    connection.prepare_cached(sql)?.execute(params![quarter, owner.0.as_bytes(), credits])?;
    Ok(())
}

/// Deletes quarters that are too old to be queried.
pub(crate) fn drop_old_spent(connection: &Connection, newest: i64) -> Result<(), WriteError> {
    let sql = "DELETE FROM rpc_spent WHERE quarter < ?1";
    connection.prepare_cached(sql)?.execute([newest.saturating_sub(SPENT_QUARTERS_KEPT)])?;
    Ok(())
}

pub(crate) fn spent_credits(
    connection: &Connection,
    since: Timestamp,
) -> rusqlite::Result<Vec<SpentCredits>> {
    let sql = "SELECT owner, quarter * ?2, credits FROM rpc_spent \
               WHERE ?1 <= quarter * ?2 ORDER BY quarter, owner";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![since.ms(), QUARTER_MS], |row| {
        Ok(SpentCredits {
            owner: read_id(row, 0).map(OwnerId)?,
            at: read_time(row, 1)?,
            credits: row.get(2)?,
        })
    })?;
    rows.collect()
}

fn response_at(row: &Row<'_>) -> rusqlite::Result<StoredResponse> {
    let headers: String = row.get(1)?;
    Ok(StoredResponse {
        fingerprint: row.get(0)?,
        headers: headers_of(&headers),
        body: row.get(2)?,
        expires: read_time(row, 3)?,
    })
}
