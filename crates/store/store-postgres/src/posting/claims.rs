//! Statements for claims of wallet payments.

use moment::Timestamp;
use store::claim::{ClaimId, ClaimState, ClaimStep, PaymentClaim, ReceivedPayment, SentPayment};
use store::error::StoreError;

use crate::columns::{
    to_optional_signed, to_optional_sql_text, to_row_limit, to_signed, to_sql_text,
};
use crate::statements::{SqlStatements, values};

/// Adds a claim, or reopens one that failed. In any other state it is a duplicate.
const OPEN: &str = "INSERT INTO claim (id, network, asset, payer, nonce, pay_to, units, payment, \
    state, created_ms, changed_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'VERIFIED', $9, $9) \
    ON CONFLICT (id) DO UPDATE SET pay_to = excluded.pay_to, units = excluded.units, \
    payment = excluded.payment, state = 'VERIFIED', transaction_id = NULL, raw = NULL, \
    sequence = NULL, since_block = NULL, reason = NULL, sent_ms = NULL, replaced = '', \
    created_ms = excluded.created_ms, changed_ms = excluded.changed_ms \
    WHERE claim.state = 'FAILED'";

const SUBMIT: &str = "UPDATE claim SET state = 'SUBMITTED', transaction_id = $4, raw = $5, \
    sequence = $6, since_block = $7, sent_ms = $2, changed_ms = $2 WHERE id = $1 AND state = $3";

const REPLACE: &str = "UPDATE claim SET transaction_id = $4, raw = $5, replaced = $6, \
    sent_ms = $2, changed_ms = $2 WHERE id = $1 AND state = $3 AND sequence = $7";

const LOSE_SIGHT: &str = "UPDATE claim SET state = 'UNKNOWN', \
    transaction_id = coalesce($4, transaction_id), changed_ms = $2 WHERE id = $1 AND state = $3";

const CREDIT: &str = "UPDATE claim SET state = 'CREDITED', transaction_id = $4, entry = $5, \
    credited_nano = $6, reason = NULL, changed_ms = $2 WHERE id = $1 AND state = $3";

const FAIL: &str = "UPDATE claim SET state = 'FAILED', reason = $4, changed_ms = $2 \
    WHERE id = $1 AND state = $3";

const NOTE_RECEIVED: &str = "INSERT INTO received_claim \
    (claim, transaction_id, amount_nano, since_ms) \
    SELECT id, $2, $3, $4 FROM claim WHERE id = $1 AND state = 'FAILED' \
    ON CONFLICT (claim) DO NOTHING";

const NOTE_MISSING: &str = "INSERT INTO missing_claim (claim, since_ms) \
    SELECT id, $2 FROM claim WHERE id = $1 AND state = 'CREDITED' ON CONFLICT (claim) DO NOTHING";

const DROP_FAILED: &str = "DELETE FROM claim WHERE id IN (SELECT id FROM claim \
    WHERE state = 'FAILED' AND changed_ms < $1 \
    AND NOT EXISTS (SELECT 1 FROM received_claim WHERE received_claim.claim = claim.id) \
    ORDER BY changed_ms LIMIT $2)";

pub(crate) fn open_claim<'a>(
    statements: &mut SqlStatements<'a>,
    claim: &'a PaymentClaim,
) -> Result<(), StoreError> {
    let values = values![
        claim.id.0.as_slice(),
        to_sql_text(&claim.network),
        to_sql_text(&claim.asset),
        to_sql_text(&claim.payer),
        claim.nonce.as_slice(),
        to_sql_text(&claim.pay_to),
        to_signed(claim.units)?,
        to_sql_text(&claim.payment),
        claim.created.ms(),
    ];
    let claimed = StoreError::Duplicate("this payment is claimed".to_owned());
    statements.add_one(OPEN, values, claimed);
    Ok(())
}

/// Takes a step from the state in which the caller read the claim. A step from an outdated state is
/// refused: a claim that was sent since is not failed by a task that read it before.
pub(crate) fn advance_claim<'a>(
    statements: &mut SqlStatements<'a>,
    claim: ClaimId,
    from: ClaimState,
    step: &'a ClaimStep,
    at: Timestamp,
) -> Result<(), StoreError> {
    let refused = StoreError::Missing("no such payment waits for this step");
    if !step.is_allowed_from(from) {
        return Err(refused);
    }
    let mut values = values![claim.0.to_vec(), at.ms(), from.name()];
    let sql = match step {
        ClaimStep::Submit(sent) => {
            let SentPayment { transaction, raw, sequence, since_block, replaced: _ } = sent;
            values.extend(values![
                to_optional_sql_text(transaction.as_ref()),
                raw.as_deref(),
                to_optional_signed(*sequence)?,
                to_optional_signed(*since_block)?,
            ]);
            SUBMIT
        }
        ClaimStep::Replace(sent) => {
            let SentPayment { transaction, raw, sequence, .. } = sent;
            values.extend(values![
                to_optional_sql_text(transaction.as_ref()),
                raw.as_deref(),
                to_sql_text(&sent.replaced.join(" ")).into_owned(),
                to_optional_signed(*sequence)?,
            ]);
            REPLACE
        }
        ClaimStep::LoseSight { transaction } => {
            values.extend(values![to_optional_sql_text(transaction.as_ref())]);
            LOSE_SIGHT
        }
        ClaimStep::Credit { transaction, credit } => {
            drop_received(statements, claim);
            values.extend(values![to_sql_text(transaction), credit.entry.0, credit.amount.nanos()]);
            CREDIT
        }
        ClaimStep::Fail { reason } => {
            values.extend(values![to_sql_text(reason)]);
            FAIL
        }
    };
    statements.add_one(sql, values, refused);
    Ok(())
}

pub(crate) fn note_received<'a>(
    statements: &mut SqlStatements<'a>,
    claim: ClaimId,
    received: &'a ReceivedPayment,
    at: Timestamp,
) {
    let ReceivedPayment { transaction, amount } = received;
    let values = values![claim.0.to_vec(), to_sql_text(transaction), amount.nanos(), at.ms()];
    statements.add(NOTE_RECEIVED, values);
}

pub(crate) fn drop_received(statements: &mut SqlStatements<'_>, claim: ClaimId) {
    statements.add("DELETE FROM received_claim WHERE claim = $1", values![claim.0.to_vec()]);
}

pub(crate) fn note_missing(statements: &mut SqlStatements<'_>, claim: ClaimId, at: Timestamp) {
    statements.add(NOTE_MISSING, values![claim.0.to_vec(), at.ms()]);
}

pub(crate) fn note_found(statements: &mut SqlStatements<'_>, claim: ClaimId) {
    statements.add("DELETE FROM missing_claim WHERE claim = $1", values![claim.0.to_vec()]);
}

pub(crate) fn drop_failed(statements: &mut SqlStatements<'_>, before: Timestamp, rows_max: usize) {
    statements.add(DROP_FAILED, values![before.ms(), to_row_limit(rows_max)]);
}
