//! Decides the next step of a job from its row and an engine's response.

use std::time::Duration;

use engine::{ContentRefusal, EngineError, MediaStatus};
use moment::Timestamp;
use store::job::QueuedJob;

use crate::failure::{FailureReason, JobFailure};

/// Maximum submissions of a job to a provider. Claiming a job again after a crash of this service
/// does not count.
pub const ATTEMPTS_MAX: u32 = 3;
/// Maximum time that a job may wait or run at a provider. After it the hold is released and a
/// warning is logged.
pub(crate) const JOB_TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// A provider that gave no response about a job for this long is polled less often.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(600);
/// Polling interval for such jobs.
pub(crate) const UNKNOWN_PAUSE: Duration = Duration::from_secs(60);
/// Default retry delay if an overloaded engine names none.
const OVERLOAD_PAUSE: Duration = Duration::from_secs(30);
/// Delay before the second attempt; each further delay is four times as long.
const RETRY_PAUSE: Duration = Duration::from_secs(10);

/// The first step for a claimed job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FirstStep {
    /// It was never submitted.
    Submit,
    /// It was submitted under its idempotency name with unknown outcome. Submitting again is safe.
    SubmitAgain,
    /// A provider has it.
    Look,
    End(JobFailure),
}

/// `knows_names`: the engine deduplicates submissions by name.
pub(crate) fn decide_first_step(job: &QueuedJob, knows_names: bool, now: Timestamp) -> FirstStep {
    let was_cut_off = job.is_submitting && job.ticket.is_none();
    if job.ticket.is_some() {
        return if is_overdue(job, now) {
            FirstStep::End(overdue_failure())
        } else {
            FirstStep::Look
        };
    }
    if was_cut_off && !knows_names {
        let message = "The service was interrupted while it submitted the job.";
        return FirstStep::End(JobFailure::new(FailureReason::Interrupted, message));
    }
    if job.wants_cancel {
        return FirstStep::End(cancelled_failure());
    }
    if job.queued.plus(JOB_TIME_MAX) <= now {
        return FirstStep::End(overdue_failure());
    }
    if was_cut_off { FirstStep::SubmitAgain } else { FirstStep::Submit }
}

/// The step after an engine did not accept a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SubmitFailureStep {
    /// Back into the queue.
    PutBack {
        pause: Duration,
        is_attempt: bool,
    },
    End(JobFailure),
}

/// `attempts` includes the failed one.
pub(crate) fn decide_after_submit_error(
    error: EngineError,
    attempts: u32,
    knows_names: bool,
) -> SubmitFailureStep {
    match error {
        EngineError::Rejected { message } | EngineError::ContextOverflow { message } => {
            SubmitFailureStep::End(JobFailure::new(FailureReason::Rejected, message))
        }
        // Checked before the job was queued, but a changed workflow can need more fields now.
        EngineError::FieldMissing { field } => {
            let message = format!("This model needs `{field}`.");
            SubmitFailureStep::End(JobFailure::new(FailureReason::Rejected, message))
        }
        EngineError::ContentPolicy { message } => {
            let refusal = ContentRefusal { message, ..ContentRefusal::default() };
            SubmitFailureStep::End(JobFailure::from_refusal(refusal))
        }
        EngineError::Overloaded { retry_after }
        | EngineError::ServiceOverloaded { retry_after } => {
            let pause = retry_after.unwrap_or(OVERLOAD_PAUSE);
            SubmitFailureStep::PutBack { pause, is_attempt: false }
        }
        EngineError::NotReady { retry_after, .. } => {
            SubmitFailureStep::PutBack { pause: retry_after, is_attempt: false }
        }
        // The engine never received the job, or refused us before reading it.
        EngineError::Unreachable { .. } | EngineError::Misconfigured { .. } => {
            decide_retry(attempts)
        }
        // The work may have started. Another submission could run it twice.
        EngineError::Timeout { .. } | EngineError::BadAnswer { .. } => {
            if knows_names {
                decide_retry(attempts)
            } else {
                SubmitFailureStep::End(provider_failure())
            }
        }
    }
}

fn decide_retry(attempts: u32) -> SubmitFailureStep {
    match retry_pause(attempts) {
        Some(pause) => SubmitFailureStep::PutBack { pause, is_attempt: true },
        None => SubmitFailureStep::End(provider_failure()),
    }
}

/// The delay before the next attempt; `None` if this was the last.
fn retry_pause(attempts: u32) -> Option<Duration> {
    (attempts < ATTEMPTS_MAX)
        .then(|| RETRY_PAUSE * 4_u32.saturating_pow(attempts.saturating_sub(1)))
}

/// The step after an engine was polled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PollStep {
    /// Poll again later.
    Wait,
    Fetch,
    /// The provider no longer knows the job: submit it again.
    PutBack {
        pause: Duration,
    },
    /// The provider is silent. The hold stays, and the job is polled again later.
    LeaveUnknown,
    End(JobFailure),
}

/// `heard` is the time of the engine's last response about the job.
pub(crate) fn decide_after_poll(
    outcome: Result<MediaStatus, EngineError>,
    job: &QueuedJob,
    heard: Timestamp,
    now: Timestamp,
) -> PollStep {
    let verdict = match outcome {
        Ok(MediaStatus::Done) => return PollStep::Fetch,
        Ok(MediaStatus::Running(_)) => PollStep::Wait,
        Ok(MediaStatus::Refused(refusal)) => {
            return PollStep::End(JobFailure::from_refusal(refusal));
        }
        Ok(MediaStatus::Rejected { message }) => {
            return PollStep::End(JobFailure::new(FailureReason::Provider, message));
        }
        Ok(MediaStatus::Failed { message }) => {
            let last = JobFailure::new(FailureReason::Provider, message);
            return retry_pause(job.attempts)
                .map_or(PollStep::End(last), |pause| PollStep::PutBack { pause });
        }
        Ok(MediaStatus::Lost) => {
            return retry_pause(job.attempts)
                .map_or(PollStep::End(provider_failure()), |pause| PollStep::PutBack { pause });
        }
        Err(_) if heard.plus(SILENCE_MAX) <= now => PollStep::LeaveUnknown,
        Err(_) => PollStep::Wait,
    };
    if is_overdue(job, now) { PollStep::End(overdue_failure()) } else { verdict }
}

fn is_overdue(job: &QueuedJob, now: Timestamp) -> bool {
    job.submitted.unwrap_or(job.queued).plus(JOB_TIME_MAX) <= now
}

pub(crate) fn provider_failure() -> JobFailure {
    JobFailure::new(FailureReason::Provider, "The model's provider failed.")
}

pub(crate) fn cancelled_failure() -> JobFailure {
    JobFailure::new(FailureReason::Cancelled, "The job was cancelled by the operator.")
}

fn overdue_failure() -> JobFailure {
    JobFailure::new(FailureReason::Overdue, "The model's provider did not finish in time.")
}

/// The polling interval for a job that was submitted this long ago.
pub(crate) fn poll_interval(since_submit: Duration, shortest: Duration) -> Duration {
    let factor = match since_submit.as_secs() {
        0..10 => 1,
        10..60 => 3,
        _ => 10,
    };
    shortest * factor
}
