//! Builds the queue of music and videos from the configuration.

use std::path::Path;
use std::sync::Arc;

use api::engines::Engines;
use config::sections::media::Media;
use config::sections::queue::Queue;
use control::reply::JobProgress;
use control::secrets::{SecretName, secret};
use control::service::{ProgressOf, Service};
use jobs::{EngineOf, Jobs, LinkSecret, Parts, Settings};
use media_store::{MediaStore, S3Location};

use crate::failure::Failure;

pub(crate) async fn open(
    data_dir: &Path,
    service: &Service,
    engines: &Arc<Engines>,
    (queue, media): &(Queue, Media),
    is_alone: bool,
) -> Result<Arc<Jobs>, Failure> {
    let media = open_media(data_dir, media)?;
    let links = secret(service.store.as_ref(), service.entropy.as_ref(), SecretName::Links).await?;
    let engines = Arc::clone(engines);
    let engine_of: EngineOf = Arc::new(move |model| engines.media_engine(model));
    let parts = Parts {
        store: Arc::clone(&service.store),
        ledger: Arc::clone(&service.ledger),
        media,
        engine_of,
        clock: Arc::clone(&service.clock),
        entropy: Arc::clone(&service.entropy),
        links: LinkSecret(links),
    };
    let settings = Settings {
        workers: queue.workers,
        running_per_owner_max: queue.running_per_account,
        open_per_owner_max: queue.open_per_account,
        retention: queue.keep_media,
        music_time: queue.music_time,
        video_time: queue.video_time,
        ..Settings::default()
    };
    let jobs = Arc::new(Jobs::new(parts, settings));
    let working = Arc::clone(&jobs);
    let progress_of: ProgressOf = Arc::new(move |job| {
        let advance = working.advance_of(job)?;
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

pub(crate) fn open_media(data_dir: &Path, media: &Media) -> Result<MediaStore, Failure> {
    let opened = match media {
        Media::Directory(directory) => MediaStore::directory(&data_dir.join(directory)),
        Media::S3 { bucket, prefix, endpoint, region } => MediaStore::s3(&S3Location {
            bucket: bucket.clone(),
            prefix: prefix.clone(),
            endpoint: endpoint.clone(),
            region: region.clone(),
            credentials: None,
        }),
    };
    opened.map_err(|error| Failure::Failed(format!("[media]: {error}")))
}
