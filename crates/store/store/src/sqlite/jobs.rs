//! Reads and writes the rows of queued jobs.

use ledger_core::{KeyId, OwnerId};
use moment::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::StoreError;
use crate::job::{
    FencedJob, JOBS_MAX, JobCount, JobCursor, JobFilter, JobId, JobKind, JobState, JobStep,
    JobWrite, QueuedJob, TIMINGS_KEPT,
};
use crate::media::MediaId;
use crate::sqlite::columns::{
    read_id, read_optional_id, read_optional_time, read_parsed, read_time,
};
use crate::sqlite::write_error::WriteError;

const COLUMNS: &str = "id, owner, key, kind, model, request, charge, request_id, alternative, \
     has_link, is_link_revoked, state, attempts, fence, lease_until_ms, due_ms, is_submitting, \
     wants_cancel, ticket, queued_ms, started_ms, submitted_ms, done_ms, failure, media";

pub(crate) fn post_job(connection: &Connection, write: &JobWrite) -> Result<(), WriteError> {
    match write {
        JobWrite::Add(job) => add_job(connection, job),
        JobWrite::Step { job, fence, step, at } => {
            take_step(connection, FencedJob { job: *job, fence: *fence }, step, *at)
        }
        JobWrite::WantCancel(job) => {
            let sql = "UPDATE job SET wants_cancel = 1, \
                       due_ms = CASE state WHEN 'QUEUED' THEN 0 ELSE due_ms END \
                       WHERE id = ?1 AND is_open = 1";
            connection.prepare_cached(sql)?.execute([job.0.as_bytes()])?;
            Ok(())
        }
        JobWrite::BreakLeases => {
            let sql = "UPDATE job SET lease_until_ms = 0 WHERE is_open = 1";
            connection.prepare_cached(sql)?.execute([])?;
            Ok(())
        }
        JobWrite::RevokeLink(job) => {
            let sql = "UPDATE job SET is_link_revoked = 1 WHERE id = ?1";
            connection.prepare_cached(sql)?.execute([job.0.as_bytes()])?;
            Ok(())
        }
        JobWrite::DropEnded { before, rows_max } => drop_ended(connection, *before, *rows_max),
    }
}

fn add_job(connection: &Connection, job: &QueuedJob) -> Result<(), WriteError> {
    let sql = "INSERT INTO job (id, owner, key, kind, model, request, charge, request_id, \
               alternative, has_link, state, is_open, due_ms, queued_ms) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'QUEUED', 1, ?11, ?12)";
    connection.prepare_cached(sql)?.execute(params![
        job.id.0.as_bytes(),
        job.owner.0.as_bytes(),
        job.key.as_ref().map(|key| key.0.as_bytes()),
        job.kind.name(),
        job.model,
        job.request,
        job.charge,
        job.request_id,
        job.alternative,
        job.has_link,
        job.due.ms(),
        job.queued.ms()
    ])?;
    Ok(())
}

fn take_step(
    connection: &Connection,
    fenced: FencedJob,
    step: &JobStep,
    at: Timestamp,
) -> Result<(), WriteError> {
    let FencedJob { job, fence } = fenced;
    let (id, at_ms) = (job.0.as_bytes(), at.ms());
    let changed = match step {
        JobStep::Claim { lease_until } => {
            let sql = "UPDATE job SET fence = fence + 1, lease_until_ms = ?3, \
                       state = CASE state WHEN 'QUEUED' THEN 'RUNNING' ELSE state END, \
                       started_ms = coalesce(started_ms, ?4) \
                       WHERE id = ?1 AND fence = ?2 AND is_open = 1 AND lease_until_ms <= ?4";
            let values = params![id, fence, lease_until.ms(), at_ms];
            connection.prepare_cached(sql)?.execute(values)?
        }
        JobStep::Beat { lease_until } => {
            let sql = "UPDATE job SET lease_until_ms = ?3 \
                       WHERE id = ?1 AND fence = ?2 AND is_open = 1";
            connection.prepare_cached(sql)?.execute(params![id, fence, lease_until.ms()])?
        }
        JobStep::BeginSubmit => {
            let sql = "UPDATE job SET is_submitting = 1, attempts = attempts + 1 \
                       WHERE id = ?1 AND fence = ?2 AND is_open = 1 AND ticket IS NULL";
            connection.prepare_cached(sql)?.execute(params![id, fence])?
        }
        JobStep::Submitted { ticket } => {
            let sql = "UPDATE job SET is_submitting = 0, ticket = ?3, state = 'RUNNING', \
                       submitted_ms = ?4 \
                       WHERE id = ?1 AND fence = ?2 AND is_open = 1 AND is_submitting = 1";
            connection.prepare_cached(sql)?.execute(params![id, fence, ticket, at_ms])?
        }
        JobStep::PutBack { due, is_attempt } => {
            let sql = "UPDATE job SET state = 'QUEUED', is_submitting = 0, ticket = NULL, \
                       submitted_ms = NULL, lease_until_ms = 0, due_ms = ?3, \
                       attempts = attempts - ?4 WHERE id = ?1 AND fence = ?2 AND is_open = 1";
            let taken_back = i64::from(!is_attempt);
            connection.prepare_cached(sql)?.execute(params![id, fence, due.ms(), taken_back])?
        }
        JobStep::Leave { due, is_unknown } => {
            let sql = "UPDATE job SET state = ?4, lease_until_ms = 0, due_ms = ?3 \
                       WHERE id = ?1 AND fence = ?2 AND is_open = 1 AND ticket IS NOT NULL";
            let state = if *is_unknown { JobState::Unknown } else { JobState::Running };
            connection.prepare_cached(sql)?.execute(params![id, fence, due.ms(), state.name()])?
        }
        JobStep::Complete { media, took_ms } => {
            let sql = "UPDATE job SET state = 'COMPLETED', is_open = 0, media = ?3, done_ms = ?4, \
                       request = '', lease_until_ms = 0 \
                       WHERE id = ?1 AND fence = ?2 AND is_open = 1";
            let values = params![id, fence, media.0.as_bytes(), at_ms];
            let changed = connection.prepare_cached(sql)?.execute(values)?;
            if changed == 1 {
                remember_time(connection, job, *took_ms)?;
            }
            changed
        }
        JobStep::Fail { failure } => end_job(connection, fenced, JobState::Failed, failure, at)?,
        JobStep::Reject { failure } => {
            end_job(connection, fenced, JobState::Rejected, failure, at)?
        }
    };
    if changed == 1 {
        return Ok(());
    }
    Err(WriteError::Refused(StoreError::Missing("no such job waits for this step")))
}

fn end_job(
    connection: &Connection,
    FencedJob { job, fence }: FencedJob,
    state: JobState,
    failure: &str,
    at: Timestamp,
) -> rusqlite::Result<usize> {
    let sql = "UPDATE job SET state = ?3, is_open = 0, failure = ?4, done_ms = ?5, request = '', \
               is_submitting = 0, lease_until_ms = 0 \
               WHERE id = ?1 AND fence = ?2 AND is_open = 1";
    let values = params![job.0.as_bytes(), fence, state.name(), failure, at.ms()];
    connection.prepare_cached(sql)?.execute(values)
}

/// Stores the duration of a job and deletes the oldest of its model. Ids of jobs are in order of
/// time.
fn remember_time(connection: &Connection, job: JobId, took_ms: u64) -> rusqlite::Result<()> {
    let sql = "INSERT INTO job_timing (model, job, took_ms) \
               SELECT model, id, ?2 FROM job WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![job.0.as_bytes(), took_ms])?;
    let sql = "DELETE FROM job_timing WHERE model = (SELECT model FROM job WHERE id = ?1) \
               AND job <= (SELECT job FROM job_timing WHERE model = \
               (SELECT model FROM job WHERE id = ?1) ORDER BY job DESC LIMIT 1 OFFSET ?2)";
    connection.prepare_cached(sql)?.execute(params![job.0.as_bytes(), TIMINGS_KEPT])?;
    Ok(())
}

/// Deletes ended jobs, except those whose media still exists: the row is needed to find it.
fn drop_ended(
    connection: &Connection,
    before: Timestamp,
    rows_max: usize,
) -> Result<(), WriteError> {
    let ended = "SELECT job.id, job.media FROM job LEFT JOIN media ON job.media = media.id \
                 WHERE job.is_open = 0 AND job.done_ms < ?1 \
                 AND (media.id IS NULL OR media.state = 'DELETED') ORDER BY job.done_ms LIMIT ?2";
    let mut statement = connection.prepare_cached(ended)?;
    let rows = statement.query_map(params![before.ms(), rows_max], |row| {
        Ok((read_id(row, 0)?, read_optional_id(row, 1)?))
    })?;
    let ended: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    for (job, media) in ended {
        let sql = "DELETE FROM job WHERE id = ?1";
        connection.prepare_cached(sql)?.execute([job.as_bytes()])?;
        if let Some(media) = media {
            let sql = "DELETE FROM media WHERE id = ?1";
            connection.prepare_cached(sql)?.execute([media.as_bytes()])?;
        }
    }
    Ok(())
}

pub(crate) fn read_job(connection: &Connection, id: JobId) -> rusqlite::Result<Option<QueuedJob>> {
    let sql = format!("SELECT {COLUMNS} FROM job WHERE id = ?1");
    connection.prepare_cached(&sql)?.query_row([id.0.as_bytes()], job_at).optional()
}

/// Iterates over the owners through the index, so that one owner's thousands of jobs do not slow
/// down others.
pub(crate) fn find_due_jobs(
    connection: &Connection,
    now: Timestamp,
    after: Option<JobCursor>,
    limit: usize,
) -> rusqlite::Result<Vec<QueuedJob>> {
    let sql = format!(
        "WITH RECURSIVE waiting (owner) AS ( \
           SELECT min(owner) FROM job WHERE is_open = 1 \
           UNION ALL \
           SELECT (SELECT min(owner) FROM job WHERE is_open = 1 AND owner > waiting.owner) \
           FROM waiting WHERE waiting.owner IS NOT NULL) \
         SELECT {COLUMNS} FROM job WHERE id IN ( \
           SELECT (SELECT id FROM job WHERE is_open = 1 AND owner = waiting.owner \
                   AND due_ms <= ?1 AND lease_until_ms <= ?1 ORDER BY queued_ms, id LIMIT 1) \
           FROM waiting WHERE waiting.owner IS NOT NULL) \
         AND (?3 IS NULL OR (queued_ms, id) > (?3, ?4)) \
         ORDER BY queued_ms, id LIMIT ?2"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let (after_ms, after_id) =
        after.map(|place| (place.queued.ms(), place.id.0.into_bytes())).unzip();
    let values = params![now.ms(), limit.min(JOBS_MAX), after_ms, after_id];
    statement.query_map(values, job_at)?.collect()
}

pub(crate) fn list_jobs(
    connection: &Connection,
    filter: &JobFilter,
) -> rusqlite::Result<Vec<QueuedJob>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM job WHERE (?1 IS NULL OR owner = ?1) AND is_open >= ?2 \
         AND (?3 IS NULL OR id < ?3) ORDER BY id DESC LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let values = params![
        filter.owner.as_ref().map(|owner| owner.0.as_bytes()),
        filter.open_only,
        filter.before.as_ref().map(|job| job.0.as_bytes()),
        filter.limit.min(JOBS_MAX)
    ];
    statement.query_map(values, job_at)?.collect()
}

pub(crate) fn open_jobs(connection: &Connection, owner: OwnerId) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM job WHERE is_open = 1 AND owner = ?1";
    connection.prepare_cached(sql)?.query_row([owner.0.as_bytes()], |row| row.get(0))
}

pub(crate) fn count_jobs(connection: &Connection) -> rusqlite::Result<Vec<JobCount>> {
    let sql = "SELECT state, count(*), min(queued_ms) FROM job WHERE is_open = 1 GROUP BY state";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        let state = read_parsed(row, 0, JobState::parse)?;
        Ok(JobCount { state, jobs: row.get(1)?, oldest: read_optional_time(row, 2)? })
    })?;
    rows.collect()
}

pub(crate) fn read_timings(connection: &Connection, model: &str) -> rusqlite::Result<Vec<u64>> {
    let sql = "SELECT took_ms FROM job_timing WHERE model = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map([model], |row| row.get(0))?.collect()
}

fn job_at(row: &Row<'_>) -> rusqlite::Result<QueuedJob> {
    Ok(QueuedJob {
        id: read_id(row, 0).map(JobId)?,
        owner: read_id(row, 1).map(OwnerId)?,
        key: read_optional_id(row, 2)?.map(KeyId),
        kind: read_parsed(row, 3, JobKind::parse)?,
        model: row.get(4)?,
        request: row.get(5)?,
        charge: row.get(6)?,
        request_id: row.get(7)?,
        alternative: row.get(8)?,
        has_link: row.get(9)?,
        is_link_revoked: row.get(10)?,
        state: read_parsed(row, 11, JobState::parse)?,
        attempts: row.get(12)?,
        fence: row.get(13)?,
        lease_until: read_time(row, 14)?,
        due: read_time(row, 15)?,
        is_submitting: row.get(16)?,
        wants_cancel: row.get(17)?,
        ticket: row.get(18)?,
        queued: read_time(row, 19)?,
        started: read_optional_time(row, 20)?,
        submitted: read_optional_time(row, 21)?,
        done: read_optional_time(row, 22)?,
        failure: row.get(23)?,
        media: read_optional_id(row, 24)?.map(MediaId),
    })
}
