//! Adding jobs, and asking about them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use credits::{HoldId, KeyTerms, LimitPeriod, Payer, Rejection, Want};
use domain::entropy::{Entropy, time_ordered_id};
use engine::{Advance, MediaEngine, MediaRequest};
use ledger::{Charge, HoldRefused, Ledger, LedgerError};
use media_store::MediaStore;
use moment::{Clock, Timestamp};
use store::Store;
use store::error::StoreError;
use store::job::{JobId, JobKind, JobState, JobWrite, QueuedJob};
use store::write::{Group, Write};
use tokio::sync::Notify;

use crate::bill;
use crate::fair::Turns;
use crate::link::LinkSecret;
use crate::timing::p80;

/// The engine that runs a model now, by the model's id.
pub type EngineOf = Arc<dyn Fn(&str) -> Option<Arc<dyn MediaEngine>> + Send + Sync>;

/// What the queue works with.
pub struct Parts {
    pub store: Arc<dyn Store>,
    pub ledger: Arc<Ledger>,
    pub media: MediaStore,
    pub engine_of: EngineOf,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub links: LinkSecret,
}

/// What the operator decided about the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Jobs under way at a time.
    pub workers: usize,
    /// Jobs of one owner under way at a time.
    pub running_per_owner_max: usize,
    /// Jobs of one owner that have not ended.
    pub open_per_owner_max: usize,
    /// How long a result waits for its owner.
    pub retention: Duration,
    /// What callers are told of a model whose jobs are too few to measure.
    pub music_time: Duration,
    pub video_time: Duration,
    /// The shortest pause between two questions to a provider.
    pub look_every: Duration,
    /// How long a worker may be silent before its job is given to another.
    pub lease: Duration,
    /// Owners that are looked at in one go.
    pub owners_at_once: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            workers: 8,
            running_per_owner_max: 2,
            open_per_owner_max: 100,
            retention: Duration::from_secs(24 * 60 * 60),
            music_time: Duration::from_secs(60),
            video_time: Duration::from_secs(180),
            look_every: Duration::from_secs(1),
            lease: Duration::from_secs(60),
            owners_at_once: 256,
        }
    }
}

/// The queue. Rows are the truth; what is in memory is who works on what here.
pub struct Jobs {
    pub(crate) parts: Parts,
    pub(crate) settings: Settings,
    pub(crate) here: Mutex<Here>,
    pub(crate) added: Notify,
}

/// What this process works on.
#[derive(Debug, Default)]
pub(crate) struct Here {
    pub(crate) under_way: HashSet<JobId>,
    /// What providers last said of the jobs under way.
    pub(crate) advances: HashMap<JobId, Advance>,
    pub(crate) turns: Turns,
}

/// A job that somebody wants to pay for.
pub struct NewJob {
    pub payer: Payer,
    pub kind: JobKind,
    pub model: String,
    pub request: MediaRequest,
    /// What it costs when it succeeds.
    pub charge: Charge,
    pub request_id: String,
    /// Another model, for a caller whose prompt this one's provider refuses.
    pub alternative: Option<String>,
    /// Its caller fetches the result from a link.
    pub has_link: bool,
}

/// Why a job was not queued. Nothing of it is there.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NotQueued {
    #[error("the owner has {most} jobs that have not ended")]
    TooMany { most: usize },
    #[error(transparent)]
    Unpaid(HoldRefused),
    #[error("the queue cannot be written: {0}")]
    Unavailable(String),
}

impl Jobs {
    pub fn new(parts: Parts, settings: Settings) -> Jobs {
        Jobs { parts, settings, here: Mutex::default(), added: Notify::new() }
    }

    /// Holds what the job costs and queues it, in one transaction with what `also` adds.
    pub async fn add(
        &self,
        new: NewJob,
        also: impl FnOnce(JobId) -> Vec<Write> + Send,
    ) -> Result<JobId, NotQueued> {
        let now = self.now();
        let unavailable = |error: &dyn std::fmt::Display| NotQueued::Unavailable(error.to_string());
        let open = self.parts.store.open_jobs(new.payer.owner).await;
        let open = open.map_err(|error| unavailable(&error))?;
        let most = self.settings.open_per_owner_max;
        if most as u64 <= open {
            return Err(NotQueued::TooMany { most });
        }
        let id = JobId(time_ordered_id(now, self.parts.entropy.as_ref()));
        let cost = new.charge.total().map_err(|error| unavailable(&error))?;
        let hold = ledger::Job { hold: HoldId(id.0), payer: new.payer };
        let row = queued(id, new, now);
        let mut writes = vec![Write::Job(Box::new(JobWrite::Add(Box::new(row))))];
        writes.extend(also(id));
        let held = self.parts.ledger.hold_job(hold, Want::Exactly(cost), writes).await;
        match held {
            Ok(_) => {
                self.added.notify_one();
                Ok(id)
            }
            Err(LedgerError::Rejected(rejection)) => {
                Err(NotQueued::Unpaid(HoldRefused::Rejected(rejection)))
            }
            Err(LedgerError::Unavailable) => Err(NotQueued::Unpaid(HoldRefused::Unavailable)),
            Err(error) => Err(unavailable(&error)),
        }
    }

    pub async fn find(&self, id: JobId) -> Result<Option<QueuedJob>, StoreError> {
        self.parts.store.job(id).await
    }

    /// How long four of five jobs of the model take.
    pub async fn usual_time(&self, job: &QueuedJob) -> Result<Duration, StoreError> {
        let default = match job.kind {
            JobKind::Music => self.settings.music_time,
            JobKind::Video => self.settings.video_time,
        };
        Ok(p80(self.parts.store.job_timings(&job.model).await?, default))
    }

    /// How long a job has been worked on, or has waited for that to begin.
    pub fn time_so_far(&self, job: &QueuedJob) -> Duration {
        let until = job.done.unwrap_or_else(|| self.now());
        until.since(job.started.unwrap_or(job.queued))
    }

    /// How far a job has come that this process works on, as its provider said last.
    pub fn advance_of(&self, job: JobId) -> Option<Advance> {
        self.lock().advances.get(&job).copied()
    }

    /// The path and the query of a link to what a job will make.
    pub fn link(&self, job: JobId) -> String {
        self.parts.links.link(job, self.now())
    }

    pub fn links(&self) -> &LinkSecret {
        &self.parts.links
    }

    /// Asks for the end of a job. One that waits ends soon; one that a provider has ends when that
    /// can stop it. Whether it had ended before.
    pub async fn cancel(&self, id: JobId) -> Result<bool, StoreError> {
        let Some(job) = self.find(id).await? else {
            return Err(StoreError::Missing("there is no such job"));
        };
        if !job.state.is_open() {
            return Ok(false);
        }
        let write = Write::Job(Box::new(JobWrite::WantCancel(id)));
        self.parts.store.commit(Group::of(write)).await?;
        self.added.notify_one();
        Ok(true)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Here> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the ledger calls a job. Its hold knows the limits of the key; the charge needs the name.
pub(crate) fn money_of(job: &QueuedJob) -> ledger::Job {
    let terms =
        |key| KeyTerms { key, limit_usd: None, limit_diem: None, period: LimitPeriod::Epoch };
    let payer = Payer { owner: job.owner, key: job.key.map(terms) };
    ledger::Job { hold: HoldId(job.id.0), payer }
}

/// The money was charged or returned before.
pub(crate) fn has_ended(error: &LedgerError) -> bool {
    matches!(error, LedgerError::Rejected(Rejection::Duplicate { .. } | Rejection::NoSuchHold))
}

fn queued(id: JobId, new: NewJob, now: Timestamp) -> QueuedJob {
    QueuedJob {
        id,
        owner: new.payer.owner,
        key: new.payer.key.map(|terms| terms.key),
        kind: new.kind,
        request: serde_json::to_string(&new.request).unwrap_or_default(),
        charge: bill::write(&new.charge),
        model: new.model,
        request_id: new.request_id,
        alternative: new.alternative,
        has_link: new.has_link,
        is_link_revoked: false,
        state: JobState::Queued,
        attempts: 0,
        fence: 0,
        lease_until: Timestamp::default(),
        due: now,
        is_submitting: false,
        wants_cancel: false,
        ticket: None,
        queued: now,
        started: None,
        submitted: None,
        done: None,
        failure: None,
        media: None,
    }
}
