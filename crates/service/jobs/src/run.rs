//! Runs one claimed job until it ends or its lease is given up.

use std::sync::Arc;
use std::time::Duration;

use engine::{EngineError, MediaEngine, MediaFile, MediaRequest, MediaStatus, MediaTicket};
use moment::Timestamp;
use store::error::StoreError;
use store::job::{JobKind, JobStep, JobWrite, QueuedJob};
use store::media::{MediaId, MediaRow, MediaState, MediaWrite};
use store::write::{StoreWrite, WriteGroup};
use tokio_util::sync::CancellationToken;

use crate::failure::{FailureReason, JobFailure};
use crate::queue::{JobQueue, is_already_settled, to_ledger_job};
use crate::results::StoredFile;
use crate::rules::{self, FirstStep, PollStep, SubmitFailureStep};
use crate::{content, stored_charge};

/// Delay before a failed store write is retried.
const STORE_PAUSE: Duration = Duration::from_secs(5);
/// Delay before a failed download or upload of a file is retried.
const FETCH_PAUSE: Duration = Duration::from_secs(30);

pub(crate) struct JobRun {
    jobs: Arc<JobQueue>,
    job: QueuedJob,
}

/// A job's slot among the running jobs, which is freed on drop, even after a panic.
struct RunningSlot {
    jobs: Arc<JobQueue>,
    job: QueuedJob,
}

impl Drop for RunningSlot {
    fn drop(&mut self) {
        self.jobs.release_slot(&self.job);
        self.jobs.added.notify_one();
    }
}

/// The reason why this worker stops processing a job. The row has the job's state.
#[derive(Debug)]
enum RunStop {
    /// The job ended, or its next due time was written.
    Written,
    /// Another worker has the lease.
    Fenced,
    /// The store accepts no writes. The lease will expire.
    Unwritable(String),
}

impl From<StoreError> for RunStop {
    fn from(error: StoreError) -> RunStop {
        match error {
            StoreError::Missing(_) => RunStop::Fenced,
            other => RunStop::Unwritable(other.to_string()),
        }
    }
}

type RunResult<T> = Result<T, RunStop>;

impl JobRun {
    pub(crate) fn new(jobs: Arc<JobQueue>, job: QueuedJob) -> JobRun {
        JobRun { jobs, job }
    }

    /// Processes the job while the lease is extended. On `stop` it gives the lease back at once.
    pub(crate) async fn run_to_end(mut self, stop: CancellationToken) {
        let (jobs, job) = (Arc::clone(&self.jobs), self.job.clone());
        let _place = RunningSlot { jobs: Arc::clone(&jobs), job: job.clone() };
        let stopped = {
            let beating = extend_lease(&jobs, &job);
            tokio::select! {
                stopped = self.run_job() => Some(stopped),
                stopped = beating => Some(stopped),
                () = stop.cancelled() => None,
            }
        };
        match stopped {
            Some(RunStop::Written) => {}
            Some(RunStop::Fenced) => {
                tracing::warn!(job = %job.id.0, "another worker has taken over the job");
            }
            Some(RunStop::Unwritable(error)) => {
                tracing::warn!(job = %job.id.0, error, "a job is left until its lease ends: {error}");
                tokio::time::sleep(STORE_PAUSE).await;
            }
            None => {
                let lease_until = jobs.now();
                let let_go = write_step(&jobs, &job, JobStep::Beat { lease_until }).await;
                if let Err(error) = let_go {
                    tracing::warn!(job = %job.id.0, ?error, "a lease was not released");
                }
            }
        }
    }

    async fn run_job(&mut self) -> RunStop {
        match self.process_job().await {
            Ok(()) => RunStop::Written,
            Err(stopped) => stopped,
        }
    }

    async fn process_job(&mut self) -> RunResult<()> {
        let Some(engine) = (self.jobs.parts.engine_of)(&self.job.model) else {
            return self.handle_missing_engine().await;
        };
        let ticket = match rules::decide_first_step(
            &self.job,
            engine.has_idempotent_submit(),
            self.jobs.now(),
        ) {
            FirstStep::End(failure) => return self.end_with_failure(failure).await,
            FirstStep::Look => MediaTicket(self.job.ticket.clone().unwrap_or_default()),
            FirstStep::Submit => {
                self.write(JobStep::BeginSubmit).await?;
                self.job.attempts += 1;
                match self.submit(engine.as_ref()).await? {
                    Some(ticket) => ticket,
                    None => return Ok(()),
                }
            }
            FirstStep::SubmitAgain => match self.submit(engine.as_ref()).await? {
                Some(ticket) => ticket,
                None => return Ok(()),
            },
        };
        self.poll_until_end(engine.as_ref(), &ticket).await
    }

    /// The model was removed from the catalogue, or its provider was. A job that no provider has is
    /// failed; otherwise it waits, because the operator may restore the provider.
    async fn handle_missing_engine(&mut self) -> RunResult<()> {
        if self.job.ticket.is_none() {
            let message = "The model is no longer available.";
            return self
                .end_with_failure(JobFailure::new(FailureReason::Unsupported, message))
                .await;
        }
        match rules::decide_after_poll(
            Err(EngineError::Unreachable { cause: String::new() }),
            &self.job,
            Timestamp::default(),
            self.jobs.now(),
        ) {
            PollStep::End(failure) => self.end_with_failure(failure).await,
            _ => self.reschedule(rules::UNKNOWN_PAUSE, true).await,
        }
    }

    /// `None` if the engine did not accept the job and that was written.
    async fn submit(&mut self, engine: &dyn MediaEngine) -> RunResult<Option<MediaTicket>> {
        let Ok(request) = serde_json::from_str::<MediaRequest>(&self.job.request) else {
            let message =
                "The job was queued by another release in a format that this release cannot read.";
            self.end_with_failure(JobFailure::new(FailureReason::Unsupported, message)).await?;
            return Ok(None);
        };
        let name = self.job.id.0.to_string();
        match engine.submit(&name, &request).await {
            Ok(ticket) => {
                self.write(JobStep::Submitted { ticket: ticket.0.clone() }).await?;
                self.job.ticket = Some(ticket.0.clone());
                self.job.submitted = Some(self.jobs.now());
                Ok(Some(ticket))
            }
            Err(error) => {
                tracing::warn!(
                    job = %name, model = self.job.model, %error, "a provider did not accept a job"
                );
                let next = rules::decide_after_submit_error(
                    error,
                    self.job.attempts,
                    engine.has_idempotent_submit(),
                );
                match next {
                    SubmitFailureStep::End(failure) => self.end_with_failure(failure).await?,
                    SubmitFailureStep::PutBack { pause, is_attempt } => {
                        self.requeue(pause, is_attempt).await?;
                    }
                }
                Ok(None)
            }
        }
    }

    /// Polls the job until it ends.
    async fn poll_until_end(
        &mut self,
        engine: &dyn MediaEngine,
        ticket: &MediaTicket,
    ) -> RunResult<()> {
        let mut heard = self.jobs.now();
        let began = heard;
        loop {
            if self.is_unwanted().await? && self.cancel_at_engine(engine, ticket).await {
                return self.end_with_failure(rules::cancelled_failure()).await;
            }
            let outcome = engine.poll_status(ticket).await;
            let now = self.jobs.now();
            if let Ok(MediaStatus::Running(advance)) = outcome {
                self.jobs.lock().advances.insert(self.job.id, advance);
            }
            match &outcome {
                Ok(_) => heard = now,
                Err(error) => {
                    tracing::warn!(
                        job = %self.job.id.0, %error, "a provider does not report on a job: {error}"
                    );
                }
            }
            match rules::decide_after_poll(outcome, &self.job, heard, now) {
                PollStep::Wait => {
                    let since = now.since(self.job.submitted.unwrap_or(began));
                    let pause = rules::poll_interval(since, self.jobs.settings.look_every);
                    tokio::time::sleep(pause).await;
                }
                PollStep::Fetch => return self.store_result(engine, ticket).await,
                PollStep::PutBack { pause } => return self.requeue(pause, true).await,
                PollStep::LeaveUnknown => return self.reschedule(rules::UNKNOWN_PAUSE, true).await,
                PollStep::End(failure) => return self.end_with_failure(failure).await,
            }
        }
    }

    /// An operator may cancel at any time, also through another process.
    async fn is_unwanted(&self) -> RunResult<bool> {
        let row = self.jobs.find(self.job.id).await?;
        Ok(row.is_some_and(|row| row.wants_cancel))
    }

    async fn cancel_at_engine(&self, engine: &dyn MediaEngine, ticket: &MediaTicket) -> bool {
        match engine.cancel(ticket).await {
            Ok(is_cancelled) => is_cancelled,
            Err(error) => {
                tracing::warn!(job = %self.job.id.0, %error, "a job was not cancelled: {error}");
                false
            }
        }
    }

    /// Stores the result and charges for it: the media row, the charge and the state are one
    /// transaction.
    async fn store_result(
        &mut self,
        engine: &dyn MediaEngine,
        ticket: &MediaTicket,
    ) -> RunResult<()> {
        let file = match engine.download(ticket).await {
            Ok(file) => file,
            Err(error) => return self.retry_fetch(&error.to_string()).await,
        };
        let kept = match self.store_file(file).await {
            Ok(kept) => kept,
            Err(error) => return self.retry_fetch(&error.to_string()).await,
        };
        let Some(content_type) = content::content_type(self.job.kind, &kept.written.head) else {
            tracing::warn!(job = %self.job.id.0, "a result is neither audio nor video");
            return self.end_with_failure(rules::provider_failure()).await;
        };
        let (now, job) = (self.jobs.now(), &self.job);
        let Some(mut charge) =
            stored_charge::decode_charge(&job.charge, &job.model, &job.request_id)
        else {
            return Err(RunStop::Unwritable("its price cannot be read".to_owned()));
        };
        let took_ms = now.since(job.started.unwrap_or(job.queued)).as_millis();
        let took_ms = u64::try_from(took_ms).unwrap_or(u64::MAX);
        charge.details.execution_ms = Some(took_ms);
        let media = MediaRow {
            id: MediaId(kept.object),
            owner: job.owner,
            bytes: kept.written.bytes,
            content_type: content_type.to_owned(),
            sha256: kept.written.sha256,
            key: Some(*kept.key.as_bytes()),
            state: MediaState::Stored,
            stored: now,
            expires: now.plus(self.jobs.settings.retention),
        };
        let step = JobStep::Complete { media: media.id, took_ms };
        let also = vec![
            StoreWrite::Media(Box::new(MediaWrite::Add(media))),
            self.build_step_write(step, now),
        ];
        self.check_fence().await?;
        let settled = self.jobs.parts.ledger.settle_job(to_ledger_job(job), charge, also).await;
        match settled {
            Ok(_) => {}
            Err(error) if is_already_settled(&error) => return Err(RunStop::Fenced),
            Err(error) => return Err(RunStop::Unwritable(error.to_string())),
        }
        count_end(job, "completed");
        metrics::histogram!("jobs_seconds", "kind" => job.kind.name())
            .record(Duration::from_millis(took_ms).as_secs_f64());
        Ok(())
    }

    async fn store_file(&self, file: MediaFile) -> Result<StoredFile, media_store::MediaError> {
        self.jobs.store_file(file).await
    }

    /// The provider has the result, so the download is retried until the job's time limit.
    async fn retry_fetch(&mut self, error: &str) -> RunResult<()> {
        tracing::warn!(job = %self.job.id.0, error, "a result was not downloaded: {error}");
        let silent = Err(EngineError::BadAnswer { cause: error.to_owned() });
        let now = self.jobs.now();
        match rules::decide_after_poll(silent, &self.job, now, now) {
            PollStep::End(failure) => self.end_with_failure(failure).await,
            _ => self.reschedule(FETCH_PAUSE, false).await,
        }
    }

    /// Refunds the money and ends the job, in one transaction.
    async fn end_with_failure(&mut self, mut failure: JobFailure) -> RunResult<()> {
        if failure.is_policy() && self.job.kind == JobKind::Video {
            failure.recommended_model =
                failure.recommended_model.take().or_else(|| self.job.alternative.clone());
        }
        let (reason, written) = (failure.reason, failure.to_json());
        if matches!(reason, FailureReason::Overdue | FailureReason::Interrupted) {
            tracing::error!(
                job = %self.job.id.0,
                model = self.job.model,
                ticket = self.job.ticket.as_deref().unwrap_or("none"),
                "a job ended without a final status from its provider, which may charge for it: {}",
                reason.name()
            );
        }
        let step = if failure.is_policy() {
            JobStep::Reject { failure: written }
        } else {
            JobStep::Fail { failure: written }
        };
        self.check_fence().await?;
        let also = vec![self.build_step_write(step, self.jobs.now())];
        let released = self.jobs.parts.ledger.release_job(to_ledger_job(&self.job), also).await;
        match released {
            Ok(()) => {}
            Err(error) if is_already_settled(&error) => return Err(RunStop::Fenced),
            Err(error) => return Err(RunStop::Unwritable(error.to_string())),
        }
        count_end(&self.job, reason.name());
        Ok(())
    }

    /// Checks the fence before a write. A refused group with money in it would stop all charging
    /// until the ledger is reloaded.
    async fn check_fence(&self) -> RunResult<()> {
        let row = self.jobs.find(self.job.id).await?;
        let is_ours = row.is_some_and(|row| row.fence == self.job.fence && row.state.is_open());
        if is_ours { Ok(()) } else { Err(RunStop::Fenced) }
    }

    async fn requeue(&mut self, pause: Duration, is_attempt: bool) -> RunResult<()> {
        let due = self.jobs.now().plus(pause);
        self.write(JobStep::PutBack { due, is_attempt }).await
    }

    async fn reschedule(&mut self, pause: Duration, is_unknown: bool) -> RunResult<()> {
        let due = self.jobs.now().plus(pause);
        self.write(JobStep::Leave { due, is_unknown }).await
    }

    async fn write(&self, step: JobStep) -> RunResult<()> {
        write_step(&self.jobs, &self.job, step).await
    }

    fn build_step_write(&self, step: JobStep, at: Timestamp) -> StoreWrite {
        let (job, fence) = (self.job.id, self.job.fence);
        StoreWrite::Job(Box::new(JobWrite::Step { job, fence, step, at }))
    }
}

async fn write_step(jobs: &JobQueue, job: &QueuedJob, step: JobStep) -> RunResult<()> {
    let write = JobWrite::Step { job: job.id, fence: job.fence, step, at: jobs.now() };
    let written =
        jobs.parts.store.commit(WriteGroup::from_write(StoreWrite::Job(Box::new(write)))).await;
    written.map_err(RunStop::from)
}

/// Extends the lease after each third of its duration. Returns when it is lost.
async fn extend_lease(jobs: &JobQueue, job: &QueuedJob) -> RunStop {
    let lease = jobs.settings.lease;
    loop {
        tokio::time::sleep(lease / 3).await;
        let lease_until = jobs.now().plus(lease);
        match write_step(jobs, job, JobStep::Beat { lease_until }).await {
            Ok(()) => {}
            Err(RunStop::Fenced) => return RunStop::Fenced,
            Err(error) => tracing::warn!(job = %job.id.0, ?error, "a lease was not extended"),
        }
    }
}

fn count_end(job: &QueuedJob, outcome: &'static str) {
    metrics::counter!("jobs_ended_total", "kind" => job.kind.name(), "outcome" => outcome)
        .increment(1);
    metrics::histogram!("jobs_attempts", "kind" => job.kind.name()).record(f64::from(job.attempts));
}
