//! Batches and their results, and queries about the files that they read and write.

use ledger_core::OwnerId;
use moment::Timestamp;

use crate::batch::{
    BATCHES_MAX, BatchCost, BatchCounts, BatchId, BatchLine, BatchLineRange, BatchLineSize,
    BatchState, BatchStep, BatchWrite, SealedResult, StoredBatch,
};
use crate::error::StoreError;
use crate::file::{FileFilter, FileId, FileTotals, StoredFile};
use crate::sql::connection::RowResult;
use crate::sql::files;
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{ReadMode, SqlPosting, SqlRow, SqlStore, SqlText, to_signed};
use crate::{BatchStore, StoreFuture};

const COLUMNS: SqlText = SqlText::same(
    "id, owner, caller, endpoint, input_file, metadata, keep_output_ms, state, errors, result_key, \
     lines, completed, failed, result_bytes, cost_usd, cost_diem, output_file, error_file, \
     created_ms, expires_ms, started_ms, finalizing_ms, cancelling_ms, ended_ms",
);

/// `is_open` follows from the state; on Postgres by itself.
const OPENED: SqlText = SqlText { sqlite: "is_open, ", postgres: "" };
const IS_OPENED: SqlText = SqlText { sqlite: "1, ", postgres: "" };
const CLOSES: SqlText = SqlText { sqlite: "is_open = 0, ", postgres: "" };

const READ: SqlText = shared_sql!("SELECT ", COLUMNS, " FROM call_batch WHERE id = $1");

const LIST: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    " FROM call_batch WHERE owner = $1 AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3"
);

const COUNT_OPEN: SqlText =
    shared_sql!("SELECT count(*) FROM call_batch WHERE is_open = TRUE AND owner = $1");

const IS_INPUT: SqlText = shared_sql!(
    "SELECT EXISTS (SELECT 1 FROM call_batch WHERE is_open = TRUE AND input_file = $1)"
);

const FIND_DUE: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    " FROM call_batch WHERE is_open = TRUE AND ($1::uuid IS NULL OR $1 < id) \
     AND NOT EXISTS (SELECT 1 FROM call_batch AS earlier WHERE earlier.is_open = TRUE \
     AND earlier.owner = call_batch.owner AND earlier.id < call_batch.id) ORDER BY id LIMIT $2"
);

const LIST_FINISHED: SqlText =
    shared_sql!("SELECT line FROM call_batch_line WHERE batch = $1 ORDER BY line");

const READ_SIZES: SqlText = shared_sql!(
    "SELECT line, length(result) FROM call_batch_line WHERE batch = $1 AND is_failed = $2 \
     AND line BETWEEN $3 AND $4 ORDER BY line LIMIT $5"
);

const READ_RESULTS: SqlText = shared_sql!(
    "SELECT line, result FROM call_batch_line WHERE batch = $1 AND is_failed = $2 \
     AND line BETWEEN $3 AND $4 ORDER BY line"
);

const ADD: SqlText = shared_sql!(
    "INSERT INTO call_batch (id, owner, caller, endpoint, input_file, metadata, keep_output_ms, \
     state, ",
    OPENED,
    "result_key, created_ms, expires_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'validating', ",
    IS_OPENED,
    "$8, $9, $10)"
);

const START: SqlText = shared_sql!(
    "UPDATE call_batch SET state = 'in_progress', lines = $3, started_ms = $2 \
     WHERE id = $1 AND state = 'validating'"
);

const FAIL: SqlText = shared_sql!(
    "UPDATE call_batch SET state = 'failed', ",
    CLOSES,
    "errors = $3, result_key = NULL, ended_ms = $2 WHERE id = $1 AND state = 'validating'"
);

const FINALIZE: SqlText = shared_sql!(
    "UPDATE call_batch SET state = 'finalizing', finalizing_ms = $2 \
     WHERE id = $1 AND state = 'in_progress'"
);

const CANCEL: SqlText = shared_sql!(
    "UPDATE call_batch SET state = 'cancelling', cancelling_ms = $2 \
     WHERE id = $1 AND state IN ('validating', 'in_progress')"
);

const END: SqlText = shared_sql!(
    "UPDATE call_batch SET state = $3, ",
    CLOSES,
    "result_key = NULL, failed = lines - completed, output_file = $4, error_file = $5, \
     ended_ms = $2 WHERE id = $1 AND is_open = TRUE"
);

/// A charged result replaces an uncharged one; a second charged one violates the primary key.
const COUNT_CHARGED: SqlText = shared_sql!(
    "WITH replaced AS (SELECT is_failed, length(result) AS bytes \
     FROM call_batch_line WHERE batch = $1 AND line = $2 AND charge IS NULL) \
     UPDATE call_batch SET \
     completed = completed + 1 - (SELECT count(*) FROM replaced WHERE is_failed = FALSE), \
     failed = failed - (SELECT count(*) FROM replaced WHERE is_failed = TRUE), \
     result_bytes = result_bytes + $3 - (SELECT coalesce(sum(bytes), 0) FROM replaced), \
     cost_usd = cost_usd + $4, cost_diem = cost_diem + $5 WHERE id = $1"
);

const DROP_UNCHARGED: SqlText =
    shared_sql!("DELETE FROM call_batch_line WHERE batch = $1 AND line = $2 AND charge IS NULL");

const ADD_CHARGED: SqlText = shared_sql!(
    "INSERT INTO call_batch_line (batch, line, charge, is_failed, result) \
     VALUES ($1, $2, $3, $4, $5)"
);

/// Two nodes that finish the same line count it one after the other.
const LOCK: SqlText =
    SqlText { sqlite: "", postgres: "SELECT 1 FROM call_batch WHERE id = $1 FOR NO KEY UPDATE" };

const COUNT_UNCHARGED: SqlText = shared_sql!(
    "UPDATE call_batch SET completed = completed + $3, failed = failed + $4, \
     result_bytes = result_bytes + $5 WHERE id = $1 \
     AND NOT EXISTS (SELECT 1 FROM call_batch_line WHERE batch = $1 AND line = $2)"
);

const ADD_UNCHARGED: SqlText = shared_sql!(
    "INSERT INTO call_batch_line (batch, line, is_failed, result) VALUES ($1, $2, $3, $4) \
     ON CONFLICT DO NOTHING"
);

const DROP_LINES: SqlText = shared_sql!(
    "DELETE FROM call_batch_line WHERE (batch, line) IN \
     (SELECT call_batch_line.batch, call_batch_line.line FROM call_batch \
     JOIN call_batch_line ON call_batch_line.batch = call_batch.id \
     WHERE call_batch.is_open = FALSE AND call_batch.has_lines = TRUE LIMIT $1)"
);

const CLEARED: SqlText = shared_sql!(
    "UPDATE call_batch SET has_lines = FALSE WHERE is_open = FALSE AND has_lines = TRUE \
     AND NOT EXISTS (SELECT 1 FROM call_batch_line WHERE call_batch_line.batch = call_batch.id)"
);

const DROP_ENDED: SqlText = shared_sql!(
    "DELETE FROM call_batch WHERE id IN (SELECT id FROM call_batch \
     WHERE is_open = FALSE AND has_lines = FALSE AND ended_ms < $1 ORDER BY ended_ms LIMIT $2)"
);

impl<S: SqlStore> BatchStore for S {
    fn file(&self, id: FileId) -> StoreFuture<'_, Option<StoredFile>> {
        self.read_row(ReadMode::LOOKUP, files::READ, sql_values![id], files::file_at)
    }

    fn list_files(&self, filter: FileFilter) -> StoreFuture<'_, Vec<StoredFile>> {
        let (sql, values) = files::list_files(filter);
        self.read_rows(ReadMode::STATEMENT, sql, values, files::file_at)
    }

    fn file_totals(&self, owner: OwnerId, now: Timestamp) -> StoreFuture<'_, FileTotals> {
        self.read_single(ReadMode::LOOKUP, files::SUM, sql_values![owner, now], files::totals_at)
    }

    fn batch(&self, id: BatchId) -> StoreFuture<'_, Option<StoredBatch>> {
        self.read_row(ReadMode::LOOKUP, READ, sql_values![id], batch_at)
    }

    fn list_batches(
        &self,
        owner: OwnerId,
        after: Option<BatchId>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<StoredBatch>> {
        let values = sql_values![owner, after, limit.min(BATCHES_MAX)];
        self.read_rows(ReadMode::STATEMENT, LIST, values, batch_at)
    }

    fn open_batches(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.read_single(ReadMode::LOOKUP, COUNT_OPEN, sql_values![owner], |row| row.get(0))
    }

    fn is_batch_input(&self, file: FileId) -> StoreFuture<'_, bool> {
        self.read_single(ReadMode::LOOKUP, IS_INPUT, sql_values![file], |row| row.get(0))
    }

    fn due_batches(
        &self,
        after: Option<BatchId>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<StoredBatch>> {
        let values = sql_values![after, limit.min(BATCHES_MAX)];
        self.read_rows(ReadMode::STATEMENT, FIND_DUE, values, batch_at)
    }

    fn finished_lines(&self, batch: BatchId) -> StoreFuture<'_, Vec<u32>> {
        self.read_rows(ReadMode::STATEMENT, LIST_FINISHED, sql_values![batch], |row| row.get(0))
    }

    fn result_sizes(
        &self,
        range: BatchLineRange,
        limit: usize,
    ) -> StoreFuture<'_, Vec<BatchLineSize>> {
        let BatchLineRange { batch, is_failed, first, last } = range;
        let values = sql_values![batch, is_failed, first, last, limit];
        self.read_rows(ReadMode::STATEMENT, READ_SIZES, values, |row| {
            Ok(BatchLineSize { line: row.get(0)?, bytes: row.get(1)? })
        })
    }

    fn read_results(&self, range: BatchLineRange) -> StoreFuture<'_, Vec<SealedResult>> {
        let BatchLineRange { batch, is_failed, first, last } = range;
        let values = sql_values![batch, is_failed, first, last];
        self.read_rows(ReadMode::STATEMENT, READ_RESULTS, values, |row| {
            Ok(SealedResult { line: row.get(0)?, result: row.get(1)? })
        })
    }
}

pub(crate) fn post_batch<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    write: &'a BatchWrite,
) -> Result<(), P::Error> {
    match write {
        BatchWrite::Add(batch) => add_batch(posting, batch),
        BatchWrite::Step { batch, step, at } => take_step(posting, *batch, step, *at),
        BatchWrite::FinishLine(line) => finish_line(posting, line),
        BatchWrite::DropLines { rows_max } => {
            posting.run(DROP_LINES, sql_values![*rows_max])?;
            posting.run(CLEARED, [])
        }
        BatchWrite::DropEnded { before, rows_max } => {
            posting.run(DROP_ENDED, sql_values![*before, *rows_max])
        }
    }
}

fn add_batch<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    batch: &'a StoredBatch,
) -> Result<(), P::Error> {
    let values = sql_values![
        batch.id,
        batch.owner,
        &batch.caller,
        &batch.endpoint,
        batch.input_file,
        batch.metadata.as_ref(),
        batch.keep_output_ms,
        batch.result_key.as_ref(),
        batch.created,
        batch.expires,
    ];
    posting.run(ADD, values)
}

fn take_step<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    batch: BatchId,
    step: &'a BatchStep,
    at: Timestamp,
) -> Result<(), P::Error> {
    let refused = StoreError::Missing("no such batch waits for this step");
    match step {
        BatchStep::Start { lines } => {
            posting.run_one(START, sql_values![batch, at, to_signed(*lines)?], refused)
        }
        BatchStep::Fail { errors } => {
            posting.run_one(FAIL, sql_values![batch, at, errors], refused)
        }
        BatchStep::Finalize => posting.run_one(FINALIZE, sql_values![batch, at], refused),
        BatchStep::Cancel => posting.run_one(CANCEL, sql_values![batch, at], refused),
        BatchStep::End { state, output_file, error_file } => {
            let values = sql_values![batch, at, state.name(), *output_file, *error_file];
            posting.run_one(END, values, refused)
        }
    }
}

fn finish_line<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    line: &'a BatchLine,
) -> Result<(), P::Error> {
    let BatchLine { batch, line: number, charge, is_failed, cost, result } = line;
    let bytes = result.len();
    if let Some(charge) = charge {
        let counted = sql_values![*batch, *number, bytes, cost.usd, cost.diem];
        posting.run(COUNT_CHARGED, counted)?;
        posting.run(DROP_UNCHARGED, sql_values![*batch, *number])?;
        let added = sql_values![*batch, *number, *charge, *is_failed, result];
        return posting.run(ADD_CHARGED, added);
    }
    posting.run(LOCK, sql_values![*batch])?;
    let (completed, failed) = (i64::from(!is_failed), i64::from(*is_failed));
    posting.run(COUNT_UNCHARGED, sql_values![*batch, *number, completed, failed, bytes])?;
    posting.run(ADD_UNCHARGED, sql_values![*batch, *number, *is_failed, result])
}

fn batch_at(row: &dyn SqlRow) -> RowResult<StoredBatch> {
    Ok(StoredBatch {
        id: row.get(0)?,
        owner: row.get(1)?,
        caller: row.get(2)?,
        endpoint: row.get(3)?,
        input_file: row.get(4)?,
        metadata: row.get(5)?,
        keep_output_ms: row.get(6)?,
        state: row.parse(7, BatchState::parse)?,
        errors: row.get(8)?,
        result_key: row.get(9)?,
        counts: BatchCounts {
            lines: row.get(10)?,
            completed: row.get(11)?,
            failed: row.get(12)?,
            result_bytes: row.get(13)?,
            cost: BatchCost { usd: row.get(14)?, diem: row.get(15)? },
        },
        output_file: row.get(16)?,
        error_file: row.get(17)?,
        created: row.get(18)?,
        expires: row.get(19)?,
        started: row.get(20)?,
        finalizing: row.get(21)?,
        cancelling: row.get(22)?,
        ended: row.get(23)?,
    })
}
