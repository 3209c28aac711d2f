//! Operations on queued jobs: list, show and cancel.

use moment::Timestamp;
use store::job::{JOBS_MAX, JobFilter, JobId, JobWrite, QueuedJob};
use store::owner::OwnerKind;
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

use crate::operation::OperationError;
use crate::reply::JobLine;
use crate::service::ControlService;

impl ControlService {
    pub(crate) async fn list_jobs(
        &self,
        account: Option<&str>,
        open_only: bool,
    ) -> Result<Vec<JobLine>, OperationError> {
        let owner = match account {
            None => None,
            Some(name) => {
                let found = self.store.find_owner(OwnerKind::Account, name).await?;
                let unknown = || OperationError::Refused(format!("there is no account {name:?}"));
                Some(found.ok_or_else(unknown)?.id)
            }
        };
        let filter = JobFilter { owner, open_only, before: None, limit: JOBS_MAX };
        let mut lines = Vec::new();
        for job in self.store.list_jobs(filter).await? {
            lines.push(self.job_line(job).await?);
        }
        Ok(lines)
    }

    pub(crate) async fn show_job(&self, id: Uuid) -> Result<JobLine, OperationError> {
        let job = self.store.job(JobId(id)).await?;
        let unknown = || OperationError::Refused(format!("there is no job {id}"));
        self.job_line(job.ok_or_else(unknown)?).await
    }

    /// Requests cancellation. The worker that has the job sees the request; a job without a worker
    /// ends when a worker claims it.
    pub(crate) async fn cancel_job(&self, id: Uuid) -> Result<JobLine, OperationError> {
        let line = self.show_job(id).await?;
        if line.done_at.is_some() {
            let message = format!("the job {id} has ended: it is {}", line.state);
            return Err(OperationError::Refused(message));
        }
        let write = StoreWrite::Job(Box::new(JobWrite::WantCancel(JobId(id))));
        self.store.commit(WriteGroup::from_write(write)).await?;
        self.show_job(id).await
    }

    async fn job_line(&self, job: QueuedJob) -> Result<JobLine, OperationError> {
        let owner = self.store.owner(job.owner).await?;
        let told = |at: Option<Timestamp>| at.map(|at| at.to_string());
        Ok(JobLine {
            id: job.id.0,
            account: owner.map_or_else(|| job.owner.0.to_string(), |owner| owner.name),
            kind: job.kind.name().to_owned(),
            model: job.model,
            state: job.state.name().to_owned(),
            attempts: job.attempts,
            queued_at: job.queued.to_string(),
            started_at: told(job.started),
            submitted_at: told(job.submitted),
            done_at: told(job.done),
            ticket: job.ticket,
            failure: job.failure,
            wants_cancel: job.wants_cancel,
            progress: self.progress_of.get().and_then(|progress_of| progress_of(job.id)),
        })
    }
}
