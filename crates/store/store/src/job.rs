//! Queued work: one row for each job, and its steps.
//!
//! ```text
//!            ┌──────────────(again)─────────────┐
//!            ▼                                  │
//! QUEUED ──► RUNNING ──────────────► COMPLETED  │
//!   │         │  ▲  └──────────────► REJECTED   │
//!   │         ▼  │                              │
//!   │       UNKNOWN ─────────────────► FAILED   │
//!   └─────────┴──────────────────────────┴──────┘
//! ```
//!
//! A worker claims a job with a lease and a fence. Its later writes carry that fence; a step with
//! another one is [`StoreError::Missing`](crate::error::StoreError), and changes nothing.

use ledger_core::{KeyId, OwnerId};
use moment::Timestamp;
use uuid::Uuid;

use crate::media::MediaId;

/// Number of last jobs per model whose durations are stored.
pub const TIMINGS_KEPT: usize = 200;
/// The maximum number of jobs per query.
pub const JOBS_MAX: usize = 1000;

/// The id of a job, which is also the id of its hold and the `queue_id` of callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub Uuid);

/// A position in the list of due jobs, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobCursor {
    pub queued: Timestamp,
    pub id: JobId,
}

/// One piece of queued work, and its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedJob {
    pub id: JobId,
    pub owner: OwnerId,
    pub key: Option<KeyId>,
    pub kind: JobKind,
    pub model: String,
    /// As JSON; empty once the job has ended.
    pub request: String,
    /// The charge if it succeeds, as JSON.
    pub charge: String,
    /// The id of the request that queued it.
    pub request_id: String,
    /// A fallback model to suggest if this model's provider rejects the prompt.
    pub alternative: Option<String>,
    /// True if the caller downloads the result from a link.
    pub has_link: bool,
    pub is_link_revoked: bool,
    pub state: JobState,
    /// Number of times it was submitted to a provider.
    pub attempts: u32,
    pub fence: u64,
    pub lease_until: Timestamp,
    /// Not picked up before this time.
    pub due: Timestamp,
    /// Set while a submission has begun and its outcome is not recorded.
    pub is_submitting: bool,
    pub wants_cancel: bool,
    /// The provider's id of the job.
    pub ticket: Option<String>,
    pub queued: Timestamp,
    pub started: Option<Timestamp>,
    pub submitted: Option<Timestamp>,
    pub done: Option<Timestamp>,
    /// The reason why it ended without a result, as JSON.
    pub failure: Option<String>,
    pub media: Option<MediaId>,
}

impl QueuedJob {
    pub fn cursor(&self) -> JobCursor {
        JobCursor { queued: self.queued, id: self.id }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    Music,
    Video,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobState {
    Queued,
    /// A worker processes it, or its lease has not ended yet.
    Running,
    /// A provider has the job and does not report its outcome. The money stays held.
    Unknown,
    Completed,
    Failed,
    /// The provider rejected it for its content policy.
    Rejected,
}

/// A job, and the fence that it must have to take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FencedJob {
    pub job: JobId,
    pub fence: u64,
}

/// A change of an open job, by the worker that holds its fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobStep {
    /// Claims the job, with the next fence.
    Claim {
        lease_until: Timestamp,
    },
    Beat {
        lease_until: Timestamp,
    },
    /// About to be submitted to a provider: one more attempt.
    BeginSubmit,
    /// The provider has accepted it.
    Submitted {
        ticket: String,
    },
    /// The submission did not happen, and no provider has the job.
    PutBack {
        due: Timestamp,
        is_attempt: bool,
    },
    /// A provider has the job and will be polled later.
    Leave {
        due: Timestamp,
        is_unknown: bool,
    },
    /// Written in one group with its charge and its media.
    Complete {
        media: MediaId,
        took_ms: u64,
    },
    /// Written in one group with the release of its hold.
    Fail {
        failure: String,
    },
    Reject {
        failure: String,
    },
}

/// The writes about jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobWrite {
    Add(Box<QueuedJob>),
    Step {
        job: JobId,
        fence: u64,
        step: JobStep,
        at: Timestamp,
    },
    /// The operator wants the job to end. No change if it has ended.
    WantCancel(JobId),
    /// Ends every lease now: the processes that held them are dead.
    BreakLeases,
    /// Disables the download link.
    RevokeLink(JobId),
    /// Deletes jobs that ended before a moment and whose media is deleted, at most `rows_max`.
    DropEnded {
        before: Timestamp,
        rows_max: usize,
    },
}

/// Filters of a list of jobs, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    pub owner: Option<OwnerId>,
    pub open_only: bool,
    /// Only jobs that were queued before this one.
    pub before: Option<JobId>,
    pub limit: usize,
}

/// The number of jobs in a state, and the time of the oldest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobCount {
    pub state: JobState,
    pub jobs: u64,
    pub oldest: Option<Timestamp>,
}

impl JobKind {
    pub fn name(self) -> &'static str {
        match self {
            JobKind::Music => "MUSIC",
            JobKind::Video => "VIDEO",
        }
    }

    pub fn parse(name: &str) -> Option<JobKind> {
        [JobKind::Music, JobKind::Video].into_iter().find(|kind| kind.name() == name)
    }
}

impl JobState {
    pub const ALL: [JobState; 6] = [
        JobState::Queued,
        JobState::Running,
        JobState::Unknown,
        JobState::Completed,
        JobState::Failed,
        JobState::Rejected,
    ];

    pub fn name(self) -> &'static str {
        match self {
            JobState::Queued => "QUEUED",
            JobState::Running => "RUNNING",
            JobState::Unknown => "UNKNOWN",
            JobState::Completed => "COMPLETED",
            JobState::Failed => "FAILED",
            JobState::Rejected => "REJECTED",
        }
    }

    pub fn parse(name: &str) -> Option<JobState> {
        JobState::ALL.into_iter().find(|state| state.name() == name)
    }

    pub fn is_open(self) -> bool {
        matches!(self, JobState::Queued | JobState::Running | JobState::Unknown)
    }
}
