//! Queued work: one row for each job, and the steps that it takes.
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
//! A worker claims a job with a lease and a fence. Whatever it writes later names that fence; a
//! step with another one is [`StoreError::Missing`](crate::error::StoreError), and changes nothing.

use credits::{KeyId, OwnerId};
use moment::Timestamp;
use uuid::Uuid;

use crate::media::MediaId;

/// The last jobs of a model whose times are remembered.
pub const TIMINGS_KEPT: usize = 200;
/// The most jobs that one answer carries.
pub const JOBS_MAX: usize = 1000;

/// A job, which is also the name of its hold and what callers call `queue_id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub Uuid);

/// A position in the list of due jobs, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobCursor {
    pub queued: Timestamp,
    pub id: JobId,
}

/// One piece of queued work, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedJob {
    pub id: JobId,
    pub owner: OwnerId,
    pub key: Option<KeyId>,
    pub kind: JobKind,
    pub model: String,
    /// As JSON; empty once the job has ended.
    pub request: String,
    /// What it costs when it succeeds, as JSON.
    pub charge: String,
    /// The request that queued it.
    pub request_id: String,
    /// Another model, for a caller whose prompt this one's provider refuses.
    pub alternative: Option<String>,
    /// Whether its caller fetches the result from a link.
    pub has_link: bool,
    pub is_link_revoked: bool,
    pub state: JobState,
    /// How often it was handed to a provider.
    pub attempts: u32,
    pub fence: u64,
    pub lease_until: Timestamp,
    /// Nobody takes it up before.
    pub due: Timestamp,
    /// Somebody began to hand it in and has not said how that ended.
    pub is_submitting: bool,
    pub wants_cancel: bool,
    /// What its provider knows it by.
    pub ticket: Option<String>,
    pub queued: Timestamp,
    pub started: Option<Timestamp>,
    pub submitted: Option<Timestamp>,
    pub done: Option<Timestamp>,
    /// Why it ended without a result, as JSON.
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
    /// Somebody works on it, or has until the lease ends.
    Running,
    /// A provider has it and does not say what became of it. The money stays held.
    Unknown,
    Completed,
    Failed,
    /// Against the policy of its provider.
    Rejected,
}

/// A change of an open job, by the worker that holds its fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobStep {
    /// Takes it up, under the next fence.
    Claim {
        lease_until: Timestamp,
    },
    Beat {
        lease_until: Timestamp,
    },
    /// About to be handed to a provider: one more attempt.
    BeginSubmit,
    /// The provider has it.
    Submitted {
        ticket: String,
    },
    /// It was not handed in after all, and nothing is known of it anywhere.
    PutBack {
        due: Timestamp,
        is_attempt: bool,
    },
    /// A provider has it, and is asked again later.
    Leave {
        due: Timestamp,
        is_unknown: bool,
    },
    /// Written with its charge and its media in one group.
    Complete {
        media: MediaId,
        took_ms: u64,
    },
    /// Written with the release of its hold in one group.
    Fail {
        failure: String,
    },
    Reject {
        failure: String,
    },
}

/// What can be written about jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobWrite {
    Add(Box<QueuedJob>),
    Step {
        job: JobId,
        fence: u64,
        step: JobStep,
        at: Timestamp,
    },
    /// Its operator wants it to end. Nothing changes for one that has ended.
    WantCancel(JobId),
    /// Every lease ends now: the processes that held them are dead.
    BreakLeases,
    /// The link opens nothing any more.
    RevokeLink(JobId),
    /// Forgets jobs that ended before a moment and whose media is gone, at most `rows_max`.
    DropEnded {
        before: Timestamp,
        rows_max: usize,
    },
}

/// Which jobs to list, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    pub owner: Option<OwnerId>,
    pub open_only: bool,
    /// Those that were queued before this one.
    pub before: Option<JobId>,
    pub limit: usize,
}

/// How many jobs there are in a state, and since when the oldest waits.
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
