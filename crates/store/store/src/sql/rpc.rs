//! The JSON-RPC proxy: stored responses, sent transactions, spent credits.

use moment::Timestamp;

use crate::idempotency::{
    StoredResponse, StoredResponseKey, StoredResponseLookup, headers_of, headers_text,
};
use crate::rpc::{QUARTER_MS, SENT_TRANSACTIONS_MAX, SentTransaction, SpentCredits};
use crate::sql::connection::RowResult;
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{ReadMode, SqlPosting, SqlRow, SqlStore, SqlText};
use crate::{RpcStore, StoreFuture};

const FIND_RESPONSE: SqlText = shared_sql!(
    "SELECT fingerprint, headers, body, expires_ms FROM idempotency WHERE owner = $1 AND key = $2"
);

const READ_TOTAL: SqlText =
    shared_sql!("SELECT answers, bytes FROM idempotency_total WHERE owner = $1");

const FIND_SENT: SqlText = shared_sql!(
    "SELECT tx_hash, network, request_id, owner, at_ms FROM rpc_tx WHERE tx_hash = $1 \
     ORDER BY seq LIMIT $2"
);

const READ_SPENT: SqlText = shared_sql!(
    "SELECT owner, quarter * $2, credits FROM rpc_spent \
     WHERE $1 <= quarter * $2 ORDER BY quarter, owner"
);

const DROP_RESPONSE: SqlText = shared_sql!("DELETE FROM idempotency WHERE owner = $1 AND key = $2");

const ADD_RESPONSE: SqlText = shared_sql!(
    "INSERT INTO idempotency (owner, key, fingerprint, headers, body, expires_ms) \
     VALUES ($1, $2, $3, $4, $5, $6)"
);

const DROP_EXPIRED: SqlText = shared_sql!(
    "DELETE FROM idempotency WHERE (owner, key) IN \
     (SELECT owner, key FROM idempotency WHERE expires_ms <= $1 ORDER BY expires_ms LIMIT $2 \
     FOR UPDATE SKIP LOCKED)"
);

const ADD_SENT: SqlText = shared_sql!(
    "INSERT INTO rpc_tx (tx_hash, network, request_id, owner, at_ms) VALUES ($1, $2, $3, $4, $5)"
);

const NAME_SENT: SqlText = shared_sql!(
    "UPDATE rpc_tx SET tx_hash = $2 WHERE seq = \
     (SELECT seq FROM rpc_tx WHERE request_id = $1 AND tx_hash IS NULL ORDER BY seq LIMIT 1)"
);

impl<S: SqlStore> RpcStore for S {
    fn find_stored_response(
        &self,
        key: StoredResponseKey,
    ) -> StoreFuture<'_, StoredResponseLookup> {
        self.read(ReadMode::SNAPSHOT, move |db| {
            Box::pin(async move {
                let values = sql_values![key.owner, &key.key];
                let answer = db.row(FIND_RESPONSE, &values, response_at).await?;
                let read = |row: &dyn SqlRow| Ok((row.get(0)?, row.get(1)?));
                let total = db.row(READ_TOTAL, &sql_values![key.owner], read).await?;
                let (answers, bytes) = total.unwrap_or_default();
                Ok(StoredResponseLookup { answer, answers, bytes })
            })
        })
    }

    fn sent_transactions<'a>(&'a self, hash: &'a str) -> StoreFuture<'a, Vec<SentTransaction>> {
        let values = sql_values![hash.to_owned(), SENT_TRANSACTIONS_MAX];
        self.read_rows(ReadMode::LOOKUP, FIND_SENT, values, |row| {
            Ok(SentTransaction {
                hash: row.get(0)?,
                network: row.get(1)?,
                request_id: row.get(2)?,
                owner: row.get(3)?,
                at: row.get(4)?,
            })
        })
    }

    fn spent_credits(&self, since: Timestamp) -> StoreFuture<'_, Vec<SpentCredits>> {
        let values = sql_values![since, QUARTER_MS];
        self.read_rows(ReadMode::STATEMENT.with_charges(), READ_SPENT, values, |row| {
            Ok(SpentCredits { owner: row.get(0)?, at: row.get(1)?, credits: row.get(2)? })
        })
    }
}

/// Stores a response, replacing any under the same key, so that the charge it is written with is
/// never refused because of it. Deleted and not updated: triggers on insert and delete maintain the
/// totals.
pub(crate) fn write_stored_response<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    key: &'a StoredResponseKey,
    answer: &'a StoredResponse,
) -> Result<(), P::Error> {
    posting.run(DROP_RESPONSE, sql_values![key.owner, &key.key])?;
    let values = sql_values![
        key.owner,
        &key.key,
        &answer.fingerprint,
        headers_text(&answer.headers),
        &answer.body,
        answer.expires,
    ];
    posting.run(ADD_RESPONSE, values)
}

pub(crate) fn delete_expired_responses<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    now: Timestamp,
    rows_max: usize,
) -> Result<(), P::Error> {
    posting.run(DROP_EXPIRED, sql_values![now, rows_max])
}

pub(crate) fn add_sent_transaction<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    sent: &'a SentTransaction,
) -> Result<(), P::Error> {
    let SentTransaction { hash, network, request_id, owner, at } = sent;
    posting.run(ADD_SENT, sql_values![hash.as_ref(), network, request_id, *owner, *at])
}

pub(crate) fn name_transaction<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    request_id: &'a str,
    hash: &'a str,
) -> Result<(), P::Error> {
    posting.run(NAME_SENT, sql_values![request_id, hash])
}

fn response_at(row: &dyn SqlRow) -> RowResult<StoredResponse> {
    let headers: String = row.get(1)?;
    Ok(StoredResponse {
        fingerprint: row.get(0)?,
        headers: headers_of(&headers),
        body: row.get(2)?,
        expires: row.get(3)?,
    })
}
