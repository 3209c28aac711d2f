//! Statements for batches and their results.

use moment::Timestamp;
use store::batch::{BatchId, BatchLine, BatchStep, BatchWrite, StoredBatch};
use store::error::StoreError;

use crate::columns::{to_optional_sql_text, to_row_limit, to_signed, to_sql_text};
use crate::statements::{SqlStatements, values};

const ADD: &str = "INSERT INTO call_batch (id, owner, caller, endpoint, input_file, metadata, \
    keep_output_ms, state, result_key, created_ms, expires_ms) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, 'validating', $8, $9, $10)";

const START: &str = "UPDATE call_batch SET state = 'in_progress', lines = $3, started_ms = $2 \
    WHERE id = $1 AND state = 'validating'";

const FAIL: &str = "UPDATE call_batch SET state = 'failed', errors = $3, result_key = NULL, \
    ended_ms = $2 WHERE id = $1 AND state = 'validating'";

const FINALIZE: &str = "UPDATE call_batch SET state = 'finalizing', finalizing_ms = $2 \
    WHERE id = $1 AND state = 'in_progress'";

const CANCEL: &str = "UPDATE call_batch SET state = 'cancelling', cancelling_ms = $2 \
    WHERE id = $1 AND state IN ('validating', 'in_progress')";

const END: &str = "UPDATE call_batch SET state = $3, result_key = NULL, failed = lines - completed, \
    output_file = $4, error_file = $5, ended_ms = $2 WHERE id = $1 AND is_open";

/// A charged result replaces an uncharged one; a second charged one violates the primary key.
const FINISH_CHARGED: &str = "WITH replaced AS (SELECT is_failed, length(result) AS bytes \
    FROM call_batch_line WHERE batch = $1 AND line = $2 AND charge IS NULL) \
    UPDATE call_batch SET \
    completed = completed + 1 - (SELECT count(*) FROM replaced WHERE NOT is_failed), \
    failed = failed - (SELECT count(*) FROM replaced WHERE is_failed), \
    result_bytes = result_bytes + $3 - (SELECT coalesce(sum(bytes), 0) FROM replaced), \
    cost_usd = cost_usd + $4, cost_diem = cost_diem + $5 WHERE id = $1";

const DROP_UNCHARGED: &str =
    "DELETE FROM call_batch_line WHERE batch = $1 AND line = $2 AND charge IS NULL";

const ADD_CHARGED: &str = "INSERT INTO call_batch_line (batch, line, charge, is_failed, result) \
    VALUES ($1, $2, $3, FALSE, $4)";

const FINISH_UNCHARGED: &str = "WITH added AS (INSERT INTO call_batch_line \
    (batch, line, is_failed, result) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING \
    RETURNING is_failed, length(result) AS bytes) \
    UPDATE call_batch SET completed = completed + (SELECT count(*) FROM added WHERE NOT is_failed), \
    failed = failed + (SELECT count(*) FROM added WHERE is_failed), \
    result_bytes = result_bytes + (SELECT coalesce(sum(bytes), 0) FROM added) WHERE id = $1";

const DROP_LINES: &str = "DELETE FROM call_batch_line WHERE (batch, line) IN \
    (SELECT call_batch_line.batch, call_batch_line.line FROM call_batch \
    JOIN call_batch_line ON call_batch_line.batch = call_batch.id \
    WHERE NOT call_batch.is_open AND call_batch.has_lines LIMIT $1)";

const CLEARED: &str = "UPDATE call_batch SET has_lines = FALSE WHERE NOT is_open AND has_lines \
    AND NOT EXISTS (SELECT 1 FROM call_batch_line WHERE call_batch_line.batch = call_batch.id)";

const DROP_ENDED: &str = "DELETE FROM call_batch WHERE id IN (SELECT id FROM call_batch \
    WHERE NOT is_open AND NOT has_lines AND ended_ms < $1 ORDER BY ended_ms LIMIT $2)";

pub(crate) fn post_batch<'a>(
    statements: &mut SqlStatements<'a>,
    write: &'a BatchWrite,
) -> Result<(), StoreError> {
    match write {
        BatchWrite::Add(batch) => add_batch(statements, batch),
        BatchWrite::Step { batch, step, at } => return take_step(statements, *batch, step, *at),
        BatchWrite::FinishLine(line) => return finish_line(statements, line),
        BatchWrite::DropLines { rows_max } => {
            statements.add(DROP_LINES, values![to_row_limit(*rows_max)]);
            statements.add(CLEARED, values![]);
        }
        BatchWrite::DropEnded { before, rows_max } => {
            statements.add(DROP_ENDED, values![before.ms(), to_row_limit(*rows_max)]);
        }
    }
    Ok(())
}

fn add_batch<'a>(statements: &mut SqlStatements<'a>, batch: &'a StoredBatch) {
    let values = values![
        batch.id.0,
        batch.owner.0,
        to_sql_text(&batch.caller),
        to_sql_text(&batch.endpoint),
        batch.input_file.0,
        to_optional_sql_text(batch.metadata.as_ref()),
        batch.keep_output_ms,
        batch.result_key.as_ref().map(|key| key.as_slice()),
        batch.created.ms(),
        batch.expires.ms(),
    ];
    statements.add(ADD, values);
}

fn take_step<'a>(
    statements: &mut SqlStatements<'a>,
    batch: BatchId,
    step: &'a BatchStep,
    at: Timestamp,
) -> Result<(), StoreError> {
    let (id, at_ms) = (batch.0, at.ms());
    let (sql, values) = match step {
        BatchStep::Start { lines } => (START, values![id, at_ms, to_signed(*lines)?]),
        BatchStep::Fail { errors } => (FAIL, values![id, at_ms, to_sql_text(errors)]),
        BatchStep::Finalize => (FINALIZE, values![id, at_ms]),
        BatchStep::Cancel => (CANCEL, values![id, at_ms]),
        BatchStep::End { state, output_file, error_file } => {
            let [output, error] = [output_file, error_file].map(|file| file.map(|file| file.0));
            (END, values![id, at_ms, state.name(), output, error])
        }
    };
    statements.add_one(sql, values, StoreError::Missing("no such batch waits for this step"));
    Ok(())
}

fn finish_line<'a>(
    statements: &mut SqlStatements<'a>,
    line: &'a BatchLine,
) -> Result<(), StoreError> {
    let (batch, number) = (line.batch.0, i64::from(line.line));
    match line.charge {
        Some(charge) => {
            let bytes = i64::try_from(line.result.len()).unwrap_or(i64::MAX);
            let (usd, diem) = (line.cost.usd.nanos(), line.cost.diem.nanos());
            statements.add(FINISH_CHARGED, values![batch, number, bytes, usd, diem]);
            statements.add(DROP_UNCHARGED, values![batch, number]);
            let added = values![batch, number, charge.0, line.result.as_slice()];
            statements.add(ADD_CHARGED, added);
        }
        None => {
            let added = values![batch, number, line.is_failed, line.result.as_slice()];
            statements.add(FINISH_UNCHARGED, added);
        }
    }
    Ok(())
}
