//! Statements for queued jobs.

use moment::Timestamp;
use store::error::StoreError;
use store::job::{FencedJob, JobState, JobStep, JobWrite, QueuedJob, TIMINGS_KEPT};

use crate::changes::ChangeNotice;
use crate::columns::{to_optional_sql_text, to_row_limit, to_signed, to_sql_text};
use crate::statements::{SqlStatements, values};

const ADD: &str = "INSERT INTO job (id, owner, key, kind, model, request, charge, request_id, \
    alternative, has_link, state, due_ms, queued_ms) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'QUEUED', $11, $12)";

const WANT_CANCEL: &str = "UPDATE job SET wants_cancel = TRUE, \
    due_ms = CASE state WHEN 'QUEUED' THEN 0 ELSE due_ms END WHERE id = $1 AND is_open";

const CLAIM: &str = "UPDATE job SET fence = fence + 1, lease_until_ms = $3, \
    state = CASE state WHEN 'QUEUED' THEN 'RUNNING' ELSE state END, \
    started_ms = coalesce(started_ms, $4) \
    WHERE id = $1 AND fence = $2 AND is_open AND lease_until_ms <= $4";

const BEAT: &str = "UPDATE job SET lease_until_ms = $3 WHERE id = $1 AND fence = $2 AND is_open";

const BEGIN_SUBMIT: &str = "UPDATE job SET is_submitting = TRUE, attempts = attempts + 1 \
    WHERE id = $1 AND fence = $2 AND is_open AND ticket IS NULL";

const SUBMITTED: &str = "UPDATE job SET is_submitting = FALSE, ticket = $3, state = 'RUNNING', \
    submitted_ms = $4 WHERE id = $1 AND fence = $2 AND is_open AND is_submitting";

const PUT_BACK: &str = "UPDATE job SET state = 'QUEUED', is_submitting = FALSE, ticket = NULL, \
    submitted_ms = NULL, lease_until_ms = 0, due_ms = $3, attempts = attempts - $4 \
    WHERE id = $1 AND fence = $2 AND is_open";

const LEAVE: &str = "UPDATE job SET state = $4, lease_until_ms = 0, due_ms = $3 \
    WHERE id = $1 AND fence = $2 AND is_open AND ticket IS NOT NULL";

const COMPLETE: &str = "UPDATE job SET state = 'COMPLETED', media = $3, done_ms = $4, \
    request = '', lease_until_ms = 0 WHERE id = $1 AND fence = $2 AND is_open";

const END: &str = "UPDATE job SET state = $3, failure = $4, done_ms = $5, request = '', \
    is_submitting = FALSE, lease_until_ms = 0 WHERE id = $1 AND fence = $2 AND is_open";

const ADD_TIMING: &str = "INSERT INTO job_timing (model, job, took_ms) \
    SELECT model, id, $2 FROM job WHERE id = $1";

/// Deletes the oldest durations of a model. Ids of jobs are in order of time.
const DROP_TIMINGS: &str = "DELETE FROM job_timing WHERE (model, job) IN \
    (SELECT model, job FROM job_timing WHERE model = (SELECT model FROM job WHERE id = $1) \
    ORDER BY job DESC OFFSET $2 FOR UPDATE SKIP LOCKED)";

/// Deletes ended jobs, except those whose media still exists: the row is needed to find it.
const DROP_ENDED: &str = "WITH ended AS (SELECT job.id, job.media FROM job \
    LEFT JOIN media ON job.media = media.id \
    WHERE NOT job.is_open AND job.done_ms < $1 \
    AND (media.id IS NULL OR media.state = 'DELETED') ORDER BY job.done_ms LIMIT $2), \
    gone AS (DELETE FROM job WHERE id IN (SELECT id FROM ended)) \
    DELETE FROM media WHERE id IN (SELECT media FROM ended)";

pub(crate) fn post_job<'a>(
    statements: &mut SqlStatements<'a>,
    write: &'a JobWrite,
) -> Result<(), StoreError> {
    match write {
        JobWrite::Add(job) => {
            add_job(statements, job);
            statements.notify(ChangeNotice::Jobs);
        }
        JobWrite::Step { job, fence, step, at } => {
            return take_step(statements, FencedJob { job: *job, fence: *fence }, step, *at);
        }
        JobWrite::WantCancel(job) => {
            statements.add(WANT_CANCEL, values![job.0]);
            statements.notify(ChangeNotice::Jobs);
        }
        JobWrite::BreakLeases => {
            statements.add("UPDATE job SET lease_until_ms = 0 WHERE is_open", values![]);
            statements.notify(ChangeNotice::Jobs);
        }
        JobWrite::RevokeLink(job) => {
            statements.add("UPDATE job SET is_link_revoked = TRUE WHERE id = $1", values![job.0]);
        }
        JobWrite::DropEnded { before, rows_max } => {
            statements.add(DROP_ENDED, values![before.ms(), to_row_limit(*rows_max)]);
        }
    }
    Ok(())
}

fn add_job<'a>(statements: &mut SqlStatements<'a>, job: &'a QueuedJob) {
    let values = values![
        job.id.0,
        job.owner.0,
        job.key.map(|key| key.0),
        job.kind.name(),
        to_sql_text(&job.model),
        to_sql_text(&job.request),
        to_sql_text(&job.charge),
        to_sql_text(&job.request_id),
        to_optional_sql_text(job.alternative.as_ref()),
        job.has_link,
        job.due.ms(),
        job.queued.ms(),
    ];
    statements.add(ADD, values);
}

fn take_step<'a>(
    statements: &mut SqlStatements<'a>,
    FencedJob { job, fence }: FencedJob,
    step: &'a JobStep,
    at: Timestamp,
) -> Result<(), StoreError> {
    let refused = StoreError::Missing("no such job waits for this step");
    let mut values = values![job.0, to_signed(fence)?];
    let sql = match step {
        JobStep::Claim { lease_until } => {
            values.extend(values![lease_until.ms(), at.ms()]);
            CLAIM
        }
        JobStep::Beat { lease_until } => {
            values.extend(values![lease_until.ms()]);
            BEAT
        }
        JobStep::BeginSubmit => BEGIN_SUBMIT,
        JobStep::Submitted { ticket } => {
            values.extend(values![to_sql_text(ticket), at.ms()]);
            SUBMITTED
        }
        JobStep::PutBack { due, is_attempt } => {
            values.extend(values![due.ms(), i64::from(!is_attempt)]);
            statements.notify(ChangeNotice::Jobs);
            PUT_BACK
        }
        JobStep::Leave { due, is_unknown } => {
            let state = if *is_unknown { JobState::Unknown } else { JobState::Running };
            values.extend(values![due.ms(), state.name()]);
            LEAVE
        }
        JobStep::Complete { media, .. } => {
            values.extend(values![media.0, at.ms()]);
            COMPLETE
        }
        JobStep::Fail { failure } => {
            values.extend(values![JobState::Failed.name(), to_sql_text(failure), at.ms()]);
            END
        }
        JobStep::Reject { failure } => {
            values.extend(values![JobState::Rejected.name(), to_sql_text(failure), at.ms()]);
            END
        }
    };
    statements.add_one(sql, values, refused);
    if let JobStep::Complete { took_ms, .. } = step {
        statements.add(ADD_TIMING, values![job.0, to_signed(*took_ms)?]);
        statements.add(DROP_TIMINGS, values![job.0, to_row_limit(TIMINGS_KEPT)]);
    }
    Ok(())
}
