//! Reads and writes the rows of wallet payments' claims.

use ledger_core::EntryId;
use moment::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::claim::{
    CLAIMS_MAX, ClaimCredit, ClaimCursor, ClaimId, ClaimSpan, ClaimState, ClaimStep, CreditedSum,
    PaymentClaim, ReceivedPayment, SentPayment,
};
use crate::error::StoreError;
use crate::sqlite::columns::{
    read_nano, read_optional_id, read_optional_nano, read_optional_time, read_parsed, read_time,
};
use crate::sqlite::write_error::WriteError;

const COLUMNS: &str = "id, network, asset, payer, nonce, pay_to, units, payment, state, \
     transaction_id, raw, sequence, since_block, reason, credited_nano, entry, created_ms, \
     changed_ms, sent_ms, replaced";

/// Adds a claim, or reopens one that failed. In any other state it is a duplicate.
pub(crate) fn open_claim(connection: &Connection, claim: &PaymentClaim) -> Result<(), WriteError> {
    let sql = "INSERT INTO claim (id, network, asset, payer, nonce, pay_to, units, payment, state, \
               created_ms, changed_ms) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'VERIFIED', ?9, ?9) \
               ON CONFLICT (id) DO UPDATE SET pay_to = excluded.pay_to, units = excluded.units, \
               payment = excluded.payment, state = 'VERIFIED', transaction_id = NULL, raw = NULL, \
               sequence = NULL, since_block = NULL, reason = NULL, \
               sent_ms = NULL, replaced = '', \
               created_ms = excluded.created_ms, changed_ms = excluded.changed_ms \
               WHERE state = 'FAILED'";
    let opened = connection.prepare_cached(sql)?.execute(params![
        claim.id.0,
        claim.network,
        claim.asset,
        claim.payer,
        claim.nonce,
        claim.pay_to,
        claim.units,
        claim.payment,
        claim.created.ms()
    ])?;
    if opened == 1 {
        return Ok(());
    }
    Err(WriteError::Refused(StoreError::Duplicate("this payment is claimed".to_owned())))
}

/// Takes a step from the state in which the caller read the claim. A step from an outdated state is
/// refused: a claim that was sent since is not failed by a task that read it before.
pub(crate) fn advance_claim(
    connection: &Connection,
    id: ClaimId,
    from: ClaimState,
    step: &ClaimStep,
    at: Timestamp,
) -> Result<(), WriteError> {
    let refused =
        || WriteError::Refused(StoreError::Missing("no such payment waits for this step"));
    if !step.is_allowed_from(from) {
        return Err(refused());
    }
    let (id, at_ms, from) = (id.0, at.ms(), from.name());
    let changed = match step {
        ClaimStep::Submit(sent) => {
            let sql = "UPDATE claim SET state = 'SUBMITTED', transaction_id = ?4, raw = ?5, \
                       sequence = ?6, since_block = ?7, sent_ms = ?2, changed_ms = ?2 \
                       WHERE id = ?1 AND state = ?3";
            let SentPayment { transaction, raw, sequence, since_block, replaced: _ } = sent;
            let values = params![id, at_ms, from, transaction, raw, sequence, since_block];
            connection.prepare_cached(sql)?.execute(values)?
        }
        ClaimStep::Replace(sent) => {
            let sql = "UPDATE claim SET transaction_id = ?4, raw = ?5, replaced = ?6, \
                       sent_ms = ?2, changed_ms = ?2 \
                       WHERE id = ?1 AND state = ?3 AND sequence = ?7";
            let replaced = sent.replaced.join(" ");
            let SentPayment { transaction, raw, sequence, .. } = sent;
            let values = params![id, at_ms, from, transaction, raw, replaced, sequence];
            connection.prepare_cached(sql)?.execute(values)?
        }
        ClaimStep::LoseSight { transaction } => {
            let sql = "UPDATE claim SET state = 'UNKNOWN', \
                       transaction_id = coalesce(?4, transaction_id), changed_ms = ?2 \
                       WHERE id = ?1 AND state = ?3";
            connection.prepare_cached(sql)?.execute(params![id, at_ms, from, transaction])?
        }
        ClaimStep::Credit { transaction, credit } => {
            drop_received(connection, ClaimId(id))?;
            let sql = "UPDATE claim SET state = 'CREDITED', transaction_id = ?4, entry = ?5, \
                       credited_nano = ?6, reason = NULL, changed_ms = ?2 \
                       WHERE id = ?1 AND state = ?3";
            let (entry, nanos) = (credit.entry.0.as_bytes(), credit.amount.nanos());
            let values = params![id, at_ms, from, transaction, entry, nanos];
            connection.prepare_cached(sql)?.execute(values)?
        }
        ClaimStep::Fail { reason } => {
            let sql = "UPDATE claim SET state = 'FAILED', reason = ?4, changed_ms = ?2 \
                       WHERE id = ?1 AND state = ?3";
            connection.prepare_cached(sql)?.execute(params![id, at_ms, from, reason])?
        }
    };
    if changed == 1 { Ok(()) } else { Err(refused()) }
}

pub(crate) fn note_received(
    connection: &Connection,
    id: ClaimId,
    received: &ReceivedPayment,
    at: Timestamp,
) -> Result<(), WriteError> {
    let sql = "INSERT INTO received_claim (claim, transaction_id, amount_nano, since_ms) \
               SELECT id, ?2, ?3, ?4 FROM claim WHERE id = ?1 AND state = 'FAILED' \
               ON CONFLICT (claim) DO NOTHING";
    let ReceivedPayment { transaction, amount } = received;
    connection.prepare_cached(sql)?.execute(params![id.0, transaction, amount.nanos(), at.ms()])?;
    Ok(())
}

pub(crate) fn drop_received(connection: &Connection, id: ClaimId) -> Result<(), WriteError> {
    connection.prepare_cached("DELETE FROM received_claim WHERE claim = ?1")?.execute([id.0])?;
    Ok(())
}

pub(crate) fn drop_failed(
    connection: &Connection,
    before: Timestamp,
    rows_max: usize,
) -> Result<(), WriteError> {
    let sql = "DELETE FROM claim WHERE id IN (SELECT id FROM claim \
               WHERE state = 'FAILED' AND changed_ms < ?1 \
               AND id NOT IN (SELECT claim FROM received_claim) ORDER BY changed_ms LIMIT ?2)";
    connection.prepare_cached(sql)?.execute(params![before.ms(), rows_max])?;
    Ok(())
}

pub(crate) fn read_claim(
    connection: &Connection,
    id: ClaimId,
) -> rusqlite::Result<Option<PaymentClaim>> {
    let sql = format!("SELECT {COLUMNS} FROM claim WHERE id = ?1");
    connection.prepare_cached(&sql)?.query_row([id.0], claim_at).optional()
}

pub(crate) fn read_unfinished(connection: &Connection) -> rusqlite::Result<Vec<PaymentClaim>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM claim WHERE state IN ('VERIFIED', 'SUBMITTED', 'UNKNOWN') \
         ORDER BY created_ms, id LIMIT ?1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map([CLAIMS_MAX], claim_at)?.collect()
}

pub(crate) fn note_missing(
    connection: &Connection,
    id: ClaimId,
    at: Timestamp,
) -> Result<(), WriteError> {
    let sql = "INSERT INTO missing_claim (claim, since_ms) \
               SELECT id, ?2 FROM claim WHERE id = ?1 AND state = 'CREDITED' \
               ON CONFLICT (claim) DO NOTHING";
    connection.prepare_cached(sql)?.execute(params![id.0, at.ms()])?;
    Ok(())
}

pub(crate) fn note_found(connection: &Connection, id: ClaimId) -> Result<(), WriteError> {
    connection.prepare_cached("DELETE FROM missing_claim WHERE claim = ?1")?.execute([id.0])?;
    Ok(())
}

/// Claims ordered by their last step, after a cursor. The state is written into the SQL, because
/// each queried state has its own partial index.
pub(crate) fn read_changed(
    connection: &Connection,
    span: ClaimSpan,
    beyond: Option<ClaimCursor>,
) -> rusqlite::Result<Vec<PaymentClaim>> {
    let state = span.state.name();
    let sql = format!(
        "SELECT {COLUMNS} FROM claim WHERE state = '{state}' AND changed_ms <= ?1 \
         AND (?2, ?3) < (changed_ms, id) ORDER BY changed_ms, id LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    // Without a cursor, starts after every claim of the time `after`.
    let last_of_all = ClaimCursor { changed: span.after, id: ClaimId([0xFF; 20]) };
    let ClaimCursor { changed, id } = beyond.unwrap_or(last_of_all);
    statement
        .query_map(params![span.until.ms(), changed.ms(), id.0, CLAIMS_MAX], claim_at)?
        .collect()
}

/// Newest first.
pub(crate) fn list_claims(
    connection: &Connection,
    state: Option<ClaimState>,
    limit: usize,
) -> rusqlite::Result<Vec<PaymentClaim>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM claim WHERE ?1 IS NULL OR state = ?1 \
         ORDER BY created_ms DESC, id LIMIT ?2"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let state = state.map(ClaimState::name);
    statement.query_map(params![state, limit.min(CLAIMS_MAX)], claim_at)?.collect()
}

pub(crate) fn read_received(connection: &Connection) -> rusqlite::Result<Vec<PaymentClaim>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM claim JOIN received_claim ON claim.id = received_claim.claim \
         ORDER BY since_ms LIMIT ?1"
    )
    .replace("transaction_id", "claim.transaction_id");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map([CLAIMS_MAX], claim_at)?.collect()
}

pub(crate) fn read_missing(connection: &Connection) -> rusqlite::Result<Vec<PaymentClaim>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM claim JOIN missing_claim ON claim.id = missing_claim.claim \
         ORDER BY since_ms LIMIT ?1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map([CLAIMS_MAX], claim_at)?.collect()
}

pub(crate) fn sum_credited(connection: &Connection) -> rusqlite::Result<Vec<CreditedSum>> {
    let sql = "SELECT network, count(*), sum(credited_nano) FROM claim \
               WHERE state = 'CREDITED' GROUP BY network ORDER BY network";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(CreditedSum { network: row.get(0)?, claims: row.get(1)?, amount: read_nano(row, 2)? })
    })?;
    rows.collect()
}

fn read_words(row: &Row<'_>, index: usize) -> rusqlite::Result<Vec<String>> {
    let written: String = row.get(index)?;
    Ok(written.split_whitespace().map(str::to_owned).collect())
}

fn claim_at(row: &Row<'_>) -> rusqlite::Result<PaymentClaim> {
    let credit = match (read_optional_id(row, 15)?, read_optional_nano(row, 14)?) {
        (Some(entry), Some(amount)) => Some(ClaimCredit { entry: EntryId(entry), amount }),
        _ => None,
    };
    Ok(PaymentClaim {
        id: ClaimId(row.get(0)?),
        network: row.get(1)?,
        asset: row.get(2)?,
        payer: row.get(3)?,
        nonce: row.get(4)?,
        pay_to: row.get(5)?,
        units: row.get(6)?,
        payment: row.get(7)?,
        state: read_parsed(row, 8, ClaimState::parse)?,
        sent: SentPayment {
            transaction: row.get(9)?,
            raw: row.get(10)?,
            sequence: row.get(11)?,
            since_block: row.get(12)?,
            replaced: read_words(row, 19)?,
        },
        sent_at: read_optional_time(row, 18)?,
        credit,
        reason: row.get(13)?,
        created: read_time(row, 16)?,
        changed: read_time(row, 17)?,
    })
}
