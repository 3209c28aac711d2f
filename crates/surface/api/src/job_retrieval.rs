//! Queued jobs for their owners: find, retrieve, complete.

use std::sync::Arc;

use access::CredentialHolder;
use axum::http::HeaderMap;
use domain::catalogue::{ModelType, ResolvedModel};
use http_frame::app::{AppState, SharedApp};
use http_frame::model_headers;
use http_frame::refusal::Refusal;
use http_frame::refusal::content::{AudioRefusal, VideoRefusal};
use http_frame::reply::WithHeaders;
use http_frame::reply::media::{FileReply, OnFileSent, ProgressOrFile, RetrievedJob};
use jobs::JobFailure;
use moment::Timestamp;
use store::job::{JobId, JobKind, JobState, QueuedJob};
use uuid::Uuid;
use wire::audio::{Completed, InProgress, ProgressStatus};

/// The reason why a job's result was not retrieved.
pub(crate) enum JobRetrievalError {
    Failed(JobFailure),
    Refused(Refusal),
}

impl From<Refusal> for JobRetrievalError {
    fn from(refusal: Refusal) -> JobRetrievalError {
        JobRetrievalError::Refused(refusal)
    }
}

impl From<JobRetrievalError> for VideoRefusal {
    fn from(refused: JobRetrievalError) -> VideoRefusal {
        match refused {
            JobRetrievalError::Refused(refusal) => refusal.into(),
            JobRetrievalError::Failed(failure) if failure.is_policy() => VideoRefusal::Policy {
                message: policy_message(failure.message),
                credits_refunded: true,
                recommended_model: failure.recommended_model,
            },
            JobRetrievalError::Failed(failure) => {
                Refusal::generation_failed(failure.message).into()
            }
        }
    }
}

impl From<JobRetrievalError> for AudioRefusal {
    fn from(refused: JobRetrievalError) -> AudioRefusal {
        match refused {
            JobRetrievalError::Refused(refusal) => refusal.into(),
            JobRetrievalError::Failed(failure) if failure.is_policy() => AudioRefusal::Rejected {
                message: policy_message(failure.message),
                suggested_prompt: failure.suggested_prompt,
            },
            JobRetrievalError::Failed(failure) => {
                Refusal::generation_failed(failure.message).into()
            }
        }
    }
}

fn policy_message(message: String) -> String {
    if message.is_empty() {
        return "The prompt violates the content policy of the model's provider.".to_owned();
    }
    message
}

/// The fields of a request that identify a job.
pub(crate) struct JobReference<'a> {
    pub(crate) kind: JobKind,
    pub(crate) model: &'a str,
    pub(crate) queue_id: &'a str,
}

/// The caller's own job. Other owners' jobs are reported as unknown.
pub(crate) async fn find_job(
    app: &AppState,
    holder: &CredentialHolder,
    named: JobReference<'_>,
    now: Timestamp,
) -> Result<QueuedJob, Refusal> {
    let invalid = || Refusal::bad_request("Request ID is invalid", "Request ID is invalid.");
    let id = Uuid::try_parse(named.queue_id).map_err(|_| invalid())?;
    let job = app.jobs.find(JobId(id)).await.map_err(Refusal::unavailable)?;
    let is_own = |job: &QueuedJob| job.owner == holder.owner.id && job.kind == named.kind;
    let job = job.filter(is_own).ok_or_else(invalid)?;
    if job.model == named.model || is_alias_of(app, &named, &job, now) {
        return Ok(job);
    }
    Err(invalid())
}

/// True if the name is a trait or an alias of the job's model.
fn is_alias_of(app: &AppState, named: &JobReference<'_>, job: &QueuedJob, now: Timestamp) -> bool {
    let kind = match named.kind {
        JobKind::Music => ModelType::Music,
        JobKind::Video => ModelType::Video,
    };
    let catalogue = app.catalogue.get();
    let resolved = catalogue.resolve_model(named.model, kind, now);
    resolved.is_ok_and(|resolved| resolved.model.id == job.model)
}

/// The result, the progress, or the failure of a job. Repeatable.
pub(crate) async fn retrieve_job(
    app: &SharedApp,
    job: QueuedJob,
    deletes: bool,
) -> Result<RetrievedJob, JobRetrievalError> {
    let model_headers = model_headers(app, &job);
    let retrieved = retrieve_outcome(app, job, deletes).await?;
    Ok(RetrievedJob { retrieved, model_headers })
}

/// Headers of the job's model; empty if it was removed from the catalogue.
fn model_headers(app: &AppState, job: &QueuedJob) -> HeaderMap {
    let catalogue = app.catalogue.get();
    let resolved = catalogue.find_model(&job.model, app.clock.now());
    let headers = |resolved: ResolvedModel<'_>| model_headers::build_model_headers(&resolved);
    resolved.map(headers).unwrap_or_default()
}

async fn retrieve_outcome(
    app: &SharedApp,
    job: QueuedJob,
    deletes: bool,
) -> Result<ProgressOrFile, JobRetrievalError> {
    match job.state {
        JobState::Queued | JobState::Running | JobState::Unknown => {
            let answer = report_progress(app, &job, ProgressStatus::Processing).await?;
            Ok(ProgressOrFile::InProgress(answer))
        }
        JobState::Failed | JobState::Rejected => Err(JobRetrievalError::Failed(JobFailure::read(
            job.failure.as_deref().unwrap_or_default(),
        ))),
        JobState::Completed => {
            let media = app.jobs.find_media(&job).await.map_err(Refusal::unavailable)?;
            let Some(media) = media else {
                let message = "The media of this request was deleted.";
                return Err(Refusal::not_found("Media not found", message).into());
            };
            if job.has_link {
                let answer = report_progress(app, &job, ProgressStatus::Completed).await?;
                return Ok(ProgressOrFile::InProgress(answer));
            }
            let all = 0..media.bytes;
            let opened = app.jobs.open(media, all).map_err(Refusal::unavailable)?;
            let name = job.id.0.to_string();
            let afterwards = deletes.then(|| build_deletion(app, job));
            Ok(ProgressOrFile::File(Box::new(FileReply {
                opened,
                name,
                is_part: false,
                afterwards,
            })))
        }
    }
}

/// Deletes the file of a job. The sweeper retries if this fails.
fn build_deletion(app: &SharedApp, job: QueuedJob) -> OnFileSent {
    let app = Arc::clone(app);
    Box::new(move || {
        // At shutdown there may be no runtime; then the sweeper deletes the file.
        if tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        let for_task = Arc::clone(&app);
        app.tasks.spawn(async move {
            if let Err(error) = for_task.jobs.delete_media(&job).await {
                tracing::warn!(job = %job.id.0, %error, "media was not deleted: {error}");
            }
        });
    })
}

async fn report_progress(
    app: &AppState,
    job: &QueuedJob,
    status: ProgressStatus,
) -> Result<WithHeaders<InProgress>, Refusal> {
    let usual = app.jobs.expected_time(job).await.map_err(Refusal::unavailable)?;
    let so_far = app.jobs.elapsed_time(job);
    let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let average_execution_time = ms(usual);
    let execution_duration = ms(so_far);
    Ok(WithHeaders::new(InProgress { status, average_execution_time, execution_duration }))
}

/// Deletes the file of a job. `success` is false if the job is open or the file remains.
pub(crate) async fn complete_job(
    app: &AppState,
    job: &QueuedJob,
) -> Result<WithHeaders<Completed>, Refusal> {
    if job.state.is_open() {
        return Ok(WithHeaders::new(Completed { success: false }));
    }
    let success = app.jobs.delete_media(job).await.map_err(Refusal::unavailable)?;
    Ok(WithHeaders::new(Completed { success }))
}
