//! Builds the queue of music and videos from the configuration.

use std::path::Path;
use std::sync::Arc;

use config::read::ServiceConfig;
use config::sections::media::MediaConfig;
use control::reply::JobProgress;
use control::secrets::{SecretName, read_or_create_secret};
use control::service::{ControlService, ProgressOf};
use http_frame::engines::CurrentEngines;
use jobs::{EngineLookup, JobQueue, LinkSecret, QueueDependencies, QueueSettings};
use media_store::{MediaStore, S3Location};

use crate::failure::CommandError;

pub(crate) async fn open_job_queue(
    data_dir: &Path,
    service: &ControlService,
    engines: &Arc<CurrentEngines>,
    config: &ServiceConfig,
    is_alone: bool,
) -> Result<Arc<JobQueue>, CommandError> {
    let media = open_media(data_dir, &config.media)?;
    let links =
        read_or_create_secret(service.store.as_ref(), service.entropy.as_ref(), SecretName::Links)
            .await?;
    let engines = Arc::clone(engines);
    let engine_of: EngineLookup = Arc::new(move |model| engines.media_engine(model));
    let parts = QueueDependencies {
        store: Arc::clone(&service.store),
        ledger: Arc::clone(&service.ledger),
        media,
        engine_of,
        clock: Arc::clone(&service.clock),
        entropy: Arc::clone(&service.entropy),
        links: LinkSecret(links),
    };
    let queue = &config.queue;
    let settings = QueueSettings {
        workers: queue.workers,
        running_per_owner_max: queue.running_per_account,
        open_per_owner_max: queue.open_per_account,
        retention: queue.keep_media,
        music_time: queue.music_time,
        video_time: queue.video_time,
        ..QueueSettings::default()
    };
    let jobs = Arc::new(JobQueue::new(parts, settings));
    let working = Arc::clone(&jobs);
    let progress_of: ProgressOf = Arc::new(move |job| {
        let advance = working.reported_progress(job)?;
        let (percent, ahead) = (advance.percent, advance.ahead);
        (percent.is_some() || ahead.is_some()).then_some(JobProgress { percent, ahead })
    });
    // Set once, because a service has one queue.
    let _ = service.progress_of.set(progress_of);
    // No other process uses this database, so all interrupted jobs can be resumed.
    if is_alone {
        jobs.break_leases().await?;
    }
    Ok(jobs)
}

pub(crate) fn open_media(data_dir: &Path, media: &MediaConfig) -> Result<MediaStore, CommandError> {
    let opened = match media {
        MediaConfig::Directory(directory) => MediaStore::open_directory(&data_dir.join(directory)),
        MediaConfig::S3 { bucket, prefix, endpoint, region } => {
            MediaStore::open_bucket(&S3Location {
                bucket: bucket.clone(),
                prefix: prefix.clone(),
                endpoint: endpoint.clone(),
                region: region.clone(),
                credentials: None,
            })
        }
    };
    opened.map_err(|error| CommandError::Failed(format!("[media]: {error}")))
}
