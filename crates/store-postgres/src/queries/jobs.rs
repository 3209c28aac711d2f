//! Queries about queued jobs.

use credits::{KeyId, OwnerId};
use moment::Timestamp;
use store::job::{JOBS_MAX, JobCount, JobCursor, JobFilter, JobId, JobKind, JobState, QueuedJob};
use store::media::MediaId;
use store::{JobStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::Postgres;
use crate::columns::{get, limit, parsed, text, time, time_or_none, unsigned};
use crate::error::PgError;
use crate::session::Session;

const COLUMNS: &str = "id, owner, key, kind, model, request, charge, request_id, alternative, \
     has_link, is_link_revoked, state, attempts, fence, lease_until_ms, due_ms, is_submitting, \
     wants_cancel, ticket, queued_ms, started_ms, submitted_ms, done_ms, failure, media";

impl JobStore for Postgres {
    fn job(&self, id: JobId) -> StoreFuture<'_, Option<QueuedJob>> {
        self.ask_soon(async move |db| job(&db, id).await)
    }

    fn due_jobs(
        &self,
        now: Timestamp,
        after: Option<JobCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<QueuedJob>> {
        self.ask(async move |db| due(&db, now, after, limit).await)
    }

    fn jobs(&self, filter: JobFilter) -> StoreFuture<'_, Vec<QueuedJob>> {
        self.ask(async move |db| list(&db, &filter).await)
    }

    fn open_jobs(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.ask(async move |db| open_jobs(&db, owner).await)
    }

    fn job_counts(&self) -> StoreFuture<'_, Vec<JobCount>> {
        self.ask(async |db| counts(&db).await)
    }

    fn job_timings<'a>(&'a self, model: &'a str) -> StoreFuture<'a, Vec<u64>> {
        self.ask(async move |db| timings(&db, model).await)
    }
}

async fn job(db: &Session, id: JobId) -> Result<Option<QueuedJob>, PgError> {
    let sql = format!("SELECT {COLUMNS} FROM job WHERE id = $1");
    db.row(&sql, &[&id.0]).await?.map(|row| job_at(&row)).transpose()
}

/// Iterates over the owners through the index, so that one owner's thousands of jobs do not slow
/// down others.
async fn due(
    db: &Session,
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
    let rows_max = limit(rows_max.min(JOBS_MAX));
    let rows = db.rows(&sql, &[&now.ms(), &rows_max, &after_ms, &after_id]).await?;
    rows.iter().map(job_at).collect()
}

async fn list(db: &Session, filter: &JobFilter) -> Result<Vec<QueuedJob>, PgError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM job WHERE ($1::uuid IS NULL OR owner = $1) AND (is_open OR NOT $2) \
         AND ($3::uuid IS NULL OR id < $3) ORDER BY id DESC LIMIT $4"
    );
    let owner = filter.owner.map(|owner| owner.0);
    let before = filter.before.map(|job| job.0);
    let rows_max = limit(filter.limit.min(JOBS_MAX));
    let rows = db.rows(&sql, &[&owner, &filter.open_only, &before, &rows_max]).await?;
    rows.iter().map(job_at).collect()
}

async fn open_jobs(db: &Session, owner: OwnerId) -> Result<u64, PgError> {
    let sql = "SELECT count(*) FROM job WHERE is_open AND owner = $1";
    unsigned(&db.one(sql, &[&owner.0]).await?, 0)
}

async fn counts(db: &Session) -> Result<Vec<JobCount>, PgError> {
    let sql = "SELECT state, count(*), min(queued_ms) FROM job WHERE is_open \
               GROUP BY state ORDER BY state";
    let count = |row| {
        let state = parsed(row, 0, JobState::parse)?;
        Ok(JobCount { state, jobs: unsigned(row, 1)?, oldest: time_or_none(row, 2)? })
    };
    db.rows(sql, &[]).await?.iter().map(count).collect()
}

async fn timings(db: &Session, model: &str) -> Result<Vec<u64>, PgError> {
    let sql = "SELECT took_ms FROM job_timing WHERE model = $1 ORDER BY job";
    db.rows(sql, &[&text(model)]).await?.iter().map(|row| unsigned(row, 0)).collect()
}

fn job_at(row: &Row) -> Result<QueuedJob, PgError> {
    let (key, media): (Option<Uuid>, Option<Uuid>) = (get(row, 2)?, get(row, 24)?);
    Ok(QueuedJob {
        id: JobId(get(row, 0)?),
        owner: OwnerId(get(row, 1)?),
        key: key.map(KeyId),
        kind: parsed(row, 3, JobKind::parse)?,
        model: get(row, 4)?,
        request: get(row, 5)?,
        charge: get(row, 6)?,
        request_id: get(row, 7)?,
        alternative: get(row, 8)?,
        has_link: get(row, 9)?,
        is_link_revoked: get(row, 10)?,
        state: parsed(row, 11, JobState::parse)?,
        attempts: unsigned(row, 12)?,
        fence: unsigned(row, 13)?,
        lease_until: time(row, 14)?,
        due: time(row, 15)?,
        is_submitting: get(row, 16)?,
        wants_cancel: get(row, 17)?,
        ticket: get(row, 18)?,
        queued: time(row, 19)?,
        started: time_or_none(row, 20)?,
        submitted: time_or_none(row, 21)?,
        done: time_or_none(row, 22)?,
        failure: get(row, 23)?,
        media: media.map(MediaId),
    })
}
