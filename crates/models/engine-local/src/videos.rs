//! Queued, running and finished videos.
//!
//! A video takes a minute or more, so callers poll for it. The table is in memory only: the gateway
//! stores the requests and submits them again after a restart of the engine.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::refusal::EngineRefusal;
use crate::registry::{ModelKind, ModelRegistry, ModelRuntime};
use crate::video_render::{self, RenderObserver, VideoRenderRequest};

/// Queued and running videos. A request takes some kilobytes.
const OPEN_MAX: usize = 32;
/// Finished and failed videos. A video takes a few megabytes.
const ENDED_MAX: usize = 8;
/// Each video uses all cores.
const AT_ONCE: usize = 1;
const LOG_EVERY_PERCENT: u8 = 25;

pub(crate) struct VideoJobs {
    registry: Arc<ModelRegistry>,
    turn: Semaphore,
    tasks: TaskTracker,
    jobs: Mutex<HashMap<String, VideoJob>>,
}

/// A submitted video, kept until its result is evicted.
struct VideoJob {
    progress: Arc<VideoProgress>,
    end: Option<VideoOutcome>,
}

struct VideoOutcome {
    outcome: Result<Bytes, String>,
    at: Instant,
}

/// Shared with the rendering thread.
#[derive(Debug)]
struct VideoProgress {
    name: String,
    is_wanted: AtomicBool,
    has_begun: AtomicBool,
    percent: AtomicU8,
}

/// The state of a video.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VideoStatus {
    Queued,
    InProgress { percent: u8 },
    Completed,
    Failed { message: String },
    Cancelled,
}

impl RenderObserver for VideoProgress {
    fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Acquire)
    }

    fn report_progress(&self, percent: u8) {
        let before = self.percent.swap(percent, Ordering::AcqRel);
        if before / LOG_EVERY_PERCENT != percent / LOG_EVERY_PERCENT {
            tracing::info!("video {}: {percent} %", self.name);
        }
    }
}

impl VideoJobs {
    pub(crate) fn new(registry: Arc<ModelRegistry>) -> VideoJobs {
        VideoJobs {
            registry,
            turn: Semaphore::new(AT_ONCE),
            tasks: TaskTracker::new(),
            jobs: Mutex::default(),
        }
    }

    pub(crate) fn registry(&self) -> &ModelRegistry {
        &self.registry
    }

    /// Queues a video, once per name.
    pub(crate) fn queue_video(
        self: &Arc<Self>,
        name: &str,
        model: &str,
        order: VideoRenderRequest,
    ) -> Result<VideoStatus, EngineRefusal> {
        let mut jobs = self.lock();
        if let Some(job) = jobs.get(name) {
            return Ok(job.status());
        }
        let open = jobs.values().filter(|job| job.end.is_none()).count();
        if OPEN_MAX <= open {
            let message = format!("The queue already has {open} videos. Try again later.");
            return Err(EngineRefusal::unavailable("overloaded", message));
        }
        let progress = Arc::new(VideoProgress {
            name: name.to_owned(),
            is_wanted: AtomicBool::new(true),
            has_begun: AtomicBool::new(false),
            percent: AtomicU8::new(0),
        });
        jobs.insert(name.to_owned(), VideoJob { progress: Arc::clone(&progress), end: None });
        drop(jobs);
        let (videos, name, model) = (Arc::clone(self), name.to_owned(), model.to_owned());
        self.tasks.spawn(async move {
            let outcome = videos.run_job(&model, order, progress).await;
            videos.finish_job(&name, outcome);
        });
        Ok(VideoStatus::Queued)
    }

    pub(crate) fn status(&self, name: &str) -> Option<VideoStatus> {
        self.lock().get(name).map(VideoJob::status)
    }

    /// The finished file; `None` if it failed or is not finished.
    pub(crate) fn file(&self, name: &str) -> Option<Bytes> {
        self.lock().get(name)?.end.as_ref()?.outcome.clone().ok()
    }

    /// Cancels the work at its next step.
    pub(crate) fn cancel(&self, name: &str) -> Option<VideoStatus> {
        let jobs = self.lock();
        let job = jobs.get(name)?;
        job.progress.is_wanted.store(false, Ordering::Release);
        Some(job.status())
    }

    async fn run_job(
        &self,
        model: &str,
        order: VideoRenderRequest,
        progress: Arc<VideoProgress>,
    ) -> Result<Bytes, String> {
        let _turn = self.turn.acquire().await.map_err(|error| error.to_string())?;
        if !progress.is_wanted() {
            return Err("the request for the video was dropped".to_owned());
        }
        progress.has_begun.store(true, Ordering::Release);
        let loaded = self.registry.get(model, ModelKind::Video).await;
        let loaded = loaded.map_err(|refusal| refusal.message().to_owned())?;
        let ModelRuntime::Image(painter) = loaded.model else {
            return Err("The model has another type.".to_owned());
        };
        let work = move || video_render::render_video(&painter, &order, progress.as_ref());
        let made = tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?;
        made.map(Bytes::from).map_err(|error| error.to_string())
    }

    fn finish_job(&self, name: &str, outcome: Result<Bytes, String>) {
        let mut jobs = self.lock();
        if let Some(job) = jobs.get_mut(name) {
            job.end = Some(VideoOutcome { outcome, at: Instant::now() });
        }
        let mut ended: Vec<(Instant, String)> = jobs
            .iter()
            .filter_map(|(name, job)| Some((job.end.as_ref()?.at, name.clone())))
            .collect();
        ended.sort_unstable();
        for (_, oldest) in ended.iter().rev().skip(ENDED_MAX) {
            jobs.remove(oldest);
        }
    }

    /// Ignores poisoning: the table is consistent after every change.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, VideoJob>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VideoJob {
    fn status(&self) -> VideoStatus {
        let progress = &self.progress;
        match self.end.as_ref().map(|end| &end.outcome) {
            Some(Ok(_)) => VideoStatus::Completed,
            Some(Err(message)) if progress.is_wanted() => {
                VideoStatus::Failed { message: message.clone() }
            }
            Some(Err(_)) => VideoStatus::Cancelled,
            None if !progress.is_wanted() => VideoStatus::Cancelled,
            None if progress.has_begun.load(Ordering::Acquire) => {
                VideoStatus::InProgress { percent: progress.percent.load(Ordering::Acquire) }
            }
            None => VideoStatus::Queued,
        }
    }
}

#[cfg(test)]
mod tests;
