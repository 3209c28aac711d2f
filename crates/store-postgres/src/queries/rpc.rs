//! Queries for the JSON-RPC proxy: stored responses, sent transactions, spent credits.

use credits::OwnerId;
use moment::Timestamp;
use store::idempotency::{AnswerKey, Kept, KeptAnswer, headers_of};
use store::rpc::{QUARTER_MS, SENT_TRANSACTIONS_MAX, SentTransaction, SpentCredits};
use store::{RpcStore, StoreFuture};
use tokio_postgres::Row;

use crate::Postgres;
use crate::columns::{bytes, get, limit, text, time, unsigned};
use crate::error::PgError;
use crate::session::Session;

impl RpcStore for Postgres {
    fn kept_answer(&self, key: AnswerKey) -> StoreFuture<'_, Kept> {
        self.ask_at_once(async move |db| kept_answer(&db, &key).await)
    }

    fn sent_transactions<'a>(&'a self, hash: &'a str) -> StoreFuture<'a, Vec<SentTransaction>> {
        self.ask_soon(async move |db| sent_transactions(&db, hash).await)
    }

    fn spent_credits(&self, since: Timestamp) -> StoreFuture<'_, Vec<SpentCredits>> {
        self.ask(async move |db| spent_credits(&db, since).await)
    }
}

async fn kept_answer(db: &Session, key: &AnswerKey) -> Result<Kept, PgError> {
    let sql = "SELECT fingerprint, headers, body, expires_ms FROM idempotency \
               WHERE owner = $1 AND key = $2";
    let found = db.row(sql, &[&key.owner.0, &text(&key.key)]).await?;
    let answer = found.map(|row| answer_at(&row)).transpose()?;
    let sql = "SELECT answers, bytes FROM idempotency_total WHERE owner = $1";
    Ok(match db.row(sql, &[&key.owner.0]).await? {
        Some(total) => Kept { answer, answers: unsigned(&total, 0)?, bytes: unsigned(&total, 1)? },
        None => Kept { answer, ..Kept::default() },
    })
}

fn answer_at(row: &Row) -> Result<KeptAnswer, PgError> {
    let headers: &str = get(row, 1)?;
    Ok(KeptAnswer {
        fingerprint: bytes(row, 0)?,
        headers: headers_of(headers),
        body: get(row, 2)?,
        expires: time(row, 3)?,
    })
}

async fn sent_transactions(db: &Session, hash: &str) -> Result<Vec<SentTransaction>, PgError> {
    let sql = "SELECT tx_hash, network, request_id, owner, at_ms FROM rpc_tx WHERE tx_hash = $1 \
               ORDER BY seq LIMIT $2";
    let rows = db.rows(sql, &[&text(hash), &limit(SENT_TRANSACTIONS_MAX)]).await?;
    let sent = |row| {
        Ok(SentTransaction {
            hash: get(row, 0)?,
            network: get(row, 1)?,
            request_id: get(row, 2)?,
            owner: OwnerId(get(row, 3)?),
            at: time(row, 4)?,
        })
    };
    rows.iter().map(sent).collect()
}

async fn spent_credits(db: &Session, since: Timestamp) -> Result<Vec<SpentCredits>, PgError> {
    let sql = "SELECT owner, quarter * $2, credits FROM rpc_spent \
               WHERE $1 <= quarter * $2 ORDER BY quarter, owner";
    let rows = db.rows(sql, &[&since.ms(), &QUARTER_MS]).await?;
    let spent = |row| {
        let (owner, at) = (OwnerId(get(row, 0)?), time(row, 1)?);
        Ok(SpentCredits { owner, at, credits: unsigned(row, 2)? })
    };
    rows.iter().map(spent).collect()
}
