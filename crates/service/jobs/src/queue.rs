//! Adds jobs and answers queries about them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::entropy::{EntropySource, time_ordered_id};
use engine::{MediaEngine, MediaProgress, MediaRequest};
use ledger::{HoldRefused, Ledger, LedgerError, WorkCharge};
use ledger_core::{CommandRejection, HoldId, HoldPayer, HoldRange, KeyTerms, LimitPeriod};
use media_store::MediaStore;
use moment::{Clock, Timestamp};
use store::Store;
use store::error::StoreError;
use store::job::{JobId, JobKind, JobState, JobWrite, QueuedJob};
use store::write::{StoreWrite, WriteGroup};
use tokio::sync::Notify;

use crate::link::LinkSecret;
use crate::owner_turns::OwnerTurns;
use crate::stored_charge;
use crate::timing::estimate_duration;

/// Returns the engine that currently runs a model, by the model's id.
pub type EngineLookup = Arc<dyn Fn(&str) -> Option<Arc<dyn MediaEngine>> + Send + Sync>;

/// Dependencies of the queue.
pub struct QueueDependencies {
    pub store: Arc<dyn Store>,
    pub ledger: Arc<Ledger>,
    pub media: MediaStore,
    pub engine_of: EngineLookup,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn EntropySource>,
    pub links: LinkSecret,
}

/// The operator's settings for the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSettings {
    /// Maximum running jobs.
    pub workers: usize,
    /// Maximum running jobs per owner.
    pub running_per_owner_max: usize,
    /// Maximum unfinished jobs per owner.
    pub open_per_owner_max: usize,
    /// Time until a result is deleted.
    pub retention: Duration,
    /// Expected duration shown to callers while a model has too few finished jobs to measure.
    pub music_time: Duration,
    pub video_time: Duration,
    /// Shortest interval between two status requests to a provider.
    pub look_every: Duration,
    /// Lease duration: a worker silent for longer loses its job to another.
    pub lease: Duration,
    /// Owners read per store query.
    pub owners_at_once: usize,
}

impl Default for QueueSettings {
    fn default() -> QueueSettings {
        QueueSettings {
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

/// The queue. The rows in the store are authoritative; memory holds only the jobs that this process
/// runs.
pub struct JobQueue {
    pub(crate) parts: QueueDependencies,
    pub(crate) settings: QueueSettings,
    pub(crate) here: Mutex<RunningJobs>,
    pub(crate) added: Notify,
}

/// The jobs that this process runs.
#[derive(Debug, Default)]
pub(crate) struct RunningJobs {
    pub(crate) under_way: HashSet<JobId>,
    /// The last progress that providers reported for running jobs.
    pub(crate) advances: HashMap<JobId, MediaProgress>,
    pub(crate) turns: OwnerTurns,
}

/// A job to be paid and queued.
pub struct NewJob {
    pub payer: HoldPayer,
    pub kind: JobKind,
    pub model: String,
    pub request: MediaRequest,
    /// The charge if the job succeeds.
    pub charge: WorkCharge,
    pub request_id: String,
    /// Another model, suggested if this model's provider refuses the prompt.
    pub alternative: Option<String>,
    /// Set if the caller downloads the result from a link.
    pub has_link: bool,
}

/// The reason why a job was not queued. Nothing was written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum QueueError {
    #[error("the owner has {most} jobs that have not ended")]
    TooMany { most: usize },
    #[error(transparent)]
    Unpaid(HoldRefused),
    #[error("the queue cannot be written: {0}")]
    Unavailable(String),
}

impl JobQueue {
    pub fn new(parts: QueueDependencies, settings: QueueSettings) -> JobQueue {
        JobQueue { parts, settings, here: Mutex::default(), added: Notify::new() }
    }

    /// Holds the job's cost and queues it, in one transaction with the writes of `also`.
    pub async fn add(
        &self,
        new: NewJob,
        also: impl FnOnce(JobId) -> Vec<StoreWrite> + Send,
    ) -> Result<JobId, QueueError> {
        let now = self.now();
        let unavailable =
            |error: &dyn std::fmt::Display| QueueError::Unavailable(error.to_string());
        let open = self.parts.store.open_jobs(new.payer.owner).await;
        let open = open.map_err(|error| unavailable(&error))?;
        let most = self.settings.open_per_owner_max;
        if most as u64 <= open {
            return Err(QueueError::TooMany { most });
        }
        let id = JobId(time_ordered_id(now, self.parts.entropy.as_ref()));
        let cost = new.charge.total().map_err(|error| unavailable(&error))?;
        let hold = ledger::LedgerJob { hold: HoldId(id.0), payer: new.payer };
        let row = build_queued_job(id, new, now);
        let mut writes = vec![StoreWrite::Job(Box::new(JobWrite::Add(Box::new(row))))];
        writes.extend(also(id));
        let held = self.parts.ledger.hold_job(hold, HoldRange::Exactly(cost), writes).await;
        match held {
            Ok(_) => {
                self.added.notify_one();
                Ok(id)
            }
            Err(LedgerError::Rejected(rejection)) => {
                Err(QueueError::Unpaid(HoldRefused::Rejected(rejection)))
            }
            Err(LedgerError::Unavailable) => Err(QueueError::Unpaid(HoldRefused::Unavailable)),
            Err(error) => Err(unavailable(&error)),
        }
    }

    pub async fn find(&self, id: JobId) -> Result<Option<QueuedJob>, StoreError> {
        self.parts.store.job(id).await
    }

    /// The time within which 80 % of the model's jobs end.
    pub async fn expected_time(&self, job: &QueuedJob) -> Result<Duration, StoreError> {
        let default = match job.kind {
            JobKind::Music => self.settings.music_time,
            JobKind::Video => self.settings.video_time,
        };
        Ok(estimate_duration(self.parts.store.job_timings(&job.model).await?, default))
    }

    /// The time since the job started, or since it was queued if it has not started.
    pub fn elapsed_time(&self, job: &QueuedJob) -> Duration {
        let until = job.done.unwrap_or_else(|| self.now());
        until.since(job.started.unwrap_or(job.queued))
    }

    /// The last progress that the provider reported, for a job that this process runs.
    pub fn reported_progress(&self, job: JobId) -> Option<MediaProgress> {
        self.lock().advances.get(&job).copied()
    }

    /// The path and query of a link to the job's future result.
    pub fn sign_link(&self, job: JobId) -> String {
        self.parts.links.sign_link(job, self.now())
    }

    pub fn link_secret(&self) -> &LinkSecret {
        &self.parts.links
    }

    /// Requests the cancellation of a job. A waiting job ends soon; a submitted one ends when its
    /// provider can stop it. Returns true if it had already ended.
    pub async fn cancel(&self, id: JobId) -> Result<bool, StoreError> {
        let Some(job) = self.find(id).await? else {
            return Err(StoreError::Missing("there is no such job"));
        };
        if !job.state.is_open() {
            return Ok(false);
        }
        let write = StoreWrite::Job(Box::new(JobWrite::WantCancel(id)));
        self.parts.store.commit(WriteGroup::from_write(write)).await?;
        self.added.notify_one();
        Ok(true)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, RunningJobs> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The job's hold and payer for the ledger. The hold already counted against the key's limits, so
/// only the key's id is needed.
pub(crate) fn to_ledger_job(job: &QueuedJob) -> ledger::LedgerJob {
    let terms =
        |key| KeyTerms { key, limit_usd: None, limit_diem: None, period: LimitPeriod::Epoch };
    let payer = HoldPayer { owner: job.owner, key: job.key.map(terms) };
    ledger::LedgerJob { hold: HoldId(job.id.0), payer }
}

/// True if the money was already charged or refunded.
pub(crate) fn is_already_settled(error: &LedgerError) -> bool {
    matches!(
        error,
        LedgerError::Rejected(CommandRejection::Duplicate { .. } | CommandRejection::NoSuchHold)
    )
}

fn build_queued_job(id: JobId, new: NewJob, now: Timestamp) -> QueuedJob {
    QueuedJob {
        id,
        owner: new.payer.owner,
        key: new.payer.key.map(|terms| terms.key),
        kind: new.kind,
        request: serde_json::to_string(&new.request).unwrap_or_default(),
        charge: stored_charge::encode_charge(&new.charge),
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
