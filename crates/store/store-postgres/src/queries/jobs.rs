//! Queries about queued jobs.

use ledger_core::{KeyId, OwnerId};
use moment::Timestamp;
use store::job::{JOBS_MAX, JobCount, JobCursor, JobFilter, JobId, JobKind, JobState, QueuedJob};
use store::media::MediaId;
use store::{JobStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::{
    read_column, read_optional_time, read_parsed, read_time, read_unsigned, to_row_limit,
    to_sql_text,
};
use crate::error::PgError;
use crate::session::PostgresSession;

const COLUMNS: &str = "id, owner, key, kind, model, request, charge, request_id, alternative, \
     has_link, is_link_revoked, state, attempts, fence, lease_until_ms, due_ms, is_submitting, \
     wants_cancel, ticket, queued_ms, started_ms, submitted_ms, done_ms, failure, media";

impl JobStore for PostgresStore {
    fn job(&self, id: JobId) -> StoreFuture<'_, Option<QueuedJob>> {
        self.query_with_timeout(async move |db| read_job(&db, id).await)
    }

    fn due_jobs(
        &self,
        now: Timestamp,
        after: Option<JobCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<QueuedJob>> {
        self.query(async move |db| find_due_jobs(&db, now, after, limit).await)
    }

    fn list_jobs(&self, filter: JobFilter) -> StoreFuture<'_, Vec<QueuedJob>> {
        self.query(async move |db| list_jobs(&db, &filter).await)
    }

    fn open_jobs(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.query(async move |db| open_jobs(&db, owner).await)
    }

    fn job_counts(&self) -> StoreFuture<'_, Vec<JobCount>> {
        self.query(async |db| count_jobs(&db).await)
    }

    fn job_timings<'a>(&'a self, model: &'a str) -> StoreFuture<'a, Vec<u64>> {
        self.query(async move |db| read_timings(&db, model).await)
    }
}

async fn read_job(db: &PostgresSession, id: JobId) -> Result<Option<QueuedJob>, PgError> {
    let sql = format!("SELECT {COLUMNS} FROM job WHERE id = $1");
    db.row(&sql, &[&id.0]).await?.map(|row| job_at(&row)).transpose()
}

/// Iterates over the owners through the index, so that one owner's thousands of jobs do not slow
/// down others.
async fn find_due_jobs(
    db: &PostgresSession,
    now: Timestamp,
    after: Option<JobCursor>,
    rows_max: usize,
) -> Result<Vec<QueuedJob>, PgError> {
    let sql = format!(
        "WITH RECURSIVE waiting (owner) AS ( \
           (SELECT owner FROM job WHERE is_open ORDER BY owner LIMIT 1) \
           UNION ALL \
           SELECT (SELECT job.owner FROM job WHERE is_open AND job.owner > waiting.owner \
                   ORDER BY job.owner LIMIT 1) \
           FROM waiting WHERE waiting.owner IS NOT NULL) \
         SELECT {COLUMNS} FROM job WHERE id IN ( \
           SELECT (SELECT id FROM job WHERE is_open AND job.owner = waiting.owner \
                   AND due_ms <= $1 AND lease_until_ms <= $1 ORDER BY queued_ms, id LIMIT 1) \
           FROM waiting WHERE waiting.owner IS NOT NULL) \
         AND ($3::bigint IS NULL OR (queued_ms, id) > ($3, $4::uuid)) \
         ORDER BY queued_ms, id LIMIT $2"
    );
    let (after_ms, after_id) = after.map(|place| (place.queued.ms(), place.id.0)).unzip();
    let rows_max = to_row_limit(rows_max.min(JOBS_MAX));
    let rows = db.rows(&sql, &[&now.ms(), &rows_max, &after_ms, &after_id]).await?;
    rows.iter().map(job_at).collect()
}

async fn list_jobs(db: &PostgresSession, filter: &JobFilter) -> Result<Vec<QueuedJob>, PgError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM job WHERE ($1::uuid IS NULL OR owner = $1) AND (is_open OR NOT $2) \
         AND ($3::uuid IS NULL OR id < $3) ORDER BY id DESC LIMIT $4"
    );
    let owner = filter.owner.map(|owner| owner.0);
    let before = filter.before.map(|job| job.0);
    let rows_max = to_row_limit(filter.limit.min(JOBS_MAX));
    let rows = db.rows(&sql, &[&owner, &filter.open_only, &before, &rows_max]).await?;
    rows.iter().map(job_at).collect()
}

async fn open_jobs(db: &PostgresSession, owner: OwnerId) -> Result<u64, PgError> {
    let sql = "SELECT count(*) FROM job WHERE is_open AND owner = $1";
    read_unsigned(&db.single_row(sql, &[&owner.0]).await?, 0)
}

async fn count_jobs(db: &PostgresSession) -> Result<Vec<JobCount>, PgError> {
    let sql = "SELECT state, count(*), min(queued_ms) FROM job WHERE is_open \
               GROUP BY state ORDER BY state";
    let count = |row| {
        let state = read_parsed(row, 0, JobState::parse)?;
        Ok(JobCount { state, jobs: read_unsigned(row, 1)?, oldest: read_optional_time(row, 2)? })
    };
    db.rows(sql, &[]).await?.iter().map(count).collect()
}

async fn read_timings(db: &PostgresSession, model: &str) -> Result<Vec<u64>, PgError> {
    let sql = "SELECT took_ms FROM job_timing WHERE model = $1 ORDER BY job";
    db.rows(sql, &[&to_sql_text(model)]).await?.iter().map(|row| read_unsigned(row, 0)).collect()
}

fn job_at(row: &Row) -> Result<QueuedJob, PgError> {
    let (key, media): (Option<Uuid>, Option<Uuid>) = (read_column(row, 2)?, read_column(row, 24)?);
    Ok(QueuedJob {
        id: JobId(read_column(row, 0)?),
        owner: OwnerId(read_column(row, 1)?),
        key: key.map(KeyId),
        kind: read_parsed(row, 3, JobKind::parse)?,
        model: read_column(row, 4)?,
        request: read_column(row, 5)?,
        charge: read_column(row, 6)?,
        request_id: read_column(row, 7)?,
        alternative: read_column(row, 8)?,
        has_link: read_column(row, 9)?,
        is_link_revoked: read_column(row, 10)?,
        state: read_parsed(row, 11, JobState::parse)?,
        attempts: read_unsigned(row, 12)?,
        fence: read_unsigned(row, 13)?,
        lease_until: read_time(row, 14)?,
        due: read_time(row, 15)?,
        is_submitting: read_column(row, 16)?,
        wants_cancel: read_column(row, 17)?,
        ticket: read_column(row, 18)?,
        queued: read_time(row, 19)?,
        started: read_optional_time(row, 20)?,
        submitted: read_optional_time(row, 21)?,
        done: read_optional_time(row, 22)?,
        failure: read_column(row, 23)?,
        media: media.map(MediaId),
    })
}
