//! Queries for the JSON-RPC proxy: stored responses, sent transactions, spent credits.

use ledger_core::OwnerId;
use moment::Timestamp;
use store::idempotency::{StoredResponse, StoredResponseKey, StoredResponseLookup, headers_of};
use store::rpc::{QUARTER_MS, SENT_TRANSACTIONS_MAX, SentTransaction, SpentCredits};
use store::{RpcStore, StoreFuture};
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::columns::{
    read_bytes, read_column, read_time, read_unsigned, to_row_limit, to_sql_text,
};
use crate::error::PgError;
use crate::session::PostgresSession;

impl RpcStore for PostgresStore {
    fn find_stored_response(
        &self,
        key: StoredResponseKey,
    ) -> StoreFuture<'_, StoredResponseLookup> {
        self.query_snapshot(async move |db| kept_answer(&db, &key).await)
    }

    fn sent_transactions<'a>(&'a self, hash: &'a str) -> StoreFuture<'a, Vec<SentTransaction>> {
        self.query_with_timeout(async move |db| sent_transactions(&db, hash).await)
    }

    fn spent_credits(&self, since: Timestamp) -> StoreFuture<'_, Vec<SpentCredits>> {
        self.query(async move |db| spent_credits(&db, since).await)
    }
}

async fn kept_answer(
    db: &PostgresSession,
    key: &StoredResponseKey,
) -> Result<StoredResponseLookup, PgError> {
    let sql = "SELECT fingerprint, headers, body, expires_ms FROM idempotency \
               WHERE owner = $1 AND key = $2";
    let found = db.row(sql, &[&key.owner.0, &to_sql_text(&key.key)]).await?;
    let answer = found.map(|row| answer_at(&row)).transpose()?;
    let sql = "SELECT answers, bytes FROM idempotency_total WHERE owner = $1";
    Ok(match db.row(sql, &[&key.owner.0]).await? {
        Some(total) => StoredResponseLookup {
            answer,
            answers: read_unsigned(&total, 0)?,
            bytes: read_unsigned(&total, 1)?,
        },
        None => StoredResponseLookup { answer, ..StoredResponseLookup::default() },
    })
}

fn answer_at(row: &Row) -> Result<StoredResponse, PgError> {
    let headers: &str = read_column(row, 1)?;
    Ok(StoredResponse {
        fingerprint: read_bytes(row, 0)?,
        headers: headers_of(headers),
        body: read_column(row, 2)?,
        expires: read_time(row, 3)?,
    })
}

async fn sent_transactions(
    db: &PostgresSession,
    hash: &str,
) -> Result<Vec<SentTransaction>, PgError> {
    let sql = "SELECT tx_hash, network, request_id, owner, at_ms FROM rpc_tx WHERE tx_hash = $1 \
               ORDER BY seq LIMIT $2";
    let rows = db.rows(sql, &[&to_sql_text(hash), &to_row_limit(SENT_TRANSACTIONS_MAX)]).await?;
    let sent = |row| {
        Ok(SentTransaction {
            hash: read_column(row, 0)?,
            network: read_column(row, 1)?,
            request_id: read_column(row, 2)?,
            owner: OwnerId(read_column(row, 3)?),
            at: read_time(row, 4)?,
        })
    };
    rows.iter().map(sent).collect()
}

async fn spent_credits(
    db: &PostgresSession,
    since: Timestamp,
) -> Result<Vec<SpentCredits>, PgError> {
    let sql = "SELECT owner, quarter * $2, credits FROM rpc_spent \
               WHERE $1 <= quarter * $2 ORDER BY quarter, owner";
    let rows = db.rows(sql, &[&since.ms(), &QUARTER_MS]).await?;
    let spent = |row| {
        let (owner, at) = (OwnerId(read_column(row, 0)?), read_time(row, 1)?);
        Ok(SpentCredits { owner, at, credits: read_unsigned(row, 2)? })
    };
    rows.iter().map(spent).collect()
}
