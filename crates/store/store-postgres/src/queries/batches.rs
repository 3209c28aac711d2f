//! Queries about callers' files and batches.

use ledger_core::OwnerId;
use moment::Timestamp;
use store::batch::{
    BATCHES_MAX, BatchCost, BatchCounts, BatchId, BatchLineRange, BatchLineSize, BatchState,
    SealedResult, StoredBatch,
};
use store::file::{FILES_MAX, FileFilter, FileId, FilePurpose, FileTotals, StoredFile};
use store::{BatchStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::{
    read_column, read_nano, read_optional_bytes, read_optional_time, read_parsed, read_time,
    read_unsigned, to_row_limit,
};
use crate::error::PgError;
use crate::session::PostgresSession;

const FILE_COLUMNS: &str = "id, owner, name, purpose, bytes, created_ms, expires_ms";

const BATCH_COLUMNS: &str = "id, owner, caller, endpoint, input_file, metadata, keep_output_ms, \
     state, errors, result_key, lines, completed, failed, result_bytes, cost_usd, cost_diem, \
     output_file, error_file, created_ms, expires_ms, started_ms, finalizing_ms, cancelling_ms, \
     ended_ms";

impl BatchStore for PostgresStore {
    fn file(&self, id: FileId) -> StoreFuture<'_, Option<StoredFile>> {
        self.query_with_timeout(async move |db| {
            let sql = format!("SELECT {FILE_COLUMNS} FROM file WHERE id = $1 AND NOT is_deleted");
            db.row(&sql, &[&id.0]).await?.map(|row| file_at(&row)).transpose()
        })
    }

    fn list_files(&self, filter: FileFilter) -> StoreFuture<'_, Vec<StoredFile>> {
        self.query(async move |db| list_files(&db, filter).await)
    }

    fn file_totals(&self, owner: OwnerId, now: Timestamp) -> StoreFuture<'_, FileTotals> {
        self.query_with_timeout(async move |db| {
            let sql = "SELECT count(*), coalesce(sum(bytes), 0)::int8 FROM file \
                       WHERE owner = $1 AND NOT is_deleted AND $2 < expires_ms";
            let row = db.single_row(sql, &[&owner.0, &now.ms()]).await?;
            Ok(FileTotals { files: read_unsigned(&row, 0)?, bytes: read_unsigned(&row, 1)? })
        })
    }

    fn batch(&self, id: BatchId) -> StoreFuture<'_, Option<StoredBatch>> {
        self.query_with_timeout(async move |db| {
            let sql = format!("SELECT {BATCH_COLUMNS} FROM call_batch WHERE id = $1");
            db.row(&sql, &[&id.0]).await?.map(|row| batch_at(&row)).transpose()
        })
    }

    fn list_batches(
        &self,
        owner: OwnerId,
        after: Option<BatchId>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<StoredBatch>> {
        self.query(async move |db| {
            let sql = format!(
                "SELECT {BATCH_COLUMNS} FROM call_batch WHERE owner = $1 \
                 AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3"
            );
            let (after, limit) = (after.map(|batch| batch.0), limit.min(BATCHES_MAX));
            let rows = db.rows(&sql, &[&owner.0, &after, &to_row_limit(limit)]).await?;
            rows.iter().map(batch_at).collect()
        })
    }

    fn open_batches(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.query_with_timeout(async move |db| {
            let sql = "SELECT count(*) FROM call_batch WHERE is_open AND owner = $1";
            read_unsigned(&db.single_row(sql, &[&owner.0]).await?, 0)
        })
    }

    fn is_batch_input(&self, file: FileId) -> StoreFuture<'_, bool> {
        self.query_with_timeout(async move |db| {
            let sql = "SELECT EXISTS (SELECT 1 FROM call_batch WHERE is_open AND input_file = $1)";
            read_column(&db.single_row(sql, &[&file.0]).await?, 0)
        })
    }

    fn due_batches(
        &self,
        after: Option<BatchId>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<StoredBatch>> {
        self.query(async move |db| {
            let sql = format!(
                "SELECT {BATCH_COLUMNS} FROM call_batch WHERE is_open AND ($1::uuid IS NULL OR $1 < id) \
                 AND NOT EXISTS (SELECT 1 FROM call_batch AS earlier WHERE earlier.is_open \
                 AND earlier.owner = call_batch.owner AND earlier.id < call_batch.id) ORDER BY id LIMIT $2"
            );
            let (after, limit) = (after.map(|batch| batch.0), limit.min(BATCHES_MAX));
            let rows = db.rows(&sql, &[&after, &to_row_limit(limit)]).await?;
            rows.iter().map(batch_at).collect()
        })
    }

    fn finished_lines(&self, batch: BatchId) -> StoreFuture<'_, Vec<u32>> {
        self.query(async move |db| {
            let sql = "SELECT line FROM call_batch_line WHERE batch = $1 ORDER BY line";
            let rows = db.rows(sql, &[&batch.0]).await?;
            rows.iter().map(|row| read_unsigned(row, 0)).collect()
        })
    }

    fn result_sizes(
        &self,
        range: BatchLineRange,
        limit: usize,
    ) -> StoreFuture<'_, Vec<BatchLineSize>> {
        self.query(async move |db| read_sizes(&db, range, limit).await)
    }

    fn read_results(&self, range: BatchLineRange) -> StoreFuture<'_, Vec<SealedResult>> {
        self.query(async move |db| read_results(&db, range).await)
    }
}

async fn list_files(db: &PostgresSession, filter: FileFilter) -> Result<Vec<StoredFile>, PgError> {
    let (comparison, order) = if filter.is_ascending { (">", "ASC") } else { ("<", "DESC") };
    let sql = format!(
        "SELECT {FILE_COLUMNS} FROM file WHERE owner = $1 AND NOT is_deleted AND $2 < expires_ms \
         AND ($3::text IS NULL OR purpose = $3) AND ($4::uuid IS NULL OR id {comparison} $4) \
         ORDER BY id {order} LIMIT $5"
    );
    let purpose = filter.purpose.map(FilePurpose::name);
    let (after, limit) = (filter.after.map(|file| file.0), filter.limit.min(FILES_MAX));
    let (now_ms, limit) = (filter.now.ms(), to_row_limit(limit));
    let rows = db.rows(&sql, &[&filter.owner.0, &now_ms, &purpose, &after, &limit]).await?;
    rows.iter().map(file_at).collect()
}

async fn read_sizes(
    db: &PostgresSession,
    range: BatchLineRange,
    limit: usize,
) -> Result<Vec<BatchLineSize>, PgError> {
    let sql = "SELECT line, length(result)::int8 FROM call_batch_line \
               WHERE batch = $1 AND is_failed = $2 AND line BETWEEN $3 AND $4 \
               ORDER BY line LIMIT $5";
    let (first, last) = (i64::from(range.first), i64::from(range.last));
    let limit = to_row_limit(limit);
    let rows = db.rows(sql, &[&range.batch.0, &range.is_failed, &first, &last, &limit]).await?;
    let size = |row: &Row| {
        Ok(BatchLineSize { line: read_unsigned(row, 0)?, bytes: read_unsigned(row, 1)? })
    };
    rows.iter().map(size).collect()
}

async fn read_results(
    db: &PostgresSession,
    range: BatchLineRange,
) -> Result<Vec<SealedResult>, PgError> {
    let sql = "SELECT line, result FROM call_batch_line \
               WHERE batch = $1 AND is_failed = $2 AND line BETWEEN $3 AND $4 ORDER BY line";
    let (first, last) = (i64::from(range.first), i64::from(range.last));
    let rows = db.rows(sql, &[&range.batch.0, &range.is_failed, &first, &last]).await?;
    let result =
        |row: &Row| Ok(SealedResult { line: read_unsigned(row, 0)?, result: read_column(row, 1)? });
    rows.iter().map(result).collect()
}

fn file_at(row: &Row) -> Result<StoredFile, PgError> {
    Ok(StoredFile {
        id: FileId(read_column(row, 0)?),
        owner: OwnerId(read_column(row, 1)?),
        name: read_column(row, 2)?,
        purpose: read_parsed(row, 3, FilePurpose::parse)?,
        bytes: read_unsigned(row, 4)?,
        created: read_time(row, 5)?,
        expires: read_time(row, 6)?,
    })
}

fn batch_at(row: &Row) -> Result<StoredBatch, PgError> {
    let file = |column| -> Result<Option<FileId>, PgError> {
        let id: Option<Uuid> = read_column(row, column)?;
        Ok(id.map(FileId))
    };
    Ok(StoredBatch {
        id: BatchId(read_column(row, 0)?),
        owner: OwnerId(read_column(row, 1)?),
        caller: read_column(row, 2)?,
        endpoint: read_column(row, 3)?,
        input_file: FileId(read_column(row, 4)?),
        metadata: read_column(row, 5)?,
        keep_output_ms: read_column(row, 6)?,
        state: read_parsed(row, 7, BatchState::parse)?,
        errors: read_column(row, 8)?,
        result_key: read_optional_bytes(row, 9)?,
        counts: BatchCounts {
            lines: read_unsigned(row, 10)?,
            completed: read_unsigned(row, 11)?,
            failed: read_unsigned(row, 12)?,
            result_bytes: read_unsigned(row, 13)?,
            cost: BatchCost { usd: read_nano(row, 14)?, diem: read_nano(row, 15)? },
        },
        output_file: file(16)?,
        error_file: file(17)?,
        created: read_time(row, 18)?,
        expires: read_time(row, 19)?,
        started: read_optional_time(row, 20)?,
        finalizing: read_optional_time(row, 21)?,
        cancelling: read_optional_time(row, 22)?,
        ended: read_optional_time(row, 23)?,
    })
}
