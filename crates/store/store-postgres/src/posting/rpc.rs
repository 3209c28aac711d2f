//! Statements for the rows of the JSON-RPC proxy.

use moment::Timestamp;
use store::idempotency::{StoredResponse, StoredResponseKey, headers_text};
use store::rpc::SentTransaction;

use crate::columns::{to_optional_sql_text, to_row_limit, to_sql_text};
use crate::statements::{SqlStatements, values};

const DROP_ANSWER: &str = "DELETE FROM idempotency WHERE owner = $1 AND key = $2";

const ADD_ANSWER: &str = "INSERT INTO idempotency \
    (owner, key, fingerprint, headers, body, expires_ms) VALUES ($1, $2, $3, $4, $5, $6)";

const DROP_ANSWERS: &str = "DELETE FROM idempotency WHERE (owner, key) IN \
    (SELECT owner, key FROM idempotency WHERE expires_ms <= $1 ORDER BY expires_ms LIMIT $2 \
    FOR UPDATE SKIP LOCKED)";

const ADD_SENT: &str = "INSERT INTO rpc_tx (tx_hash, network, request_id, owner, at_ms) \
    VALUES ($1, $2, $3, $4, $5)";

const NAME_SENT: &str = "UPDATE rpc_tx SET tx_hash = $2 WHERE seq = \
    (SELECT seq FROM rpc_tx WHERE request_id = $1 AND tx_hash IS NULL ORDER BY seq LIMIT 1)";

/// Stores a response, replacing any under the same key, so that the charge it is written with is
/// never refused because of it. Deleted and not updated: triggers on insert and delete maintain the
/// totals.
pub(crate) fn keep_answer<'a>(
    statements: &mut SqlStatements<'a>,
    key: &'a StoredResponseKey,
    answer: &'a StoredResponse,
) {
    statements.add(DROP_ANSWER, values![key.owner.0, to_sql_text(&key.key)]);
    let values = values![
        key.owner.0,
        to_sql_text(&key.key),
        answer.fingerprint.as_slice(),
        to_sql_text(&headers_text(&answer.headers)).into_owned(),
        answer.body.as_slice(),
        answer.expires.ms(),
    ];
    statements.add(ADD_ANSWER, values);
}

pub(crate) fn drop_expired_answers(
    statements: &mut SqlStatements<'_>,
    now: Timestamp,
    rows_max: usize,
) {
    statements.add(DROP_ANSWERS, values![now.ms(), to_row_limit(rows_max)]);
}

pub(crate) fn add_sent_transaction<'a>(
    statements: &mut SqlStatements<'a>,
    sent: &'a SentTransaction,
) {
    let values = values![
        to_optional_sql_text(sent.hash.as_ref()),
        to_sql_text(&sent.network),
        to_sql_text(&sent.request_id),
        sent.owner.0,
        sent.at.ms(),
    ];
    statements.add(ADD_SENT, values);
}

pub(crate) fn name_transaction<'a>(
    statements: &mut SqlStatements<'a>,
    request_id: &'a str,
    hash: &'a str,
) {
    statements.add(NAME_SENT, values![to_sql_text(request_id), to_sql_text(hash)]);
}
