//! Reads and writes the rows of batches and of their results.

use ledger_core::OwnerId;
use moment::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::batch::{
    BATCHES_MAX, BatchCost, BatchCounts, BatchId, BatchLine, BatchLineRange, BatchLineSize,
    BatchState, BatchStep, BatchWrite, SealedResult, StoredBatch,
};
use crate::error::StoreError;
use crate::file::FileId;
use crate::sqlite::columns::{
    read_id, read_nano, read_optional_id, read_optional_time, read_parsed, read_time,
};
use crate::sqlite::write_error::WriteError;

const COLUMNS: &str = "id, owner, caller, endpoint, input_file, metadata, keep_output_ms, state, \
     errors, result_key, lines, completed, failed, result_bytes, cost_usd, cost_diem, output_file, \
     error_file, created_ms, expires_ms, started_ms, finalizing_ms, cancelling_ms, ended_ms";

pub(crate) fn post_batch(connection: &Connection, write: &BatchWrite) -> Result<(), WriteError> {
    match write {
        BatchWrite::Add(batch) => add_batch(connection, batch),
        BatchWrite::Step { batch, step, at } => take_step(connection, *batch, step, *at),
        BatchWrite::FinishLine(line) => finish_line(connection, line),
        BatchWrite::DropLines { rows_max } => drop_lines(connection, *rows_max),
        BatchWrite::DropEnded { before, rows_max } => {
            let sql = "DELETE FROM call_batch WHERE id IN (SELECT id FROM call_batch WHERE is_open = 0 \
                       AND has_lines = 0 AND ended_ms < ?1 ORDER BY ended_ms LIMIT ?2)";
            connection.prepare_cached(sql)?.execute(params![before.ms(), rows_max])?;
            Ok(())
        }
    }
}

fn add_batch(connection: &Connection, batch: &StoredBatch) -> Result<(), WriteError> {
    let sql = "INSERT INTO call_batch (id, owner, caller, endpoint, input_file, metadata, \
               keep_output_ms, state, is_open, result_key, created_ms, expires_ms) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'validating', 1, ?8, ?9, ?10)";
    connection.prepare_cached(sql)?.execute(params![
        batch.id.0.as_bytes(),
        batch.owner.0.as_bytes(),
        batch.caller,
        batch.endpoint,
        batch.input_file.0.as_bytes(),
        batch.metadata,
        batch.keep_output_ms,
        batch.result_key,
        batch.created.ms(),
        batch.expires.ms()
    ])?;
    Ok(())
}

fn take_step(
    connection: &Connection,
    batch: BatchId,
    step: &BatchStep,
    at: Timestamp,
) -> Result<(), WriteError> {
    let (id, at_ms) = (batch.0.as_bytes(), at.ms());
    let changed = match step {
        BatchStep::Start { lines } => {
            let sql = "UPDATE call_batch SET state = 'in_progress', lines = ?3, started_ms = ?2 \
                       WHERE id = ?1 AND state = 'validating'";
            connection.prepare_cached(sql)?.execute(params![id, at_ms, lines])?
        }
        BatchStep::Fail { errors } => {
            let sql = "UPDATE call_batch SET state = 'failed', is_open = 0, errors = ?3, \
                       result_key = NULL, ended_ms = ?2 WHERE id = ?1 AND state = 'validating'";
            connection.prepare_cached(sql)?.execute(params![id, at_ms, errors])?
        }
        BatchStep::Finalize => {
            let sql = "UPDATE call_batch SET state = 'finalizing', finalizing_ms = ?2 \
                       WHERE id = ?1 AND state = 'in_progress'";
            connection.prepare_cached(sql)?.execute(params![id, at_ms])?
        }
        BatchStep::Cancel => {
            let sql = "UPDATE call_batch SET state = 'cancelling', cancelling_ms = ?2 \
                       WHERE id = ?1 AND state IN ('validating', 'in_progress')";
            connection.prepare_cached(sql)?.execute(params![id, at_ms])?
        }
        BatchStep::End { state, output_file, error_file } => {
            let sql = "UPDATE call_batch SET state = ?3, is_open = 0, result_key = NULL, \
                       failed = lines - completed, output_file = ?4, error_file = ?5, ended_ms = ?2 \
                       WHERE id = ?1 AND is_open = 1";
            connection.prepare_cached(sql)?.execute(params![
                id,
                at_ms,
                state.name(),
                output_file.as_ref().map(|file| file.0.as_bytes()),
                error_file.as_ref().map(|file| file.0.as_bytes()),
            ])?
        }
    };
    if changed == 1 {
        return Ok(());
    }
    Err(WriteError::Refused(StoreError::Missing("no such batch waits for this step")))
}

fn finish_line(connection: &Connection, line: &BatchLine) -> Result<(), WriteError> {
    let id = line.batch.0.as_bytes();
    let replaced = match line.charge {
        None => None,
        Some(_) => {
            let sql = "DELETE FROM call_batch_line WHERE batch = ?1 AND line = ?2 AND charge IS NULL \
                       RETURNING is_failed, length(result)";
            connection
                .prepare_cached(sql)?
                .query_row(params![id, line.line], |row| {
                    Ok((row.get::<_, bool>(0)?, row.get::<_, i64>(1)?))
                })
                .optional()?
        }
    };
    let conflict = if line.charge.is_some() { "" } else { "ON CONFLICT DO NOTHING" };
    let sql = format!(
        "INSERT INTO call_batch_line (batch, line, charge, is_failed, result) \
         VALUES (?1, ?2, ?3, ?4, ?5) {conflict}"
    );
    let added = connection.prepare_cached(&sql)?.execute(params![
        id,
        line.line,
        line.charge.as_ref().map(|charge| charge.0.as_bytes()),
        line.is_failed,
        line.result
    ])?;
    if added == 0 {
        return Ok(());
    }
    let bytes = i64::try_from(line.result.len()).unwrap_or(i64::MAX);
    let (was_failed, old_bytes) = replaced.unwrap_or((false, 0));
    let was_completed = replaced.is_some() && !was_failed;
    let sql = "UPDATE call_batch SET completed = completed + ?2, failed = failed + ?3, \
               result_bytes = result_bytes + ?4, cost_usd = cost_usd + ?5, \
               cost_diem = cost_diem + ?6 WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![
        id,
        i64::from(!line.is_failed) - i64::from(was_completed),
        i64::from(line.is_failed) - i64::from(was_failed),
        bytes - old_bytes,
        line.cost.usd.nanos(),
        line.cost.diem.nanos()
    ])?;
    Ok(())
}

fn drop_lines(connection: &Connection, rows_max: usize) -> Result<(), WriteError> {
    let sql = "DELETE FROM call_batch_line WHERE rowid IN (SELECT call_batch_line.rowid FROM call_batch \
               JOIN call_batch_line ON call_batch_line.batch = call_batch.id \
               WHERE call_batch.is_open = 0 AND call_batch.has_lines = 1 LIMIT ?1)";
    connection.prepare_cached(sql)?.execute([rows_max])?;
    let sql = "UPDATE call_batch SET has_lines = 0 WHERE is_open = 0 AND has_lines = 1 \
               AND NOT EXISTS (SELECT 1 FROM call_batch_line WHERE call_batch_line.batch = call_batch.id)";
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}

pub(crate) fn read_batch(
    connection: &Connection,
    id: BatchId,
) -> rusqlite::Result<Option<StoredBatch>> {
    let sql = format!("SELECT {COLUMNS} FROM call_batch WHERE id = ?1");
    connection.prepare_cached(&sql)?.query_row([id.0.as_bytes()], batch_at).optional()
}

pub(crate) fn list_batches(
    connection: &Connection,
    owner: OwnerId,
    after: Option<BatchId>,
    limit: usize,
) -> rusqlite::Result<Vec<StoredBatch>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM call_batch WHERE owner = ?1 AND (?2 IS NULL OR id < ?2) \
         ORDER BY id DESC LIMIT ?3"
    );
    let after = after.as_ref().map(|batch| batch.0.as_bytes());
    let values = params![owner.0.as_bytes(), after, limit.min(BATCHES_MAX)];
    connection.prepare_cached(&sql)?.query_map(values, batch_at)?.collect()
}

pub(crate) fn count_open(connection: &Connection, owner: OwnerId) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM call_batch WHERE is_open = 1 AND owner = ?1";
    connection.prepare_cached(sql)?.query_row([owner.0.as_bytes()], |row| row.get(0))
}

pub(crate) fn is_input(connection: &Connection, file: FileId) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM call_batch WHERE is_open = 1 AND input_file = ?1)";
    connection.prepare_cached(sql)?.query_row([file.0.as_bytes()], |row| row.get(0))
}

pub(crate) fn find_due(
    connection: &Connection,
    after: Option<BatchId>,
    limit: usize,
) -> rusqlite::Result<Vec<StoredBatch>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM call_batch WHERE is_open = 1 AND (?1 IS NULL OR ?1 < id) \
         AND NOT EXISTS (SELECT 1 FROM call_batch AS earlier WHERE earlier.is_open = 1 \
         AND earlier.owner = call_batch.owner AND earlier.id < call_batch.id) ORDER BY id LIMIT ?2"
    );
    let after = after.as_ref().map(|batch| batch.0.as_bytes());
    let values = params![after, limit.min(BATCHES_MAX)];
    connection.prepare_cached(&sql)?.query_map(values, batch_at)?.collect()
}

pub(crate) fn list_finished_lines(
    connection: &Connection,
    batch: BatchId,
) -> rusqlite::Result<Vec<u32>> {
    let sql = "SELECT line FROM call_batch_line WHERE batch = ?1 ORDER BY line";
    connection.prepare_cached(sql)?.query_map([batch.0.as_bytes()], |row| row.get(0))?.collect()
}

pub(crate) fn read_sizes(
    connection: &Connection,
    range: BatchLineRange,
    limit: usize,
) -> rusqlite::Result<Vec<BatchLineSize>> {
    let sql = "SELECT line, length(result) FROM call_batch_line WHERE batch = ?1 AND is_failed = ?2 \
               AND line BETWEEN ?3 AND ?4 ORDER BY line LIMIT ?5";
    let BatchLineRange { batch, is_failed, first, last } = range;
    let values = params![batch.0.as_bytes(), is_failed, first, last, limit];
    let read = |row: &Row<'_>| Ok(BatchLineSize { line: row.get(0)?, bytes: row.get(1)? });
    connection.prepare_cached(sql)?.query_map(values, read)?.collect()
}

pub(crate) fn read_results(
    connection: &Connection,
    range: BatchLineRange,
) -> rusqlite::Result<Vec<SealedResult>> {
    let sql = "SELECT line, result FROM call_batch_line WHERE batch = ?1 AND is_failed = ?2 \
               AND line BETWEEN ?3 AND ?4 ORDER BY line";
    let BatchLineRange { batch, is_failed, first, last } = range;
    let values = params![batch.0.as_bytes(), is_failed, first, last];
    let read = |row: &Row<'_>| Ok(SealedResult { line: row.get(0)?, result: row.get(1)? });
    connection.prepare_cached(sql)?.query_map(values, read)?.collect()
}

fn batch_at(row: &Row<'_>) -> rusqlite::Result<StoredBatch> {
    Ok(StoredBatch {
        id: read_id(row, 0).map(BatchId)?,
        owner: read_id(row, 1).map(OwnerId)?,
        caller: row.get(2)?,
        endpoint: row.get(3)?,
        input_file: read_id(row, 4).map(FileId)?,
        metadata: row.get(5)?,
        keep_output_ms: row.get(6)?,
        state: read_parsed(row, 7, BatchState::parse)?,
        errors: row.get(8)?,
        result_key: row.get(9)?,
        counts: BatchCounts {
            lines: row.get(10)?,
            completed: row.get(11)?,
            failed: row.get(12)?,
            result_bytes: row.get(13)?,
            cost: BatchCost { usd: read_nano(row, 14)?, diem: read_nano(row, 15)? },
        },
        output_file: read_optional_id(row, 16)?.map(FileId),
        error_file: read_optional_id(row, 17)?.map(FileId),
        created: read_time(row, 18)?,
        expires: read_time(row, 19)?,
        started: read_optional_time(row, 20)?,
        finalizing: read_optional_time(row, 21)?,
        cancelling: read_optional_time(row, 22)?,
        ended: read_optional_time(row, 23)?,
    })
}
