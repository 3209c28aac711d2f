//! Queued jobs.

use ledger_core::OwnerId;
use moment::Timestamp;

use crate::error::StoreError;
use crate::job::{
    FencedJob, JOBS_MAX, JobCount, JobCursor, JobFilter, JobId, JobKind, JobState, JobStep,
    JobWrite, QueuedJob, TIMINGS_KEPT,
};
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{ReadMode, SqlPosting, SqlRow, SqlStore, SqlText, to_signed};
use crate::{JobStore, StoreFuture};

const COLUMNS: SqlText = SqlText::same(
    "id, owner, key, kind, model, request, charge, request_id, alternative, has_link, \
     is_link_revoked, state, attempts, fence, lease_until_ms, due_ms, is_submitting, wants_cancel, \
     ticket, queued_ms, started_ms, submitted_ms, done_ms, failure, media",
);

/// `is_open` follows from the state; on Postgres by itself.
const OPENED: SqlText = SqlText { sqlite: "is_open, ", postgres: "" };
const IS_OPENED: SqlText = SqlText { sqlite: "1, ", postgres: "" };
const CLOSES: SqlText = SqlText { sqlite: "is_open = 0, ", postgres: "" };

const READ: SqlText = shared_sql!("SELECT ", COLUMNS, " FROM job WHERE id = $1");

/// Iterates over the owners through the index, so that one owner's thousands of jobs do not slow
/// down others.
const FIND_DUE: SqlText = shared_sql!(
    "WITH RECURSIVE waiting (owner) AS ( \
       SELECT (SELECT owner FROM job WHERE is_open = TRUE ORDER BY owner LIMIT 1) \
       UNION ALL \
       SELECT (SELECT job.owner FROM job WHERE is_open = TRUE AND job.owner > waiting.owner \
       ORDER BY job.owner LIMIT 1) \
       FROM waiting WHERE waiting.owner IS NOT NULL) \
     SELECT ",
    COLUMNS,
    " FROM job WHERE id IN ( \
       SELECT (SELECT id FROM job WHERE is_open = TRUE AND job.owner = waiting.owner AND due_ms \
       <= $1 AND lease_until_ms <= $1 \
               ORDER BY queued_ms, id LIMIT 1) \
       FROM waiting WHERE waiting.owner IS NOT NULL) \
     AND ($3::bigint IS NULL OR (queued_ms, id) > ($3, $4::uuid)) ORDER BY queued_ms, id LIMIT $2"
);

const LIST: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    " FROM job WHERE ($1::uuid IS NULL OR owner = $1) AND is_open >= $2 AND ($3::uuid IS NULL OR \
     id < $3) ORDER BY id DESC LIMIT $4"
);

const COUNT_OPEN: SqlText =
    shared_sql!("SELECT count(*) FROM job WHERE is_open = TRUE AND owner = $1");

const COUNT_BY_STATE: SqlText = shared_sql!(
    "SELECT state, count(*), min(queued_ms) FROM job WHERE is_open = TRUE GROUP BY state ORDER \
     BY state"
);

const READ_TIMINGS: SqlText =
    shared_sql!("SELECT took_ms FROM job_timing WHERE model = $1 ORDER BY job");

const ADD: SqlText = shared_sql!(
    "INSERT INTO job (id, owner, key, kind, model, request, charge, request_id, alternative, \
     has_link, state, ",
    OPENED,
    "due_ms, queued_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'QUEUED', ",
    IS_OPENED,
    "$11, $12)"
);

const WANT_CANCEL: SqlText = shared_sql!(
    "UPDATE job SET wants_cancel = TRUE, due_ms = CASE state WHEN 'QUEUED' THEN 0 ELSE due_ms \
     END WHERE id = $1 AND is_open = TRUE"
);

const BREAK_LEASES: SqlText = shared_sql!("UPDATE job SET lease_until_ms = 0 WHERE is_open = TRUE");

const REVOKE_LINK: SqlText = shared_sql!("UPDATE job SET is_link_revoked = TRUE WHERE id = $1");

const CLAIM: SqlText = shared_sql!(
    "UPDATE job SET fence = fence + 1, lease_until_ms = $3, \
     state = CASE state WHEN 'QUEUED' THEN 'RUNNING' ELSE state END, \
     started_ms = coalesce(started_ms, $4) \
     WHERE id = $1 AND fence = $2 AND lease_until_ms <= $4 AND is_open = TRUE"
);

const BEAT: SqlText = shared_sql!(
    "UPDATE job SET lease_until_ms = $3 WHERE id = $1 AND fence = $2 AND is_open = TRUE"
);

const BEGIN_SUBMIT: SqlText = shared_sql!(
    "UPDATE job SET is_submitting = TRUE, attempts = attempts + 1 \
     WHERE id = $1 AND fence = $2 AND ticket IS NULL AND is_open = TRUE"
);

const SUBMITTED: SqlText = shared_sql!(
    "UPDATE job SET is_submitting = FALSE, ticket = $3, state = 'RUNNING', submitted_ms = $4 \
     WHERE id = $1 AND fence = $2 AND is_submitting = TRUE AND is_open = TRUE"
);

const PUT_BACK: SqlText = shared_sql!(
    "UPDATE job SET state = 'QUEUED', is_submitting = FALSE, ticket = NULL, submitted_ms = NULL, \
     lease_until_ms = 0, due_ms = $3, \
     attempts = attempts - $4 WHERE id = $1 AND fence = $2 AND is_open = TRUE"
);

const LEAVE: SqlText = shared_sql!(
    "UPDATE job SET state = $4, lease_until_ms = 0, due_ms = $3 \
     WHERE id = $1 AND fence = $2 AND ticket IS NOT NULL AND is_open = TRUE"
);

const COMPLETE: SqlText = shared_sql!(
    "UPDATE job SET state = 'COMPLETED', ",
    CLOSES,
    "media = $3, done_ms = $4, request = '', lease_until_ms = 0 \
     WHERE id = $1 AND fence = $2 AND is_open = TRUE"
);

const END: SqlText = shared_sql!(
    "UPDATE job SET state = $3, ",
    CLOSES,
    "failure = $4, done_ms = $5, request = '', lease_until_ms = 0, is_submitting = FALSE WHERE \
     id = $1 AND fence = $2 AND is_open = TRUE"
);

const ADD_TIMING: SqlText = shared_sql!(
    "INSERT INTO job_timing (model, job, took_ms) SELECT model, id, $2 FROM job WHERE id = $1"
);

const NO_LIMIT: SqlText = SqlText { sqlite: "-1", postgres: "ALL" };

/// Deletes the oldest durations of a model. Ids of jobs are in order of time.
const DROP_TIMINGS: SqlText = shared_sql!(
    "DELETE FROM job_timing WHERE (model, job) IN \
     (SELECT model, job FROM job_timing WHERE model = (SELECT model FROM job WHERE id = $1) \
     ORDER BY job DESC LIMIT ",
    NO_LIMIT,
    " OFFSET $2 FOR UPDATE SKIP LOCKED)"
);

impl<S: SqlStore> JobStore for S {
    fn job(&self, id: JobId) -> StoreFuture<'_, Option<QueuedJob>> {
        self.read_row(ReadMode::LOOKUP, READ, sql_values![id], job_at)
    }

    fn due_jobs(
        &self,
        now: Timestamp,
        after: Option<JobCursor>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<QueuedJob>> {
        let (after_at, after_id) = after.map(|place| (place.queued, place.id)).unzip();
        let values = sql_values![now, limit.min(JOBS_MAX), after_at, after_id];
        self.read_rows(ReadMode::STATEMENT, FIND_DUE, values, job_at)
    }

    fn list_jobs(&self, filter: JobFilter) -> StoreFuture<'_, Vec<QueuedJob>> {
        let JobFilter { owner, open_only, before, limit } = filter;
        let values = sql_values![owner, open_only, before, limit.min(JOBS_MAX)];
        self.read_rows(ReadMode::STATEMENT, LIST, values, job_at)
    }

    fn open_jobs(&self, owner: OwnerId) -> StoreFuture<'_, u64> {
        self.read_single(ReadMode::STATEMENT, COUNT_OPEN, sql_values![owner], |row| row.get(0))
    }

    fn job_counts(&self) -> StoreFuture<'_, Vec<JobCount>> {
        self.read_rows(ReadMode::STATEMENT, COUNT_BY_STATE, [], |row| {
            let state = row.parse(0, JobState::parse)?;
            Ok(JobCount { state, jobs: row.get(1)?, oldest: row.get(2)? })
        })
    }

    fn job_timings<'a>(&'a self, model: &'a str) -> StoreFuture<'a, Vec<u64>> {
        let values = sql_values![model.to_owned()];
        self.read_rows(ReadMode::STATEMENT, READ_TIMINGS, values, |row| row.get(0))
    }
}

pub(crate) fn post_job<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    write: &'a JobWrite,
) -> Result<(), P::Error> {
    match write {
        JobWrite::Add(job) => add_job(posting, job),
        JobWrite::Step { job, fence, step, at } => {
            take_step(posting, FencedJob { job: *job, fence: *fence }, step, *at)
        }
        JobWrite::WantCancel(job) => posting.run(WANT_CANCEL, sql_values![*job]),
        JobWrite::BreakLeases => posting.run(BREAK_LEASES, []),
        JobWrite::RevokeLink(job) => posting.run(REVOKE_LINK, sql_values![*job]),
        JobWrite::DropEnded { before, rows_max } => posting.delete_ended_jobs(*before, *rows_max),
    }
}

fn add_job<'a, P: SqlPosting<'a>>(posting: &mut P, job: &'a QueuedJob) -> Result<(), P::Error> {
    let values = sql_values![
        job.id,
        job.owner,
        job.key,
        job.kind.name(),
        &job.model,
        &job.request,
        &job.charge,
        &job.request_id,
        job.alternative.as_ref(),
        job.has_link,
        job.due,
        job.queued,
    ];
    posting.run(ADD, values)
}

fn take_step<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    fenced: FencedJob,
    step: &'a JobStep,
    at: Timestamp,
) -> Result<(), P::Error> {
    let refused = StoreError::Missing("no such job waits for this step");
    let (id, fence) = (fenced.job, to_signed(fenced.fence)?);
    match step {
        JobStep::Claim { lease_until } => {
            posting.run_one(CLAIM, sql_values![id, fence, *lease_until, at], refused)
        }
        JobStep::Beat { lease_until } => {
            posting.run_one(BEAT, sql_values![id, fence, *lease_until], refused)
        }
        JobStep::BeginSubmit => posting.run_one(BEGIN_SUBMIT, sql_values![id, fence], refused),
        JobStep::Submitted { ticket } => {
            posting.run_one(SUBMITTED, sql_values![id, fence, ticket, at], refused)
        }
        JobStep::PutBack { due, is_attempt } => {
            let taken_back = i64::from(!is_attempt);
            posting.run_one(PUT_BACK, sql_values![id, fence, *due, taken_back], refused)
        }
        JobStep::Leave { due, is_unknown } => {
            let state = if *is_unknown { JobState::Unknown } else { JobState::Running };
            posting.run_one(LEAVE, sql_values![id, fence, *due, state.name()], refused)
        }
        JobStep::Complete { media, took_ms } => {
            posting.run_one(COMPLETE, sql_values![id, fence, *media, at], refused)?;
            posting.run(ADD_TIMING, sql_values![id, to_signed(*took_ms)?])?;
            posting.run(DROP_TIMINGS, sql_values![id, TIMINGS_KEPT])
        }
        JobStep::Fail { failure } => {
            let state = JobState::Failed.name();
            posting.run_one(END, sql_values![id, fence, state, failure, at], refused)
        }
        JobStep::Reject { failure } => {
            let state = JobState::Rejected.name();
            posting.run_one(END, sql_values![id, fence, state, failure, at], refused)
        }
    }
}

fn job_at(row: &dyn SqlRow) -> Result<QueuedJob, StoreError> {
    Ok(QueuedJob {
        id: row.get(0)?,
        owner: row.get(1)?,
        key: row.get(2)?,
        kind: row.parse(3, JobKind::parse)?,
        model: row.get(4)?,
        request: row.get(5)?,
        charge: row.get(6)?,
        request_id: row.get(7)?,
        alternative: row.get(8)?,
        has_link: row.get(9)?,
        is_link_revoked: row.get(10)?,
        state: row.parse(11, JobState::parse)?,
        attempts: row.get(12)?,
        fence: row.get(13)?,
        lease_until: row.get(14)?,
        due: row.get(15)?,
        is_submitting: row.get(16)?,
        wants_cancel: row.get(17)?,
        ticket: row.get(18)?,
        queued: row.get(19)?,
        started: row.get(20)?,
        submitted: row.get(21)?,
        done: row.get(22)?,
        failure: row.get(23)?,
        media: row.get(24)?,
    })
}
