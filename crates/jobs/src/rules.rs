//! Decides the next step of a job from its row and an engine's response.

use std::time::Duration;

use engine::{ContentRefusal, EngineError, Progress};
use moment::Timestamp;
use store::job::QueuedJob;

use crate::failure::{FailureReason, JobFailure};

/// Maximum submissions of a job to a provider. Claiming a job again after a crash of this service
/// does not count.
pub const ATTEMPTS_MAX: u32 = 3;
/// Maximum time that a job may wait or run at a provider. After it the hold is released and a
/// warning is logged.
pub(crate) const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);
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
pub(crate) enum First {
    /// It was never submitted.
    Submit,
    /// It was submitted under its idempotency name with unknown outcome. Submitting again is safe.
    SubmitAgain,
    /// A provider has it.
    Look,
    End(JobFailure),
}

/// `knows_names`: the engine deduplicates submissions by name.
pub(crate) fn first(job: &QueuedJob, knows_names: bool, now: Timestamp) -> First {
    let was_cut_off = job.is_submitting && job.ticket.is_none();
    if job.ticket.is_some() {
        return if is_overdue(job, now) { First::End(overdue()) } else { First::Look };
    }
    if was_cut_off && !knows_names {
        let message = "The service was interrupted while it handed the job in.";
        return First::End(JobFailure::new(FailureReason::Interrupted, message));
    }
    if job.wants_cancel {
        return First::End(cancelled());
    }
    if job.queued.plus(PATIENCE) <= now {
        return First::End(overdue());
    }
    if was_cut_off { First::SubmitAgain } else { First::Submit }
}

/// The step after an engine did not accept a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// Back into the queue.
    PutBack {
        pause: Duration,
        is_attempt: bool,
    },
    End(JobFailure),
}

/// `attempts` includes the failed one.
pub(crate) fn not_taken(error: EngineError, attempts: u32, knows_names: bool) -> NotTaken {
    match error {
        EngineError::Rejected { message } | EngineError::ContextOverflow { message } => {
            NotTaken::End(JobFailure::new(FailureReason::Rejected, message))
        }
        // Checked before the job was queued, but a changed workflow can need more fields now.
        EngineError::FieldMissing { field } => {
            let message = format!("This model needs `{field}`.");
            NotTaken::End(JobFailure::new(FailureReason::Rejected, message))
        }
        EngineError::ContentPolicy { message } => {
            let refusal = ContentRefusal { message, ..ContentRefusal::default() };
            NotTaken::End(JobFailure::refused(refusal))
        }
        EngineError::Overloaded { retry_after } => {
            let pause = retry_after.unwrap_or(OVERLOAD_PAUSE);
            NotTaken::PutBack { pause, is_attempt: false }
        }
        EngineError::NotReady { retry_after, .. } => {
            NotTaken::PutBack { pause: retry_after, is_attempt: false }
        }
        // The engine never received the job, or refused us before reading it.
        EngineError::Unreachable { .. } | EngineError::Misconfigured { .. } => again(attempts),
        // The work may have started. Another submission could run it twice.
        EngineError::Timeout { .. } | EngineError::BadAnswer { .. } => {
            if knows_names {
                again(attempts)
            } else {
                NotTaken::End(gave_up())
            }
        }
    }
}

fn again(attempts: u32) -> NotTaken {
    match retry_pause(attempts) {
        Some(pause) => NotTaken::PutBack { pause, is_attempt: true },
        None => NotTaken::End(gave_up()),
    }
}

/// The delay before the next attempt; `None` if this was the last.
fn retry_pause(attempts: u32) -> Option<Duration> {
    (attempts < ATTEMPTS_MAX)
        .then(|| RETRY_PAUSE * 4_u32.saturating_pow(attempts.saturating_sub(1)))
}

/// The step after an engine was polled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
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
pub(crate) fn seen(
    outcome: Result<Progress, EngineError>,
    job: &QueuedJob,
    heard: Timestamp,
    now: Timestamp,
) -> Seen {
    let verdict = match outcome {
        Ok(Progress::Done) => return Seen::Fetch,
        Ok(Progress::Running(_)) => Seen::Wait,
        Ok(Progress::Refused(refusal)) => return Seen::End(JobFailure::refused(refusal)),
        Ok(Progress::Rejected { message }) => {
            return Seen::End(JobFailure::new(FailureReason::Provider, message));
        }
        Ok(Progress::Failed { message }) => {
            let last = JobFailure::new(FailureReason::Provider, message);
            return retry_pause(job.attempts)
                .map_or(Seen::End(last), |pause| Seen::PutBack { pause });
        }
        Ok(Progress::Lost) => {
            return retry_pause(job.attempts)
                .map_or(Seen::End(gave_up()), |pause| Seen::PutBack { pause });
        }
        Err(_) if heard.plus(SILENCE_MAX) <= now => Seen::LeaveUnknown,
        Err(_) => Seen::Wait,
    };
    if is_overdue(job, now) { Seen::End(overdue()) } else { verdict }
}

fn is_overdue(job: &QueuedJob, now: Timestamp) -> bool {
    job.submitted.unwrap_or(job.queued).plus(PATIENCE) <= now
}

pub(crate) fn gave_up() -> JobFailure {
    JobFailure::new(FailureReason::Provider, "The model's provider failed to do the work.")
}

pub(crate) fn cancelled() -> JobFailure {
    JobFailure::new(FailureReason::Cancelled, "The job was cancelled by the operator.")
}

fn overdue() -> JobFailure {
    JobFailure::new(FailureReason::Overdue, "The model's provider did not finish in time.")
}

/// The polling interval for a job that was submitted this long ago.
pub(crate) fn look_pause(since_submit: Duration, shortest: Duration) -> Duration {
    let factor = match since_submit.as_secs() {
        0..10 => 1,
        10..60 => 3,
        _ => 10,
    };
    shortest * factor
}
